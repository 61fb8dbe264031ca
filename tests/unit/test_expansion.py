"""Reading on in the originals, through the whole product."""

from __future__ import annotations

import json
import os
from threading import Timer
from typing import TYPE_CHECKING, Any

import pytest
from tests import pi
from tests.rights import bound_by_modes
from tests.schemas import check

from aforesaid import Caller, Engine, refs
from aforesaid.config import Config
from aforesaid.errors import (
    BadArgument,
    EntryUnknown,
    PrivacyFailed,
    PrivacyWithheld,
    RefInvalid,
    SessionNotFound,
    SourceMissing,
    SourceUnreadable,
    StaleCursor,
    StaleSource,
)
from aforesaid.hosts import wire

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.pi import Row

    from aforesaid import Expansion

MODEL = Caller(name="tool", model=True, refs_last=60)


def call(id_: str, parent: str, text: str, *names: str) -> Row:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    blocks += [{"type": "toolCall", "id": name, "name": "bash", "arguments": {"command": name}} for name in names]
    return {
        "type": "message", "id": id_, "parentId": parent, "timestamp": pi.stamp(1),
        "message": {"role": "assistant", "content": blocks},
    }  # fmt: skip


def result(id_: str, parent: str, text: str, name: str) -> Row:
    row = pi.message(id_, parent, text, "toolResult")
    row["message"]["toolCallId"] = name
    return row


def kept_away(id_: str, parent: str) -> Row:
    message = {"role": "bashExecution", "command": "cat key", "output": "a secret", "excludeFromContext": True}
    return {"type": "message", "id": id_, "parentId": parent, "timestamp": pi.stamp(2), "message": message}


ROWS: list[Row] = [
    pi.message("a", None, "first"),
    call("b", "a", "looking", "c1", "c2"),
    result("c", "b", "one\ntwo\nthree", "c1"),
    result("d", "c", "other result", "c2"),
    pi.message("e", "d", "an answer", "assistant"),
    {"type": "label", "id": "f", "parentId": "e", "timestamp": pi.stamp(3), "targetId": "a", "label": "x"},
    kept_away("g", "f"),
    pi.message("h", "g", "the next request"),
    pi.message("i", "b", "a sibling of the first result"),
    pi.message("j", "i", "and what follows it", "assistant"),
    pi.compaction("k", "h", "h", "what was said"),
    pi.message("l", "k", "the last", "assistant"),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return pi.write(tmp_path / "session.jsonl", [pi.header("one"), *ROWS])


@pytest.fixture
def engine(tmp_path: Path, file: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path / "store") as opened:
        opened.index(file)
        yield opened


def ids(answer: Expansion) -> list[str]:
    return [passage.entry_id for passage in answer.entries]


def ref_of(engine: Engine, file: Path, query: str, **asked: Any) -> str:
    (hit,) = engine.recall(query, session=file, **asked).hits
    return hit.ref


def test_a_ref_gives_the_original_text_with_its_provenance(engine: Engine, file: Path) -> None:
    answer = engine.expand(ref_of(engine, file, "first"))
    (passage,) = answer.entries
    assert (passage.entry_id, passage.session_id, passage.role, passage.text) == ("a", "one", "user", "first")
    assert (passage.start_line, passage.lines, passage.complete, passage.verified) == (1, 1, True, True)
    assert answer.next is None


def test_a_call_brings_its_results_and_a_result_its_call(engine: Engine, file: Path) -> None:
    assert ids(engine.expand(session=file, entries=["b"])) == ["b", "c", "d"]
    assert ids(engine.expand(session=file, entries=["d"])) == ["b", "d"]
    assert ids(engine.expand(session=file, entries=["a"])) == ["a"]


def test_a_reused_call_id_on_another_branch_is_another_call(engine: Engine, tmp_path: Path) -> None:
    rows = [*ROWS, call("x1", "a", "again", "c1"), result("x2", "x1", "another one", "c1")]
    other = pi.write(tmp_path / "reused.jsonl", [pi.header("reused"), *rows])
    engine.index(other)
    assert ids(engine.expand(session=other, entries=["x1"])) == ["x1", "x2"]
    assert ids(engine.expand(session=other, entries=["c"], leaf="l")) == ["b", "c"]


@pytest.mark.parametrize(
    ("entry", "before", "after", "expected"),
    [
        ("e", 1, 0, ["d", "e"]),
        ("e", 0, 1, ["e", "g"]),
        ("e", 50, 50, ["a", "b", "c", "d", "e", "g", "h", "l"]),
        ("a", 3, 1, ["a", "b"]),
        ("l", 1, 5, ["h", "l"]),
        ("i", 1, 5, ["b", "i", "j"]),
        ("j", 3, 3, ["a", "b", "i", "j"]),
    ],
)
def test_neighbours_stand_on_the_branch_and_have_a_text(
    engine: Engine, file: Path, entry: str, before: int, after: int, expected: list[str]
) -> None:
    assert ids(engine.expand(session=file, entries=[entry], before=before, after=after)) == expected


def test_a_ref_of_a_branch_stays_on_it(engine: Engine, file: Path) -> None:
    ref = ref_of(engine, file, "looking", leaf="j")
    assert ids(engine.expand(ref, after=5)) == ["b", "i", "j"]
    # The results of the call stand on the other branch, and must not come along.
    assert "c" not in ids(engine.expand(ref, before=5, after=50))


def test_a_range_is_what_stands_between_two_entries_of_a_branch(engine: Engine, file: Path) -> None:
    assert ids(engine.expand(session=file, first="d", last="h")) == ["b", "d", "e", "f", "g", "h"]
    assert ids(engine.expand(session=file, first="a", last="a")) == ["a"]
    for first, last in (("h", "d"), ("c", "j"), ("i", "l")):
        with pytest.raises(BadArgument, match="not before"):
            engine.expand(session=file, first=first, last=last)


def test_lines_are_paged_and_the_pages_joined_are_the_text(engine: Engine, file: Path) -> None:
    read: dict[str, list[str]] = {}
    cursor, steps = None, 0
    while steps == 0 or cursor is not None:
        answer = engine.expand(session=file, entries=["c", "e"], max_lines=2, cursor=cursor)
        assert sum(passage.lines for passage in answer.entries) <= 2
        for passage in answer.entries:
            lines = read.setdefault(passage.entry_id, [])
            assert passage.start_line == len(lines) + 1
            assert passage.lines == len(passage.text.split("\n"))
            lines += passage.text.split("\n")
        cursor, steps = answer.next, steps + 1
    assert {id_: "\n".join(lines) for id_, lines in read.items()} == {
        "b": "looking\nbash\ncommand: c1\nbash\ncommand: c2", "c": "one\ntwo\nthree", "e": "an answer",
    }  # fmt: skip
    assert steps == 5


@pytest.mark.parametrize("longest", [1, 2, 7, 100])
def test_a_long_line_goes_on_where_it_was_cut_and_no_cluster_is_torn(
    engine: Engine, tmp_path: Path, longest: int
) -> None:
    family, flag, accent = "👩‍👩‍👧", "🇮🇹", "e\u0301"
    line = f"a{accent}{family}{flag}กำ한국어{accent}"
    text = f"one\n{line * 2}\n\n{line}"
    other = pi.write(tmp_path / "long.jsonl", [pi.header("long"), *pi.conversation([text, "after"])])
    engine.index(other)
    pieces: list[tuple[int, str]] = []
    cursor = None
    while not pieces or cursor is not None:
        answer = engine.expand(session=other, entries=["e0000000"], longest=longest, max_lines=3, cursor=cursor)
        (passage,) = answer.entries
        assert passage.lines == passage.text.count("\n") + 1 <= 3
        assert passage.complete == (passage.text == text)
        assert all(len(part) <= longest for part in passage.text.split("\n"))
        pieces.append((passage.start_line, passage.text))
        cursor = answer.next
    whole, last = "", 1
    for start, piece in pieces:
        whole += ("\n" if start > last else "") + piece
        assert start in (last, last + 1)
        last = start + piece.count("\n")
    assert whole == text
    if longest == 7:
        begins = {piece[0] for _, piece in pieces if piece}
        assert not begins & {"\u0301", "\u200d", "ำ", "👧"}


def test_who_does_not_cut_lines_gets_the_rest_of_one_that_was_cut(engine: Engine, file: Path) -> None:
    asked: dict[str, Any] = {"session": file, "entries": ["c"]}
    cut = engine.expand(**asked, start_line=3, longest=3)
    assert [(passage.text, passage.start_line, passage.complete) for passage in cut.entries] == [("thr", 3, False)]
    rest = engine.expand(**asked, start_line=3, cursor=cut.next)
    assert [(passage.text, passage.start_line, passage.complete) for passage in rest.entries] == [("ee", 3, False)]
    assert rest.next is None
    with pytest.raises(BadArgument, match="characters of a line"):
        engine.expand(**asked, longest=0)


def test_a_long_line_before_what_was_asked_for_is_cut_once(engine: Engine, tmp_path: Path) -> None:
    other = pi.write(
        tmp_path / "l.jsonl", [pi.header("l"), *pi.conversation(["x" * 50 + "\nmore", "the point", "y" * 9])]
    )
    engine.index(other)
    texts: list[str] = []
    cursor = None
    while not texts or cursor is not None:
        answer = engine.expand(session=other, entries=["e0000001"], before=1, after=1, longest=5, cursor=cursor)
        texts += [passage.text for passage in answer.entries]
        cursor = answer.next
    assert texts == ["xxxxx", "the p", "oint", "yyyyy", "yyyy"]


@pytest.mark.parametrize("longest", [1, 9, 12, 20])
def test_a_path_is_shortened_also_where_a_piece_ends_in_it(tmp_path: Path, longest: int) -> None:
    text = "see /home/carlotta/notes/plan.md and /home/carlotta/x"
    other = pi.write(tmp_path / "paths.jsonl", [pi.header("paths"), *pi.conversation([text])])
    with Engine.open(tmp_path / "paths", settings={"privacy.shortenPaths": True}) as engine:
        engine.index(other)
        shown = ""
        cursor = None
        while not shown or cursor is not None:
            answer = engine.expand(session=other, entries=["e0000000"], longest=longest, cursor=cursor)
            shown += answer.entries[0].text
            cursor = answer.next
        assert shown == "see ~/notes/plan.md and ~/x"


def test_a_start_line_is_one_of_the_entry_that_was_asked_for(engine: Engine, file: Path) -> None:
    answer = engine.expand(session=file, entries=["c"], start_line=3)
    assert [(passage.entry_id, passage.start_line, passage.text) for passage in answer.entries] == [("c", 3, "three")]
    assert not answer.entries[0].complete
    with pytest.raises(BadArgument, match="3 lines"):
        engine.expand(session=file, entries=["c"], start_line=4)


def test_what_stands_before_cannot_push_out_what_was_asked_for(engine: Engine, tmp_path: Path) -> None:
    rows = [pi.message("a", None, "x\n" * 500), pi.message("b", "a", "the point", "assistant")]
    other = pi.write(tmp_path / "long.jsonl", [pi.header("long"), *rows])
    engine.index(other)
    before, point = engine.expand(session=other, entries=["b"], before=1).entries
    assert (before.lines, before.complete) == (40, False)
    assert point.text == "the point"


def test_a_line_that_changed_is_an_error_and_never_other_text(engine: Engine, file: Path) -> None:
    ref = ref_of(engine, file, "first")
    data = file.read_bytes()
    file.write_bytes(data.replace(b'"first"', b'"fIrst"'))
    with pytest.raises(StaleSource):
        engine.expand(ref)
    with pytest.raises(StaleSource):
        engine.expand(session=file, entries=["a"])
    assert ids(engine.expand(session=file, entries=["e"])) == ["e"], "other lines are what they were"
    engine.index(file)
    with pytest.raises(StaleSource):
        engine.expand(ref)
    file.write_bytes(data[:100])
    with pytest.raises(StaleSource):
        engine.expand(session=file, entries=["e"])


def test_a_file_that_is_gone_is_an_error(engine: Engine, file: Path) -> None:
    ref = ref_of(engine, file, "first")
    file.unlink()
    with pytest.raises(SourceMissing):
        engine.expand(ref)


def test_a_file_that_cannot_be_read_is_an_error(engine: Engine, file: Path) -> None:
    ref = ref_of(engine, file, "first")
    file.chmod(0)
    with pytest.raises(SourceUnreadable):
        bound_by_modes(lambda: engine.expand(ref))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")
@pytest.mark.parametrize("private", [False, True])
def test_a_pipe_in_place_of_the_file_is_an_error_that_nobody_waits_for(
    tmp_path: Path, file: Path, *, private: bool
) -> None:
    rules = {**PRIVATE, "privacy.rules": [{"path": "*.pem", "classification": "local-only"}]}
    with Engine.open(tmp_path / "store", settings=rules if private else {}) as engine:
        engine.index(file)
        ref = ref_of(engine, file, "first")
        file.unlink()
        os.mkfifo(file)
        released: list[int] = []
        # Whoever waits is let go after a while; nobody should be.
        timer = Timer(20, lambda: released.append(os.open(file, os.O_WRONLY | os.O_NONBLOCK)))
        timer.start()
        try:
            with pytest.raises(StaleSource, match="no regular file"):
                engine.expand(ref)
        finally:
            timer.cancel()
        assert not released


def test_a_folder_in_place_of_the_file_is_an_error(engine: Engine, file: Path) -> None:
    ref = ref_of(engine, file, "first")
    file.unlink()
    file.mkdir()
    with pytest.raises(SourceUnreadable):
        engine.expand(ref)


def test_an_entry_without_a_line_is_not_said_to_be_verified(engine: Engine, tmp_path: Path) -> None:
    half = b'{"id":"b","parentId":"a","half'
    rows: list[Row | bytes] = [pi.header("gap"), pi.message("a", None, "x"), half, pi.message("c", "b", "y")]
    other = pi.write(tmp_path / "gap.jsonl", rows)
    engine.index(other)
    (gap,) = engine.expand(session=other, entries=["b"]).entries
    assert (gap.text, gap.verified) == ("", False)


def test_what_the_user_kept_from_the_model_is_not_shown_to_it(engine: Engine, file: Path) -> None:
    assert [hit.entry_id for hit in engine.recall("secret", session=file).hits] == ["g"]
    assert engine.recall("secret", session=file, caller=MODEL).hits == ()
    assert ids(engine.expand(session=file, entries=["g"])) == ["g"]
    with pytest.raises(EntryUnknown):
        engine.expand(session=file, entries=["g"], caller=MODEL)
    assert ids(engine.expand(session=file, entries=["e"], after=1, caller=MODEL)) == ["e", "h"]
    assert ids(engine.expand(session=file, first="e", last="h", caller=MODEL)) == ["e", "f", "h"]


def test_what_our_own_tools_brought_back_is_neither_found_nor_shown(engine: Engine, tmp_path: Path) -> None:
    own = result("b", "a", "an echo of first", "c9")
    own["message"]["toolName"] = "mcp__history__history_recall"
    other = pi.write(tmp_path / "own.jsonl", [pi.header("own"), pi.message("a", None, "first"), own])
    assert [hit.entry_id for hit in engine.recall("first", session=other).hits] == ["a"]
    assert [passage.text for passage in engine.expand(session=other, entries=["b"]).entries] == [""]


def test_refs_of_one_caller_are_no_other_callers(engine: Engine, file: Path) -> None:
    with pytest.raises(RefInvalid):
        engine.expand(ref_of(engine, file, "first", caller=MODEL))
    with pytest.raises(RefInvalid):
        engine.expand(ref_of(engine, file, "first"), caller=MODEL)
    assert ids(engine.expand(ref_of(engine, file, "first", caller=MODEL), caller=MODEL)) == ["a"]


def test_refs_of_a_service_outlive_its_process_and_are_limited_in_number(
    engine: Engine, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refs, "MOST_REFS", 3)
    service = Caller(name="service", refs_last=3600)
    ref = ref_of(engine, file, "first", caller=service)
    engine.close()
    with Engine.open(tmp_path / "store") as later:
        for _ in range(2):
            assert ids(later.expand(ref, caller=service)) == ["a"]
            ref_of(later, file, "first", caller=Caller(name="another", refs_last=3600))
            assert len(later.recall("", session=file, limit=1, caller=service).hits) == 1
        assert ids(later.expand(ref, caller=service)) == ["a"]
        later.recall("", session=file, limit=1, caller=service)
        with pytest.raises(RefInvalid, match="too old"):
            later.expand(ref, caller=service)


def test_a_ref_of_a_session_that_was_removed_is_refused(engine: Engine, file: Path, tmp_path: Path) -> None:
    ref = ref_of(engine, file, "first")
    file.rename(tmp_path / "moved.jsonl")
    engine.index(tmp_path / "moved.jsonl")
    with pytest.raises(RefInvalid):
        engine.expand(ref)


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({}, BadArgument),
        ({"session": "one"}, BadArgument),
        ({"session": "nowhere", "entries": ["a"]}, SessionNotFound),
        ({"session": "one", "entries": ["z"]}, EntryUnknown),
        ({"session": "one", "first": "a"}, BadArgument),
        ({"session": "one", "first": "a", "last": "z"}, EntryUnknown),
        ({"session": "one", "first": "a", "last": "b", "entries": ["c"]}, BadArgument),
        ({"session": "one", "entries": ["a"], "before": -1}, BadArgument),
        ({"session": "one", "entries": ["a"], "after": 51}, BadArgument),
        ({"session": "one", "entries": ["a"], "start_line": 0}, BadArgument),
        ({"session": "one", "entries": ["a"], "max_lines": 0}, BadArgument),
        ({"session": "one", "entries": ["a"], "max_lines": 10_001}, BadArgument),
        ({"session": "one", "entries": ["a"], "cursor": "x"}, RefInvalid),
        ({"session": "one", "entries": ["a"] * 201}, BadArgument),
        ({"ref": "x"}, RefInvalid),
        ({"ref": "x", "session": "one"}, BadArgument),
        ({"ref": "x", "entries": ["a"]}, BadArgument),
    ],
)
def test_wrong_arguments(engine: Engine, asked: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        engine.expand(**asked)


def test_a_long_range_is_refused(engine: Engine, tmp_path: Path) -> None:
    rows = pi.conversation(["x"] * 250)
    other = pi.write(tmp_path / "long.jsonl", [pi.header("long"), *rows])
    engine.index(other)
    with pytest.raises(BadArgument, match="250 entries"):
        engine.expand(session=other, first=rows[0]["id"], last=rows[-1]["id"])


def test_a_cursor_of_another_question_is_refused(engine: Engine, file: Path) -> None:
    cursor = engine.expand(session=file, entries=["c"], max_lines=1).next
    with pytest.raises(RefInvalid):
        engine.expand(session=file, entries=["d"], max_lines=1, cursor=cursor)


PRIVATE = {"privacy.enabled": True}
MARKED = "[aforesaid:sensitive]the key[/aforesaid:sensitive]"


def test_a_policy_that_cannot_be_applied_hands_nothing_out(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("aforesaid.privacy.judge.Judge.judge_entry", fail)
    with Engine.open(tmp_path / "private", settings=PRIVATE) as private:
        with pytest.raises(PrivacyFailed):
            private.recall("first", session=file)
        with pytest.raises(PrivacyFailed):
            private.expand(session=file, entries=["a"])


@pytest.mark.parametrize("asked", [{}, {"match": "any"}, {"mode": "regex"}, {"mode": "phrase"}, {"limit": 1}])
def test_what_is_withheld_and_what_equals_it_is_not_found(tmp_path: Path, asked: dict[str, Any]) -> None:
    rows = [
        pi.message("a", None, MARKED), call("b", "a", "", "c1"), result("c", "b", "the plain text", "c1"),
        pi.message("d", "c", "the plain text"), pi.message("e", "d", "the last"),
    ]  # fmt: skip
    rows[1]["message"]["content"][0]["arguments"] = {"path": "keys/id.pem"}
    other = pi.write(tmp_path / "private.jsonl", [pi.header("private"), *rows])
    rules = {**PRIVATE, "privacy.rules": [{"path": "*.pem", "classification": "local-only"}]}
    with Engine.open(tmp_path / "private", settings=rules) as private:
        found: list[str] = []
        cursor = None
        while True:
            page = private.recall("the", session=other, cursor=cursor, **asked)
            found += [hit.entry_id for hit in page.hits]
            cursor = page.next
            if cursor is None:
                break
        # The result is of a call that named the file, and what equals its text goes with it.
        assert found == ["e"]
        assert [hit.entry_id for hit in private.recall("", session=other).hits] == ["e"]
        assert len(private.recall("the", session=other, provider="ollama").hits) == 4
        assert private.recall("the", session=other).coverage.reasons == ("privacy-policy",)
        other.unlink()
        assert [hit.entry_id for hit in private.recall("the", session="private").hits] == ["e"]


def test_a_marker_that_only_the_line_holds_counts(tmp_path: Path) -> None:
    row = pi.message("a", None, "the text")
    row["message"]["content"].append({"type": "thinking", "thinking": MARKED})
    other = pi.write(tmp_path / "line.jsonl", [pi.header("line"), row])
    with Engine.open(tmp_path / "private", settings=PRIVATE) as private:
        assert private.recall("text", session=other).hits == ()
        with pytest.raises(PrivacyWithheld):
            private.expand(session=other, entries=["a"])


def test_a_changed_line_is_stale_with_a_policy_too(tmp_path: Path) -> None:
    other = pi.write(tmp_path / "line.jsonl", [pi.header("line"), pi.message("a", None, "the text")])
    with Engine.open(tmp_path / "private", settings=PRIVATE) as private:
        private.index(other)
        other.write_bytes(other.read_bytes().replace(b"the text", b"the test"))
        with pytest.raises(StaleSource):
            private.expand(session=other, entries=["a"])


# --- recall: what its fuzz tests do not show ------------------------------------------------------------------------


def test_filters(engine: Engine, tmp_path: Path) -> None:
    edit = call("b", "a", "")
    arguments = {"path": "/home/dev/src/app.py", "text": "port"}
    edit["message"]["content"] = [{"type": "toolCall", "id": "c", "name": "edit", "arguments": arguments}]
    rows = [
        pi.message("a", None, "the port", minute=1), edit, result("c", "b", "port done", "c"),
        pi.compaction("d", "c", "a", "about the port", 3), pi.message("e", "d", "the port again", minute=4),
    ]  # fmt: skip
    other = pi.write(tmp_path / "filters.jsonl", [pi.header("filters"), *rows])

    def found(**asked: Any) -> set[str]:
        return {hit.entry_id for hit in engine.recall("port", session=other, **asked).hits}

    assert found() == {"a", "b", "c", "e"}
    assert found(roles=["user"]) == {"a", "e"}
    assert found(roles=["user", "tool_result"]) == {"a", "c", "e"}
    assert found(tool="edit") == {"b"}
    assert found(tool="bash") == {"c"}
    assert found(file="src/app.py") == found(file="app.py") == found(file="/home/dev/src/app.py") == {"b", "c"}
    assert found(file="pp.py") == set()
    assert found(summaries=True) == {"a", "b", "c", "d", "e"}
    assert found(types=["compaction"]) == found(roles=["summary"]) == {"d"}
    assert found(types=["message"]) == {"a", "b", "c", "e"}
    assert found(after="2026-11-30T00:03:00Z") == {"e"}
    assert found(after="2026-11-30T02:03:00+02:00", before="2026-11-30T00:04:00.001") == {"e"}
    assert found(before="2026-11-30T00:01:00Z") == {"c"}
    assert found(after="2026-12-01") == set()
    (hit,) = engine.recall("port", session=other, types=["compaction"]).hits
    assert hit.derived == "compaction"


@pytest.mark.parametrize(
    "asked",
    [
        {"mode": "glob"}, {"match": "most"}, {"scope": "world"}, {"roles": ["system"]}, {"types": ["note"]},
        {"after": "yesterday"}, {"before": "2026-13-01"}, {"mode": "regex"}, {"after": "0001-01-01T00:00:00+14:00"},
    ],
)  # fmt: skip
def test_wrong_arguments_of_recall(engine: Engine, file: Path, asked: dict[str, Any]) -> None:
    with pytest.raises(BadArgument):
        engine.recall("(", session=file, **asked)


def test_a_cursor_goes_on_while_the_session_grows(engine: Engine, file: Path) -> None:
    whole = [hit.entry_id for hit in engine.recall("", session=file, limit=200).hits]
    page = engine.recall("", session=file, limit=3)
    with file.open("ab") as target:
        target.write(json.dumps(pi.message("m", "l", "more")).encode() + b"\n")
    rest = engine.recall("", session=file, limit=200, cursor=page.next)
    assert [hit.entry_id for hit in (*page.hits, *rest.hits)] == whole
    assert engine.recall("more", session=file).hits


@pytest.mark.parametrize("scope", ["current-branch", "current-session"])
def test_a_cursor_is_stale_once_the_history_was_rewritten(engine: Engine, file: Path, scope: Any) -> None:
    page = engine.recall("", session=file, limit=3, scope=scope)
    changed = [{**row, "id": row["id"]} for row in ROWS]
    changed[0] = pi.message("a", None, "rewritten")
    pi.write(file, [pi.header("one"), *changed])
    with pytest.raises(StaleCursor):
        engine.recall("", session=file, limit=3, scope=scope, cursor=page.next)


def test_a_cursor_is_stale_once_another_branch_is_active(engine: Engine, file: Path) -> None:
    page = engine.recall("", session=file, limit=1)
    with file.open("ab") as target:
        target.write(json.dumps(pi.message("m", "j", "on the other branch")).encode() + b"\n")
    with pytest.raises(StaleCursor):
        engine.recall("", session=file, limit=1, cursor=page.next)


def test_a_cursor_leads_on_along_its_own_branch_only(engine: Engine, file: Path) -> None:
    page = engine.recall("t", session=file, limit=1)
    with pytest.raises(StaleCursor):
        engine.recall("t", session=file, limit=1, cursor=page.next, leaf="h")


@pytest.mark.parametrize("changed", [{"mode": "phrase"}, {"scope": "current-session"}, {"roles": ["user"]}])
def test_a_cursor_of_another_search_is_refused(engine: Engine, file: Path, changed: dict[str, Any]) -> None:
    page = engine.recall("t", session=file, limit=1)
    assert page.next is not None
    with pytest.raises(RefInvalid):
        engine.recall("t", session=file, limit=1, cursor=page.next, **changed)
    with pytest.raises(RefInvalid):
        engine.recall("t", session=file, limit=1, cursor="x")


def test_lost_lines_make_the_answer_incomplete(engine: Engine, tmp_path: Path) -> None:
    other = pi.write(tmp_path / "lost.jsonl", [pi.header("lost"), pi.message("a", None, "x"), b"{half"])
    page = engine.recall("nothing", session=other)
    assert (page.status, page.hits, page.coverage.complete) == ("partial", (), False)
    assert page.coverage.reasons == ("invalid-json",)


def test_dropped_terms_make_the_answer_incomplete(engine: Engine, file: Path) -> None:
    query = " ".join(f"t{number}x" for number in range(120))
    assert engine.recall(query, session=file, match="any").coverage.reasons == ("terms-dropped",)
    assert engine.recall(query, session=file).coverage.complete


def test_a_pattern_that_takes_too_long_is_told_and_can_be_followed(engine: Engine, tmp_path: Path) -> None:
    rows = pi.conversation(["x" * 60_000 + str(number) for number in range(30)])
    other = pi.write(tmp_path / "slow.jsonl", [pi.header("slow"), *rows])
    page = engine.recall("(?:x+x+)+y", session=other, mode="regex")
    assert page.coverage.reasons == ("pattern-budget",)
    assert page.status == "partial"
    assert page.next is not None, "the time for a page is over before every text was tried"
    again = engine.recall("(?:x+x+)+y", session=other, mode="regex", cursor=page.next)
    assert again.next != page.next


def test_what_a_page_could_not_decide_the_following_ones_say_too(engine: Engine, tmp_path: Path) -> None:
    texts = [f"ok {number}" for number in range(12)]
    texts[10] = "a" * 40 + "!"
    other = pi.write(tmp_path / "slow.jsonl", [pi.header("slow"), *pi.conversation(texts)])
    told, found = [], []
    cursor = None
    while True:
        page = engine.recall(
            "(a|aa)+b|(a|aa)+$|ok", session=other, mode="regex", limit=3, cursor=cursor,
        )  # fmt: skip
        told.append((page.status, page.coverage.complete, page.coverage.reasons))
        found += [hit.entry_id for hit in page.hits]
        cursor = page.next
        if cursor is None:
            break
    assert sorted(found) == [f"e{number:07}" for number in range(12) if number != 10]
    assert told == [("partial", False, ("pattern-budget",))] * 4
    assert engine.recall("ok", session=other, limit=3).coverage.complete, "another question knows nothing of it"


def test_the_score_is_that_of_automatic_retrieval_as_documented(engine: Engine, tmp_path: Path) -> None:
    engine.config = Config.load(settings={"retrieval.ranking": "documented"})
    rows = pi.conversation(["set `PG_PORT` in src/db.py", "done", "next", "yes", "more"])
    cut = pi.compaction("cccccccc", rows[-1]["id"], rows[-1]["id"])
    other = pi.write(tmp_path / "score.jsonl", [pi.header("score"), *rows, cut])
    (hit,) = engine.retrieve(session=other, query="`PG_PORT` `src/db.py`").hits
    (found,) = engine.recall("PG_PORT src/db.py", session=other).hits
    assert found.score == hit.ranked.score


def test_a_snippet_is_verbatim_and_shows_the_match(engine: Engine, tmp_path: Path) -> None:
    text = "x " * 2000 + "the needle stands here" + " y" * 2000
    other = pi.write(tmp_path / "snippet.jsonl", [pi.header("snippet"), *pi.conversation([text, "short needle"])])
    long, short = sorted(engine.recall("needle", session=other).hits, key=lambda hit: len(hit.snippet), reverse=True)
    assert "the needle stands here" in long.snippet
    assert len(long.snippet) <= 400
    assert long.snippet in text
    assert short.snippet == "short needle"
    assert long.matched == ("needle",)
    (listed, _) = engine.recall("", session=other, roles=["user", "assistant"]).hits
    assert text.startswith(listed.snippet) or listed.snippet == "short needle"


def test_an_empty_session_has_nothing(engine: Engine, tmp_path: Path) -> None:
    other = pi.write(tmp_path / "empty.jsonl", [pi.header("empty")])
    for scope in ("current-branch", "current-session"):
        page = engine.recall("", session=other, scope=scope)
        assert (page.hits, page.next, page.coverage.complete) == ((), None, True)


def test_what_a_range_leads_over_and_is_withheld_is_counted(tmp_path: Path) -> None:
    rows = [
        pi.message("a", None, "first"), pi.message("b", "a", MARKED),
        pi.message("c", "b", "[aforesaid:local-only]x[/aforesaid:local-only]"), pi.message("d", "c", MARKED),
        pi.message("e", "d", "last"),
    ]  # fmt: skip
    other = pi.write(tmp_path / "private.jsonl", [pi.header("private"), *rows])
    with Engine.open(tmp_path / "private", settings=PRIVATE) as private:
        private.index(other)
        for asked in ({"first": "a", "last": "e"}, {"entries": ["a"], "after": 4}, {"entries": ["e"], "before": 4}):
            answer = private.expand(session=other, **asked)
            assert ids(answer) == ["a", "e"]
            assert [(one.reason, one.classification, one.count) for one in answer.withheld] == [
                ("privacy-marker", "local-only", 1), ("privacy-marker", "sensitive", 2),
            ]  # fmt: skip
            document = check("expand", wire.encode(wire.expand(answer)))
            assert document["withheld"][1] == {"reason": "privacy-marker", "classification": "sensitive", "count": 2}
        ends = private.expand(session=other, first="b", last="d", max_lines=1)
        assert (ends.entries, ends.next, sum(one.count for one in ends.withheld)) == ((), None, 3)
        paged = private.expand(session=other, first="a", last="e", max_lines=1)
        rest = private.expand(session=other, first="a", last="e", max_lines=1, cursor=paged.next)
        assert paged.withheld == rest.withheld
        assert "withheld" not in wire.expand(private.expand(session=other, first="a", last="e", provider="ollama"))


def test_a_changed_line_behind_a_range_is_counted_as_what_it_is(tmp_path: Path) -> None:
    rows = [pi.message("a", None, "first"), pi.message("b", "a", "second"), pi.message("c", "b", "third")]
    rows[1]["message"]["content"].append({"type": "thinking", "thinking": MARKED})
    other = pi.write(tmp_path / "private.jsonl", [pi.header("private"), *rows])
    with Engine.open(tmp_path / "private", settings=PRIVATE) as private:
        private.index(other)
        (left,) = private.expand(session=other, first="a", last="c").withheld
        assert (left.reason, left.classification, left.count) == ("privacy-source", "sensitive", 1)
