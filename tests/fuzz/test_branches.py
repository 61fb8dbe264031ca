"""Sibling branches never appear: random trees against a brute-force oracle, through the whole product."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tests import pi

from aforesaid import Engine
from aforesaid.matching import Folded, Literal, Term

WORDS = ("proxy", "timeout", "latency", "gateway")
NAMES = ("parse_port", "ERR_4711", "loadConfig")


@st.composite
def sessions(draw: st.DrawFn) -> tuple[list[pi.Row], str]:
    """A Pi session with forks, several roots, compactions and edits, and one of its entries as the leaf."""
    rows: list[pi.Row] = []
    for number in range(draw(st.integers(1, 24))):
        id_ = f"{number:08x}"
        ids = [row["id"] for row in rows]
        parent = draw(st.one_of(st.just(ids[-1]), st.just(ids[-1]), st.sampled_from(ids), st.none())) if ids else None
        kind = draw(st.sampled_from(["message"] * 6 + ["compaction", "edit"])) if ids else "message"
        if kind == "compaction":
            rows.append(pi.compaction(id_, parent, draw(st.sampled_from([*ids, id_, "nowhere0"])), minute=number))
        elif kind == "edit":
            replacement = draw(st.none() | st.just("shortened"))
            rows.append(pi.context_edit(id_, parent, draw(st.sampled_from(ids)), replacement, minute=number))
        else:
            text = " ".join(draw(st.lists(st.sampled_from(WORDS + NAMES), min_size=1, max_size=3)))
            role = draw(st.sampled_from(["user", "assistant", "toolResult", "shell"]))
            # Some texts stand in several entries, most do not.
            unique = draw(st.booleans())
            text = f"{text} entry{number}" if unique else text
            if role == "shell":
                rows.append(pi.ran(id_, parent, text, number))
            else:
                rows.append(pi.message(id_, parent, text, role, number))
    return rows, draw(st.sampled_from(rows))["id"]


def expected(rows: list[pi.Row], leaf: str, items: tuple[str, ...], request: str) -> list[set[str]]:
    """Groups of ids of which one each must come back: equal texts, in no visible entry, holding an item."""
    gone = pi.gone_from_view(rows, leaf)
    gone_ids = {row["id"] for row in gone}
    visible = {pi.text_of(row) for row in pi.path_of(rows, leaf) if row["id"] not in gone_ids} | {request}
    groups: dict[str, set[str]] = {}
    for row in gone:
        text = pi.text_of(row)
        holds = any(Term(item).found_in(Folded(text)) or Literal(item).found_in(text) for item in items)
        if text not in visible and holds:
            groups.setdefault(text, set()).add(row["id"])
    return list(groups.values())


@settings(max_examples=150)
@given(
    sessions(),
    sessions(),
    st.lists(st.sampled_from(WORDS), max_size=2, unique=True),
    st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
)
def test_exactly_the_eligible_rows_of_the_branch_come_back(
    drawn: tuple[list[pi.Row], str], other: tuple[list[pi.Row], str], words: list[str], names: list[str]
) -> None:
    rows, leaf = drawn
    request = " ".join([*words, *(f"`{name}`" for name in names)])
    with tempfile.TemporaryDirectory() as folder, Engine.open(Path(folder) / "store", settings=SETTINGS) as engine:
        # The other session has the same entry ids.
        pi.write(Path(folder) / "other.jsonl", [pi.header("other"), *other[0]])
        file = pi.write(Path(folder) / "session.jsonl", [pi.header(), *rows])
        engine.index(folder)
        found = engine.retrieve(session=file, leaf=leaf, query=request)
        again = engine.retrieve(session=file, leaf=leaf, query=request)
    ids = [hit.ranked.candidate.entry.id for hit in found.hits]
    groups = expected(rows, leaf, (*words, *names), request) if words or names else []
    assert len(ids) == len(groups)
    assert all(len(group & set(ids)) == 1 for group in groups)
    assert found.diagnostics.alternate_branch_candidates == 0
    assert found.hits == again.hits


SETTINGS = {
    "retrieval.maxResults": 100,
    "context.maxRetrievedHistoryTokens": 200_000,
    # Contextual ranking keeps silent where a single word of many was found.
    "retrieval.ranking": "documented",
}
