"""Our own output in a transcript, in the ways in which tools pass text on: nothing of it is left, all else is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import pi
from tests.values import make_entry
from tests.words import any_text

from aforesaid import Engine, frames
from aforesaid.evidence import CLOSING, CONTENT, OPENING, SOURCE, WARNING, frame
from aforesaid.extractive import sheet
from aforesaid.frames import strip_frames
from aforesaid.hosts import wire

if TYPE_CHECKING:
    from pathlib import Path

HEAD = [OPENING, SOURCE + "a", "Session: s", "Date: unknown", "Original role: user", "Reason: x"]
FRAMED = frame(make_entry(id="a1"), session_id="s1", score=1, reason="user", excerpt='walnut "quoted"\nover\tlines')
LINES = FRAMED.split("\n")
VIEW = "\n".join((OPENING, sheet.WARNING, sheet.CONTENT + '{"evidence":["walnut"]}', CLOSING))


def numbered(lines: list[str]) -> str:
    return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, 1))


def begun(lines: list[str], prefix: str) -> str:
    return "\n".join(prefix + line for line in lines)


@pytest.mark.parametrize("framed", [FRAMED, VIEW], ids=["evidence", "view"])
def test_a_frame_goes_however_its_lines_are_passed_on(framed: str) -> None:
    lines = ["before", *framed.split("\n"), "after"]
    last = len(lines)
    assert strip_frames(numbered(lines)) == f"     1\tbefore\n{last:6}\tafter"
    for prefix in ("> ", "log.txt:", "| ", "    # "):
        assert strip_frames(begun(lines, prefix)) == f"{prefix}before\n{prefix}after"
        assert strip_frames(begun(lines, prefix).replace("\n", "\r\n")) == f"{prefix}before\r\n{prefix}after"
    found = "\n".join(f"log.txt:{number}:{line}" for number, line in enumerate(lines))
    assert strip_frames(found) == f"log.txt:0:before\nlog.txt:{last - 1}:after"
    assert strip_frames(" ".join(lines)) == "before  after"


@pytest.mark.parametrize("framed", [FRAMED, VIEW], ids=["evidence", "view"])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_frame_in_a_string_of_json_goes_and_the_json_stays(framed: str, ascii_only: bool) -> None:
    once = json.dumps({"evidence": framed, "more": ["kept", framed]}, ensure_ascii=ascii_only)
    assert json.loads(strip_frames(once)) == {"evidence": "", "more": ["kept", ""]}
    twice = strip_frames(json.dumps({"line": once}, ensure_ascii=ascii_only))
    assert json.loads(json.loads(twice)["line"]) == {"evidence": "", "more": ["kept", ""]}
    windows = strip_frames(once.replace("\\n", "\\r\\n"))
    assert json.loads(windows) == {"evidence": "", "more": ["kept", ""]}


@pytest.mark.parametrize("missing", range(1, 8))
def test_a_frame_without_its_first_lines_goes(missing: int) -> None:
    rest = LINES[missing:]
    assert strip_frames("\n".join(["before", *rest, "after"])) == "before\nafter"
    assert strip_frames(begun(["before", *rest, "after"], "> ")) == "> before\n> after"
    assert strip_frames("before " + " ".join(rest) + " after").split() == ["before", "after"]
    assert strip_frames("\n".join(["Date: of the meeting", "before", *rest])) == "Date: of the meeting\nbefore\n"


def test_what_is_left_of_a_frame_that_is_cut_off_goes_as_far_as_it_can_be_told() -> None:
    for kept in range(2, len(LINES)):
        cut = begun(["before", *LINES[:kept], "after", "more"], "> ")
        assert strip_frames(cut) == "> before\n> after\n> more", kept
    assert strip_frames(begun(["before", *LINES[:4]], "> ")) == "> before\n"
    quoted = json.dumps({"evidence": FRAMED}, ensure_ascii=False)[:250]
    assert strip_frames(f"{quoted}\nafter") == '{"evidence": "\nafter'
    assert strip_frames("\n".join(["before", *LINES[4:-1], "after"])) == "before\nafter"
    assert strip_frames("\n".join(["before", WARNING, CONTENT + '"x"'])) == "before\n"


def test_two_frames_and_what_stands_between_them() -> None:
    both = numbered(["a", *LINES, "b", *LINES, "c"])
    assert [line.split("\t")[1] for line in strip_frames(both).split("\n")] == ["a", "b", "c"]
    assert strip_frames(f"x{json.dumps(FRAMED)}y{json.dumps(FRAMED)}z") == 'x""y""z'


@pytest.mark.parametrize(
    "text",
    [
        f"OPENING = {OPENING!r}\nSOURCE = {SOURCE!r}",
        f"the title {OPENING} and then the source",
        f"{WARNING} is said in each of them",
        f"the end is {CLOSING}, and {CONTENT} precedes it",
        '{"schema":"aforesaid.recall/1","status":"complete|partial|failed","hits":[{"ref","entryId"}]}',
        '{"schema":"aforesaid.index/1","sessions":[]}',
        '"schema": "aforesaid.recall/1", "status": "complete"',
    ],
)
def test_texts_that_only_mention_our_output_stay(text: str) -> None:
    assert strip_frames(text) == text


def test_the_words_of_the_view_are_those_that_it_begins_with() -> None:
    assert sheet.WARNING.startswith(frames._VIEW)
    assert sheet.CONTENT == frames._VIEW_CONTENT


DOCUMENTS: list[dict[str, Any]] = [
    {"schema": "aforesaid.retrieval/1", "status": "complete", "query": {}, "hits": [{"excerpt": "walnut {\n"}]},
    {"schema": "aforesaid.recall/1", "status": "partial", "hits": [{"ref": "r", "snippet": "walnut }"}]},
    {"schema": "aforesaid.plan/1", "status": "planned", "messages": [{"content": "walnut"}]},
    {"schema": "aforesaid.expand/1", "entries": [{"entryId": "a", "text": "walnut"}]},
    {"schema": "aforesaid.lost/1", "compactions": [{"entryId": "a", "items": [{"item": "walnut"}]}]},
    {"schema": "aforesaid.view/1", "view": {"kind": "history", "evidence": []}, "bytes": 1},
]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document["schema"]))
@pytest.mark.parametrize("indent", [None, 2])
def test_documents_that_quote_a_session_go(document: dict[str, Any], indent: int | None) -> None:
    text = wire.encode(document, indent=indent).decode()
    assert strip_frames(f"before {text}\nafter {text} end") == "before \nafter  end"
    cut = text[: text.index("walnut") + 3] if "walnut" in text else text[:-3]
    assert strip_frames(f"before\n{cut}") == "before\n"
    if indent is None:
        assert strip_frames(f"before\n{cut}\nafter") == "before\n\nafter"


@given(any_text, st.lists(any_text, max_size=3))
def test_no_document_survives_whatever_it_quotes(around: str, quoted: list[str]) -> None:
    document = {"schema": "aforesaid.recall/1", "status": "complete", "hits": quoted}
    try:
        text = wire.encode(document).decode()
    except UnicodeEncodeError:  # pragma: no cover  (surrogates are escaped)
        return
    assert strip_frames(f"{around}\n{text}") == f"{around}\n"


@pytest.mark.parametrize("way", ["retrieve", "recall", "numbered", "joined"])
def test_what_a_shell_printed_of_our_output_is_never_found_again(tmp_path: Path, way: str) -> None:
    rows = [
        pi.header(),
        pi.message("a0000000", None, "the table is of walnut"),
        pi.compaction("c0000000", "a0000000", "nothing"),
    ]
    with Engine.open(tmp_path / "store") as engine:
        file = pi.write(tmp_path / "one.jsonl", rows)
        found = engine.retrieve(session=file, query="which walnut table?")
        assert [hit.entry_id for hit in found.hits] == ["a0000000"]
        printed = {
            "retrieve": wire.encode(wire.retrieval(found)).decode(),
            "recall": wire.encode(wire.recall(engine.recall("walnut", session=file)), indent=2).decode(),
            "numbered": numbered(found.hits[0].message.split("\n")),
            "joined": found.hits[0].message.replace("\n", " "),
        }[way]
        rows[2:2] = [pi.message("b0000000", "a0000000", f"{printed}\n$ done", "toolResult")]
        rows[3] = pi.compaction("c0000000", "b0000000", "nothing")
        again = pi.write(tmp_path / "two.jsonl", rows)
        assert [hit.entry_id for hit in engine.retrieve(session=again, query="which walnut table?").hits] == [
            "a0000000"
        ]
