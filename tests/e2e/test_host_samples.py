"""Real sessions of Claude Code and Codex, and made ones: all rows are there, lost words come back, visible ones do not.

The labels of the rediscovery set say, by other means, what the model saw at a prompt; context and lost part must agree.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import pytest
from tests.conftest import DATA, ROOT
from tests.e2e.test_samples import content, inside, rare_names

from aforesaid import Engine
from aforesaid.branches import find_branch
from aforesaid.matching import Literal
from aforesaid.query import read_query

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aforesaid.model import StoredEntry

HOSTS = ("claude-code",)
SAMPLES = [path for host in HOSTS for path in sorted((DATA / "transcripts" / host).glob("*.jsonl"))]
COMPACTED = [path for path in SAMPLES if b'"compact_boundary"' in path.read_bytes()]
every_sample = pytest.mark.parametrize("file", SAMPLES, ids=lambda path: f"{path.parent.name}-{path.stem[:12]}")
every_compacted = pytest.mark.parametrize("file", COMPACTED, ids=lambda path: f"{path.parent.name}-{path.stem[:12]}")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine.open(tmp_path_factory.mktemp("store")) as opened:
        yield opened


def rows_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_bytes().splitlines() if line.strip()]


def stored(engine: Engine, file: Path) -> tuple[StoredEntry, ...]:
    session = engine._find(str(file))
    with engine._store.read(session.key) as snapshot:
        return snapshot.entries(range(1, session.entries + 1))


@pytest.mark.data
@every_sample
def test_every_row_of_a_sample_is_an_entry_and_only_missing_parents_are_noted(engine: Engine, file: Path) -> None:
    (report,) = engine.index(file, rebuild=True).sessions
    assert report.session is not None
    rows = rows_of(file)
    ids = [row["uuid"] for row in rows if "uuid" in row]
    entries = stored(engine, file)
    assert [entry.id for entry in entries if entry.kind != "label"] == ids
    missing = {row["uuid"] for row in rows if "uuid" in row} & {
        row["uuid"]
        for row in rows
        if "uuid" in row and (parent := row["parentUuid"] or row.get("logicalParentUuid")) and parent not in set(ids)
    }
    assert {flaw.id for flaw in report.flaws} == missing
    assert {flaw.reason for flaw in report.flaws} <= {"unknown-parent"}
    assert engine.index(file).sessions[0].status == "unchanged"


@pytest.mark.data
@every_sample
def test_nothing_but_abandoned_rows_stands_beside_the_branch(engine: Engine, file: Path) -> None:
    branch, _ = content(engine, file)
    off = [entry for entry in stored(engine, file) if entry.text and not inside(entry.row, branch.spans)]
    expected = ["second prompt bananas", "FAKE REPLY 1 to: second prompt bananas"] if "branched" in file.name else []
    assert [entry.text for entry in off] == expected


@pytest.mark.data
@every_sample
def test_words_of_the_host_are_in_no_entry(engine: Engine, file: Path) -> None:
    engine.index(file)
    for entry in stored(engine, file):
        if entry.role in {"user", "custom", "shell"}:
            for tag in ("<command-name>", "<local-command-stdout>", "<task-notification>", "<bash-stdout>"):
                assert not entry.text.startswith(tag)
            assert "EVIDENCE-UserPromptSubmit" not in entry.text


@pytest.mark.data
@every_compacted
def test_a_rare_name_from_before_the_compaction_brings_its_entry_back_first(engine: Engine, file: Path) -> None:
    branch, entries = content(engine, file)
    names = rare_names(entries, branch)
    assert names
    for name, holders in list(names.items())[:: max(1, len(names) // 40)]:
        found = engine.retrieve(session=file, query=f"what did we say about `{name}`?")
        assert found.hits, name
        best = found.hits[0]
        assert best.ranked.candidate.entry.id in holders, name
        assert name in best.excerpt
        assert Literal(name).found_in(best.ranked.candidate.entry.text)


@pytest.mark.data
@every_compacted
def test_a_request_about_the_kept_tail_brings_back_nothing_that_is_still_in_context(engine: Engine, file: Path) -> None:
    branch, entries = content(engine, file)
    visible = [entry for entry in entries if inside(entry.row, branch.context) and entry.text]
    texts = {" ".join(entry.text.casefold().split()) for entry in visible}
    for entry in visible[-25:]:
        request = entry.text[:400]
        if read_query(request).empty:
            continue
        for hit in engine.retrieve(session=file, query=request).hits:
            found = hit.ranked.candidate.entry
            assert inside(found.row, branch.eligible)
            assert " ".join(found.text.casefold().split()) not in texts


def labels(host: str) -> dict[str, list[dict[str, Any]]]:
    """The labelled prompts after real compactions, by file."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for name, key in (("dev.json", "questions"), ("silence.json", "prompts")):
        for label in json.loads((DATA / "rediscovery" / name).read_bytes())[key]:
            if label["host"] == host and not label.get("simulated"):
                found[label["file"]].append(label)
    return found


@pytest.mark.data
@pytest.mark.parametrize("host", HOSTS)
def test_context_and_lost_part_at_each_labelled_prompt_are_those_of_the_labels(engine: Engine, host: str) -> None:
    compared = 0
    for name, some in labels(host).items():
        file = DATA / "transcripts" / host / name
        engine.index(file)
        entries = [entry for entry in stored(engine, file) if entry.text]
        with engine._store.read(engine._find(str(file)).key) as snapshot:
            for label in some:
                branch = find_branch(snapshot, label["prompt"]["id"], None)
                first, last = label["visible"]["lines"]
                ids = set(label["visible"]["ids"])
                visible = {e.id for e in entries if e.id in ids or first <= e.source.line <= last}
                lost = {e.id for e in entries if e.source.line < label["lost_before_line"]} - visible
                assert {e.id for e in entries if inside(e.row, branch.context)} == visible, label["prompt"]
                assert {e.id for e in entries if inside(e.row, branch.eligible)} == lost, label["prompt"]
                compared += 1
    assert compared > 20


def test_a_made_fork_knows_its_origin_and_shares_its_rows(tmp_path: Path) -> None:
    made = ROOT / "examples" / "claude-code"
    with Engine.open(tmp_path / "store") as engine:
        engine.index(made)
        origin, fork = (engine._find(str(made / f"made-{name}.jsonl")) for name in ("branched", "forked"))
        assert fork.header.parent == origin.header.session_id
        assert (origin.shared, fork.shared) == (0, 28)
        assert fork.entries == 32


def test_an_echo_of_our_own_evidence_never_grows(tmp_path: Path) -> None:
    """Twenty rounds: what is found is written into the transcript as hooks and tools write it, and asked again."""
    from tests import claude_code as cc

    rows: list[cc.Row] = [cc.message("a", None, "the walnut table has exit code 78"), cc.reply("b", "a", "noted")]
    rows += [cc.boundary("B", "b"), cc.summary("S", "B")]
    file = tmp_path / "s.jsonl"
    leaf, texts = "S", set()
    with Engine.open(tmp_path / "store") as engine:
        for number in range(20):
            prompt = cc.message(f"q{number}", leaf, "which exit code has the walnut table?", minute=number)
            cc.write(file, [*rows, prompt])
            found = engine.retrieve(session=file)
            assert [hit.ranked.candidate.entry.id for hit in found.hits] == ["a"]
            evidence = found.hits[0].message
            texts.add(found.hits[0].excerpt)
            hooked = {"type": "hook_additional_context", "content": [evidence]}
            rows += [
                prompt,
                cc.row(f"h{number}", f"q{number}", "attachment", attachment=hooked),
                cc.call(f"c{number}", f"h{number}", f"m{number}", "mcp__aforesaid__history_recall", query="walnut"),
                cc.result(f"r{number}", f"c{number}", json.dumps({"hits": [{"snippet": "walnut 78"}]})),
                cc.call(f"d{number}", f"r{number}", f"n{number}", "Bash", command="cat evidence.txt"),
                cc.result(f"e{number}", f"d{number}", f"printed\n{evidence}"),
                cc.reply(f"z{number}", f"e{number}", "yes"),
                cc.boundary(f"B{number}", f"z{number}"),
                cc.summary(f"S{number}", f"B{number}"),
            ]
            leaf = f"S{number}"
    assert texts == {"the walnut table has exit code 78"}
    assert Counter(row["type"] for row in rows)["attachment"] == 20
