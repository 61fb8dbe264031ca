"""Floor 9: reads the rediscovery set: prompts in real sessions, and the items that were needed again after them.

`dev.json` holds prompts with needs, `silence.json` (which may be missing) prompts whose later work needed nothing that
was lost. The transcripts that they name stand in a folder `transcripts` in or beside the set's.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from aforesaid.cli.eval.sources import read_json
from aforesaid.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

EARLY = 10
"""Steps after the prompt within which a need is an early one."""


class Need(Struct, frozen=True, kw_only=True):
    """An item that was needed again, as it was written, and whether it was needed early."""

    item: str
    early: bool


class Prompt(Struct, frozen=True, kw_only=True):
    """A moment in a session.

    Attributes:
        name: unique in the set.
        file: path of the transcript.
        leaf: id of the entry that the model's call followed.
        query: the latest request.
        ids: entries that were visible, besides
        lines: those of these lines, first and last, 1-based.
        needs: what was needed again; empty where nothing was.
        gold: names of lost entries that hold a need: their ids, and `L` with the number of their line.
        simulated: whether the view was cut by rule (else a real compaction did it).
        automatic: whether the agent went on by itself after the compaction.
    """

    name: str
    file: str
    leaf: str
    query: str
    ids: tuple[str, ...]
    lines: tuple[int, int]
    needs: tuple[Need, ...] = ()
    gold: frozenset[str] = frozenset()
    simulated: bool = False
    automatic: bool = False


class Labels(Struct, frozen=True, kw_only=True):
    """The set: prompts with needs, and prompts without any; `data` is where it was read from, as given."""

    data: str
    prompts: tuple[Prompt, ...]
    silent: tuple[Prompt, ...]


def read(folder: str, limit: int | None = None) -> Labels:
    """The set in a folder.

    Args:
        folder: holds `dev.json`, and maybe `silence.json`.
        limit: only the first so many prompts of each file.

    Raises:
        BadArgument: it holds no such set, or a transcript is missing.
    """
    transcripts = _transcripts(folder)
    labelled = _read(os.path.join(folder, "dev.json"), "questions", transcripts)
    silence = os.path.join(folder, "silence.json")
    silent = _read(silence, "prompts", transcripts) if os.path.exists(silence) else ()
    return Labels(data=folder, prompts=labelled[:limit], silent=silent[:limit])


def _transcripts(folder: str) -> dict[str, str]:
    """The transcripts that may be named, by their names."""
    found: dict[str, str] = {}
    for root in (os.path.join(folder, os.pardir, "transcripts"), os.path.join(folder, "transcripts")):
        for parent, _, names in os.walk(os.path.normpath(root)):
            found.update((name, os.path.join(parent, name)) for name in names if name.endswith(".jsonl"))
    return found


def _read(file: str, key: str, transcripts: dict[str, str]) -> tuple[Prompt, ...]:
    document = read_json(file)
    try:
        prompts = tuple(_prompt(one, transcripts) for one in document[key])
    except (KeyError, TypeError, ValueError) as error:
        raise BadArgument(f"{file} is no rediscovery set", "name its folder with --data") from error
    if not prompts:
        raise BadArgument(f"{file} holds no prompt", "name the folder of a rediscovery set with --data")
    return prompts


def _prompt(label: dict[str, Any], transcripts: dict[str, str]) -> Prompt:
    name = label["file"]
    if name not in transcripts:
        raise BadArgument(f"the transcript {name} is missing", "put it into a folder `transcripts` beside the set")
    first, last = label["visible"]["lines"]
    gold = label.get("gold", {})
    return Prompt(
        name=label["qid"],
        file=transcripts[name],
        leaf=label["prompt"]["id"],
        query=label["query"] or "",
        ids=tuple(label["visible"]["ids"]),
        lines=(int(first), int(last)),
        needs=_needs(label.get("needed", ())),
        gold=frozenset((*gold, *(f"L{line}" for line in label.get("gold_lines", {}).values()))),
        simulated=bool(label["simulated"]),
        automatic=bool(label["automatic"]),
    )


def _needs(needed: Sequence[dict[str, Any]]) -> tuple[Need, ...]:
    return tuple(Need(item=one["item"], early=one["step"] <= EARLY) for one in needed)
