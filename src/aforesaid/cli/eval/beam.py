"""Floor 9: reads BEAM (mohammadtavakoli78/BEAM): folders of long technical chats with probing questions.

Each folder holds `chat.json`, batches of turns whose messages carry an integer `id`, and `probing_questions.json`, by
category, whose `source_chat_ids` is an integer, a list, or a dict of lists. Abstention questions have none.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from aforesaid.cli.eval.questions import Conversation, EvalSet, Question, Turn
from aforesaid.cli.eval.sources import parse_day, read_json
from aforesaid.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Iterator


def read(folder: str) -> EvalSet:
    """The set in a folder of chat folders.

    Raises:
        BadArgument: it holds no chat, or one that is not of this form.
    """
    conversations: list[Conversation] = []
    questions: list[Question] = []
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        chat = os.path.join(folder, name, "chat.json")
        if not os.path.isfile(chat):
            continue
        turns = tuple(_turns(read_json(chat)))
        asked = read_json(os.path.join(folder, name, "probing_questions.json"))
        if not turns or not isinstance(asked, dict):
            raise BadArgument(f"{folder}: {name} is no chat of BEAM", "name a folder of chat folders with --data")
        conversations.append(Conversation(name=name, turns=turns))
        questions += (
            Question(conversation=name, text=str(one["question"]), kind=kind, evidence=_ids(one.get("source_chat_ids")))
            for kind, group in asked.items()
            for one in group
        )
    if not conversations:
        raise BadArgument(f"{folder} holds no chat of BEAM", "name a folder of chat folders with --data")
    return EvalSet(name="beam", data=folder, conversations=tuple(conversations), questions=tuple(questions))


def _turns(value: Any) -> Iterator[Turn]:
    """The messages in the order of the file; chats of different sizes nest them differently."""
    if isinstance(value, list):
        for item in value:
            yield from _turns(item)
    elif isinstance(value, dict):
        if "role" in value and "content" in value and "id" in value:
            yield Turn(
                id=str(value["id"]),
                role="user" if value["role"] == "user" else "assistant",
                text=str(value["content"]),
                timestamp=parse_day(str(value.get("time_anchor") or "")),
            )
        else:
            for item in value.values():
                yield from _turns(item)


def _ids(value: Any) -> tuple[str, ...]:
    """Message ids, each once, in order."""
    if value is None:
        return ()
    if isinstance(value, dict):
        value = [item for items in value.values() for item in _ids(items)]
    if not isinstance(value, list):
        return (str(value),)
    return tuple(dict.fromkeys(found for item in value for found in _ids(item)))
