"""Real sessions and the ones that the real Pi made: what compaction removed comes back, what is visible does not."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests import pi
from tests.conftest import DATA, ROOT

from aforesaid import Engine
from aforesaid.branches import find_branch
from aforesaid.matching import Literal
from aforesaid.query import read_query

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aforesaid.model import Branch, StoredEntry

SAMPLES = sorted((DATA / "transcripts" / "pi").glob("*.jsonl"))
EXAMPLES = sorted((ROOT / "examples" / "pi").glob("*.jsonl"))
NAME = re.compile(r"(?<![\w`])[A-Za-z][a-z0-9]*(?:[_/.-][A-Za-z0-9]+)+(?![\w`])|(?<![\w`])[A-Z]{5,}(?![\w`])")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine.open(tmp_path_factory.mktemp("store")) as opened:
        yield opened


def content(engine: Engine, file: Path) -> tuple[Branch, tuple[StoredEntry, ...]]:
    engine.index(file)
    with engine._store.read(engine._find(str(file)).key) as snapshot:
        branch = find_branch(snapshot, None, None)
        rows = [row for first, last in branch.spans for row in range(first, last + 1)]
        return branch, snapshot.entries(rows)


def inside(row: int, spans: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= row <= last for first, last in spans)


def rare_names(entries: tuple[StoredEntry, ...], branch: Branch) -> dict[str, set[str]]:
    """Names that stand in one or two entries, none of them visible, with the ids of those entries."""
    names = Counter(name for entry in entries for name in set(NAME.findall(entry.text)))
    found: dict[str, set[str]] = {}
    rare = sorted(name for name, count in names.items() if count <= 2 and 5 <= len(name) <= 60)
    for name in rare[:: max(1, len(rare) // 400)]:
        holders = [entry for entry in entries if Literal(name).found_in(entry.text)]
        if len(holders) <= 2 and all(entry.automatic and inside(entry.row, branch.eligible) for entry in holders):
            found[name] = {entry.id for entry in holders}
    return found


@pytest.mark.data
@pytest.mark.parametrize("file", SAMPLES, ids=lambda path: path.stem)
def test_samples_are_indexed_without_a_flaw(engine: Engine, file: Path) -> None:
    (report,) = engine.index(file, rebuild=True).sessions
    assert report.status in {"added", "rebuilt"}
    assert report.flaws == ()
    assert report.session is not None
    lines = [line for line in file.read_bytes().split(b"\n") if line.strip()]
    assert report.session.entries == len(lines) - 1
    assert engine.index(file).sessions[0].status == "unchanged"


COMPACTED = [
    path for path in (*SAMPLES, *EXAMPLES) if b'"type":"compaction"' in path.read_bytes().replace(b'": "', b'":"')
]


@pytest.mark.data
@pytest.mark.parametrize("file", COMPACTED, ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def test_a_rare_name_from_before_the_compaction_brings_its_entry_back_first(engine: Engine, file: Path) -> None:
    branch, entries = content(engine, file)
    names = rare_names(entries, branch)
    assert names
    for name, holders in list(names.items())[:: max(1, len(names) // 60)]:
        found = engine.retrieve(session=file, query=f"what did we say about `{name}`?")
        assert found.hits, name
        best = found.hits[0]
        assert best.ranked.candidate.entry.id in holders, name
        assert Literal(name).found_in(best.ranked.candidate.entry.text)
        assert name in best.excerpt


@pytest.mark.data
@pytest.mark.parametrize("file", COMPACTED, ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def test_a_request_about_the_kept_tail_brings_back_nothing_that_is_still_in_context(engine: Engine, file: Path) -> None:
    branch, entries = content(engine, file)
    visible = [entry for entry in entries if inside(entry.row, branch.context) and entry.text]
    texts = {" ".join(entry.text.casefold().split()) for entry in visible}
    for entry in visible[-25:]:
        request = entry.text[:400]
        if read_query(request).empty:
            continue
        for hit in engine.retrieve(session=file, query=request).hits:
            stored = hit.ranked.candidate.entry
            assert inside(stored.row, branch.eligible)
            assert " ".join(stored.text.casefold().split()) not in texts


def test_requests_without_a_topic_inject_nothing_on_a_session_of_5000_entries(engine: Engine, tmp_path: Path) -> None:
    words = (
        "ok",
        "approved",
        "fix",
        "problem",
        "continue",
        "procedi",
        "grazie",
        "seconda",
        "opzione",
        "tests",
        "gateway",
        "porta",
        "schermate",
    )
    texts = [f"{words[n % 13]} {words[n * 7 % 13]} {words[n * 5 % 11]} entry {n}" for n in range(5000)]
    rows = pi.conversation(texts)
    rows.append(pi.compaction("cccccccc", rows[-1]["id"], "cccccccc"))
    file = pi.write(tmp_path / "long.jsonl", [pi.header(), *rows])
    folder = Path(__file__).parent.parent / "fixtures" / "requests"
    requests = [
        line for name in ("no-topic.txt", "no-noun.txt") for line in (folder / name).read_text("utf-8").splitlines()
    ]
    assert len(requests) >= 1000
    for request in requests:
        found = engine.retrieve(session=file, query=request)
        assert (found.status, found.hits) == ("no-query", ()), request
    for request in ("which gateway?", "su quale porta ascolta?"):
        assert engine.retrieve(session=file, query=request).hits, request
