"""Floor 9: the questions of an evaluation of views: at which moment, and what of the lost part is needed.

Of BEAM the needed turns are labelled. Of the rediscovery set those needs count that stand in lost words of the user or
the assistant; views quote nothing else.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from aforesaid.branches import find_branch
from aforesaid.cli.eval import arms, beam
from aforesaid.cli.eval.rediscovery import labels, replay
from aforesaid.engine import Engine
from aforesaid.errors import OperationError
from aforesaid.extractive.shelf import Shelf
from aforesaid.extractive.sources import said_parts
from aforesaid.storage.sqlite import open_store

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aforesaid.ports import StorePort


class Goal(Struct, frozen=True, kw_only=True):
    """One thing that is needed: any of these rows holds it."""

    rows: frozenset[int]


class Moment(Struct, frozen=True, kw_only=True):
    """A question at a moment of a session.

    Attributes:
        file: the transcript.
        key: the store's name of the session.
        leaf: id of the entry that the question follows; None for the session's last one.
        context: ids of the entries that the model sees.
        query: the question.
        goals: what is needed, each with the rows that hold it.
    """

    file: str
    key: str
    leaf: str | None
    context: tuple[str, ...]
    query: str
    goals: tuple[Goal, ...]


def read(data: str, folder: str, limit: int | None = None) -> dict[str, tuple[Moment, ...]]:
    """The moments of the sets in a folder by the sets' names, indexed into `store` within a working folder.

    Args:
        data: a folder of BEAM, of the rediscovery set, or one that holds both (`memory/beam` and `rediscovery`).
        folder: existing, empty working folder.
        limit: only the first so many of each set.

    Raises:
        BadArgument: it holds none of the sets.
        OperationError: a transcript could not be indexed.
    """
    both = (os.path.join(data, "memory", "beam"), os.path.join(data, "rediscovery"))
    if all(map(os.path.isdir, both)):
        return {**read(both[0], folder, limit), **read(both[1], folder, limit)}
    store = os.path.join(folder, "store")
    if os.path.isfile(os.path.join(data, "dev.json")):
        return {"rediscovery": _of_prompts(labels.read(data).prompts, store)[:limit]}
    questions = beam.read(data)
    files = arms._index(questions, folder)
    opened = open_store(store)
    try:
        rows = {name: _rows(opened, file) for name, file in files.items()}
    finally:
        opened.close()
    moments = [
        Moment(
            file=files[one.conversation],
            key=rows[one.conversation][0],
            leaf=None,
            context=(),
            query=one.text,
            goals=_goals({rows[one.conversation][1][id_]} for id_ in one.evidence if id_ in rows[one.conversation][1]),
        )
        for one in questions.questions
        if one.evidence
    ]
    return {"beam": tuple(moment for moment in moments if moment.goals)[:limit]}


def _of_prompts(prompts: Sequence[labels.Prompt], store: str) -> tuple[Moment, ...]:
    """Those prompts of the rediscovery set that need what somebody said."""
    with Engine.open(store, arms.defaults({})) as engine:
        for report in engine.index(*sorted({prompt.file for prompt in prompts})).sessions:
            if report.error is not None:
                raise OperationError(report.error, "report this as a fault of aforesaid")
    opened = open_store(store)
    try:
        return tuple(moment for prompt in prompts if (moment := _of_prompt(opened, prompt)) is not None)
    finally:
        opened.close()


def _of_prompt(store: StorePort, prompt: labels.Prompt) -> Moment | None:
    """A prompt of the rediscovery set, if something that it needs was said by somebody."""
    moment = replay.make_moment(store, prompt)
    session = store.by_file(os.path.abspath(prompt.file))
    if session is None or not prompt.query:
        return None
    with store.read(session.key) as snapshot:
        shelf = Shelf()
        shelf.refresh(snapshot)
        shelf.exchanges(find_branch(snapshot, prompt.leaf, moment.context))
        said = {entry.row: "\n".join(said_parts(entry)) for entry in moment.eligible if shelf.places[entry.row] >= 0}
    goals = _goals({row for row, text in said.items() if need.item in text} for need in prompt.needs)
    if not goals:
        return None
    return Moment(
        file=prompt.file, key=session.key, leaf=prompt.leaf, context=moment.context, query=prompt.query, goals=goals
    )


def _rows(store: StorePort, file: str) -> tuple[str, dict[str, int]]:
    """The key of a session, and the rows of its entries by their ids."""
    session = store.by_file(os.path.abspath(file))
    if session is None:
        raise OperationError(f"{file} is not in the store", "report this as a fault of aforesaid")
    with store.read(session.key) as snapshot:
        return session.key, {entry.id: entry.row for entry in snapshot.entries(range(1, session.entries + 1))}


def _goals(holders: Iterable[set[int]]) -> tuple[Goal, ...]:
    return tuple(Goal(rows=frozenset(rows)) for rows in holders if rows)
