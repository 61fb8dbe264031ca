"""Explicit search as users run it: real processes, a real store."""

from __future__ import annotations

import json
import shlex
import sys
from base64 import urlsafe_b64decode
from typing import TYPE_CHECKING, Any

import pytest
from tests import pi
from tests.e2e.desk import SESSION, TEXTS, Desk, compacted, desk
from tests.schemas import check

from aforesaid import Engine

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["desk"]


@pytest.fixture
def transcript(desk: Desk) -> Path:
    return pi.write(desk.folder / "session.jsonl", compacted())


def hits(page: Any) -> list[str]:
    return [hit["entryId"] for hit in page["hits"]]


def test_a_fact_that_was_compacted_away_is_found_and_its_original_shown(desk: Desk, transcript: Path) -> None:
    page = desk.json("recall", "recall", "PG_PORT", "--session", transcript)
    assert (page["status"], page["next"], hits(page)) == ("complete", None, ["f0000000", "e0000001"])
    second, first = page["hits"]
    assert (first["inContext"], second["inContext"], first["branch"]) == (False, True, "active")
    shown = desk.json("expand", "expand", first["ref"], "--after=1")
    assert [passage["text"] for passage in shown["entries"]] == list(TEXTS[1:3])
    assert all(passage["verified"] for passage in shown["entries"])


def test_the_commands_that_are_shown_can_be_run(desk: Desk, transcript: Path) -> None:
    shown = desk.run("recall", "the", "--session", transcript, "--limit=1").out
    follow = next(line.split("→ ")[1] for line in shown.splitlines() if "→" in line)
    more = next(line.removeprefix("more: ") for line in shown.splitlines() if line.startswith("more: "))
    first = check("expand", desk.run(*shlex.split(follow)[1:], "--json").out)["entries"][0]["text"]
    second = check("recall", desk.run(*shlex.split(more)[1:], "--json").out)["hits"][0]["snippet"]
    assert "the" in first
    assert "the" in second
    assert first != second


def test_paging_to_the_end_yields_every_match_once(desk: Desk, transcript: Path) -> None:
    found: list[str] = []
    cursor: list[str] = []
    while True:
        page = desk.json("recall", "recall", "", "--session", transcript, "--limit=3", *cursor)
        found += hits(page)
        if page["next"] is None:
            break
        cursor = ["--cursor", page["next"]]
    assert found == ["f0000000", *(f"e000000{number}" for number in (5, 4, 3, 2, 1, 0))]


def test_no_folder_stands_in_what_a_model_is_given_to_go_on(desk: Desk, transcript: Path) -> None:
    # Opaque is not secret: refs and cursors are base64, and a model gets both.
    page = desk.json("recall", "recall", "", "--session", transcript, "--limit=1")
    rest = desk.json("expand", "expand", "--session", transcript, "--range=e0000000..e0000003", "--max-lines=1")
    for text in (page["next"], page["hits"][0]["ref"], rest["next"]):
        opened = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        assert transcript.name.encode() not in opened
        assert desk.folder.name.encode() not in opened


def test_two_runs_give_the_same_bytes(desk: Desk, transcript: Path) -> None:
    asked = ("recall", "the", "--session", transcript, "--limit=2", "--json")
    assert desk.run(*asked).out == desk.run(*asked).out


def test_nothing_found_is_not_a_failure(desk: Desk, transcript: Path) -> None:
    done = desk.run("recall", "walrus", "--session", transcript)
    assert (done.status, done.out) == (0, "Nothing found: no entry of this scope matches.\n")


def test_a_read_only_store_says_what_it_may_miss(desk: Desk, transcript: Path) -> None:
    desk.run("index", transcript)
    transcript.unlink()
    page = desk.json("recall", "recall", "PG_PORT", "--session", SESSION)
    assert page["status"] == "partial"
    assert page["coverage"] == {
        "complete": False, "indexedSessions": 1, "eligibleSessions": 1, "staleSessions": 0,
        "reasons": ["source-missing"],
    }  # fmt: skip
    assert len(page["hits"]) == 2


def test_ref_invalid(desk: Desk, transcript: Path) -> None:
    page = desk.json("recall", "recall", "", "--session", transcript, "--limit=1")
    assert desk.refused("expand", "nonsense") == ("ref-invalid", 2)
    assert desk.refused("expand", page["next"]) == ("ref-invalid", 2)
    assert desk.refused("recall", "", "--session", transcript, "--cursor", "x") == ("ref-invalid", 2)
    assert desk.refused("recall", "a", "--session", transcript, "--cursor", page["next"]) == ("ref-invalid", 2)
    other = ("--store", desk.folder / "other")
    assert desk.refused("expand", page["hits"][0]["ref"], *other) == ("ref-invalid", 2)


def test_stale_cursor(desk: Desk, transcript: Path) -> None:
    page = desk.json("recall", "recall", "", "--session", transcript, "--limit=1")
    rows = compacted()
    rows[1] = pi.message("e0000000", None, "something else")
    pi.write(transcript, rows)
    asked = ("recall", "", "--session", transcript, "--limit=1", "--cursor", page["next"])
    assert desk.refused(*asked) == ("stale-cursor", 2)


def test_stale_source(desk: Desk, transcript: Path) -> None:
    ref = desk.json("recall", "recall", "5433", "--session", transcript, "--limit=1")["hits"][0]["ref"]
    transcript.write_bytes(transcript.read_bytes().replace(b"5433", b"5434"))
    assert desk.refused("expand", ref) == ("stale-source", 1)


def test_source_missing(desk: Desk, transcript: Path) -> None:
    ref = desk.json("recall", "recall", "5433", "--session", transcript, "--limit=1")["hits"][0]["ref"]
    transcript.unlink()
    assert desk.refused("expand", ref) == ("source-missing", 1)


def test_privacy_unreadable(desk: Desk, transcript: Path) -> None:
    config = desk.folder / "bad.json"
    config.write_text('{"privacy": {"enabled": "perhaps"}}')
    private = ("--config", config)
    assert desk.refused("recall", "5433", "--session", transcript, *private) == ("privacy-unreadable", 1)
    named = ("--session", transcript, "--entry", "e0000000")
    assert desk.refused("expand", *named, *private) == ("privacy-unreadable", 1)


def test_privacy_withheld(desk: Desk) -> None:
    texts = ("the port [aforesaid:local-only]is 5433[/aforesaid:local-only]", "the port is public", "more", "yes")
    transcript = pi.write(desk.folder / "private.jsonl", [pi.header(), *pi.conversation(texts)])
    private = ("--session", transcript, "--set", "privacy.enabled=true")
    page = desk.json("recall", "recall", "port", *private)
    assert hits(page) == ["e0000001"]
    assert page["coverage"]["reasons"] == ["privacy-policy"]
    assert not page["coverage"]["complete"]
    # Asked letter by letter, it answers the same whether or not the withheld text holds the letters.
    for query in ("5433", "5434", "local-only"):
        nothing = desk.json("recall", "recall", query, *private)
        assert (nothing["hits"], nothing["next"], nothing["coverage"]) == ([], None, page["coverage"])
    assert hits(desk.json("recall", "recall", "", *private)) == ["e0000003", "e0000002", "e0000001"]
    assert desk.refused("expand", *private, "--entry=e0000000") == ("privacy-withheld", 1)
    shown = desk.json("expand", "expand", *private, "--entry=e0000001", "--before=1", "--after=1")
    assert [passage["entryId"] for passage in shown["entries"]] == ["e0000001", "e0000002"]
    local = desk.json("recall", "recall", "port", *private, "--provider=ollama")
    assert (len(local["hits"]), local["coverage"]["complete"]) == (2, True)
    assert desk.json("expand", "expand", *private, "--entry=e0000000", "--provider=ollama")["entries"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("recall", "(", "--mode=regex"), ("recall", "x", "--limit=0"), ("recall", "x", "--limit=201"),
        ("recall", "x", "--after=soon"), ("recall", "(a{65535}){65535}", "--mode=regex"), ("expand", "--range=a..b"),
        ("expand", "--entry=e0000000", "--before=51"), ("expand",),
    ],
)  # fmt: skip
def test_wrong_arguments(desk: Desk, transcript: Path, arguments: tuple[str, ...]) -> None:
    desk.run("index", transcript)
    code, status = desk.refused(*arguments, "--session", transcript)
    assert (code, status) in {("bad-argument", 2), ("entry-unknown", 2)}


def test_a_filter_finds_results_by_their_call_and_a_query_by_their_own_words(tmp_path: Path) -> None:
    call = {"type": "toolCall", "id": "c1", "name": "deploy", "arguments": {"path": "ops/prod.yaml"}}
    rows = [
        pi.message("a1", None, "roll it out"),
        pi.message("a2", "a1", "", "assistant", minute=1),
        pi.message("a3", "a2", "42 pods are ready", "toolResult", minute=2),
    ]
    rows[1]["message"]["content"] = [call]
    rows[2]["message"] |= {"toolCallId": "c1", "toolName": "deploy"}
    file = pi.write(tmp_path / "s.jsonl", [pi.header("s"), *rows])
    with Engine.open(tmp_path / "store") as engine:

        def find(query: str, **more: Any) -> list[str]:
            page = engine.recall(query, session=file, **more)
            assert page.coverage.complete
            return [hit.entry_id for hit in page.hits]

        for name in ("deploy", "prod.yaml"):
            assert find(name, roles=["tool_result"]) == []
            assert "a2" in find(name)
        for more in ({"tool": "deploy"}, {"file": "prod.yaml"}):
            assert find("", roles=["tool_result"], **more) == ["a3"]
            assert find("pods", **more) == ["a3"]
        (call_,) = engine.recall("prod.yaml", session=file).hits
        assert call_.pairs == ("a3",)


def test_of_an_edited_entry_its_own_words_are_found_and_shown_and_not_the_replacement(tmp_path: Path) -> None:
    rows = pi.conversation(["the walnut table is in room 7", "noted"])
    rows.append(pi.context_edit("dddddddd", "e0000001", "e0000000", "a placeholder", minute=5))
    rows.append(pi.compaction("cccccccc", "dddddddd", "cccccccc", minute=9))
    file = pi.write(tmp_path / "s.jsonl", [pi.header("s"), *rows])
    with Engine.open(tmp_path / "store") as engine:
        nothing = engine.recall("placeholder", session=file, summaries=True)
        assert (nothing.hits, nothing.coverage.complete) == ((), True)
        (hit,) = engine.recall("walnut", session=file).hits
        assert (hit.entry_id, hit.in_context, hit.derived) == ("e0000000", False, None)
        assert engine.expand(hit.ref).entries[0].text == "the walnut table is in room 7"
        assert not engine.retrieve(session=file, query="the placeholder").hits


def test_a_start_of_recall_imports_no_more_than_it_needs(desk: Desk, transcript: Path) -> None:
    script = (
        "import sys; from aforesaid.cli import main; status = main(sys.argv[1:]);"
        " print(json.dumps(sorted(sys.modules)), file=sys.stderr) if (json := __import__('json')) else None"
    )
    import subprocess

    done = subprocess.run(
        [sys.executable, "-c", script, "recall", "PG_PORT", "--session", str(transcript), "--json"],
        capture_output=True, env=desk.environment, cwd=desk.folder, check=True,
    )  # fmt: skip
    loaded = set(json.loads(done.stderr))
    assert not {"regex", "rich", "numpy", "aforesaid.expansion", "mcp", "pydantic"} & loaded
