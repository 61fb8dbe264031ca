"""Floor 9: reads LoCoMo: a JSON list of conversations between two people, in dated sessions, with questions.

`qa[].evidence` holds `dia_id`s, some of them several in one text. Questions of category 5 are adversarial: what they
ask for was never said; they count as questions without evidence.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from aforesaid.cli.eval.questions import Conversation, EvalSet, Question, Turn
from aforesaid.cli.eval.sources import parse_moment, read_json
from aforesaid.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Iterator

ADVERSARIAL = 5


def read(file: str) -> EvalSet:
    """The set in a file.

    Raises:
        BadArgument: the file is not of this form.
    """
    document = read_json(file)
    conversations: list[Conversation] = []
    questions: list[Question] = []
    try:
        for sample in document:
            name = str(sample["sample_id"])
            conversations.append(Conversation(name=name, turns=tuple(_turns(sample["conversation"]))))
            questions += (_question(name, asked) for asked in sample["qa"])
    except (TypeError, KeyError) as error:
        raise BadArgument(f"{file} is no set of LoCoMo", "name its JSON file with --data") from error
    return EvalSet(name="locomo", data=file, conversations=tuple(conversations), questions=tuple(questions))


def _turns(conversation: dict[str, Any]) -> Iterator[Turn]:
    number = 1
    while f"session_{number}" in conversation:
        session = f"session_{number}"
        moment = parse_moment(str(conversation.get(f"{session}_date_time", "")))
        for said in conversation[session]:
            caption = f" [{said['blip_caption']}]" if said.get("blip_caption") else ""
            yield Turn(
                id=str(said["dia_id"]),
                role="user" if said["speaker"] == conversation["speaker_a"] else "assistant",
                text=f"{said['speaker']}: {said['text']}{caption}",
                timestamp=moment,
                session=session,
            )
        number += 1


def _question(name: str, asked: dict[str, Any]) -> Question:
    category = int(asked["category"])
    ids = [id_ for text in asked.get("evidence", ()) for id_ in re.split(r"[;,\s]+", str(text)) if id_]
    return Question(
        conversation=name,
        text=str(asked["question"]),
        kind=f"category-{category}",
        evidence=() if category == ADVERSARIAL else tuple(dict.fromkeys(ids)),
    )
