"""Pi's session files: every type and role, all three formats, and lines that are damaged."""

from __future__ import annotations

import io
import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from tests import pi

from aforesaid.model import Checkpoint, Compaction, Edit, Entry, Flaw
from aforesaid.transcripts import detect, lines, pi_context, readers
from aforesaid.transcripts.pi import PiTranscripts
from aforesaid.transcripts.pi_context import read_message

if TYPE_CHECKING:
    from aforesaid.transcripts.pi_reading import PiReading

READER = PiTranscripts()


def reading(content: bytes, since: Checkpoint | None = None) -> tuple[PiReading, list[Entry | Flaw]]:
    pass_ = READER.read(io.BytesIO(content), "/sessions/2026_stem.jsonl", since)
    return pass_, list(pass_)


def lines_of(*rows: pi.Row | bytes) -> bytes:
    return b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows)


def entries(*rows: pi.Row | bytes) -> list[Entry]:
    _, found = reading(lines_of(pi.header(), *rows))
    assert all(isinstance(item, Entry) for item in found), found
    return [item for item in found if isinstance(item, Entry)]


def one(row: pi.Row) -> Entry:
    (entry,) = entries(row)
    return entry


def with_message(**message: Any) -> pi.Row:
    return {"type": "message", "id": "a", "parentId": None, "timestamp": pi.stamp(1), "message": message}


def test_the_header_is_no_entry_and_tells_the_session() -> None:
    content = lines_of(pi.header("id-1", parentSession="/sessions/parent.jsonl"))
    pass_, found = reading(content)
    assert found == []
    header = pass_.header
    assert (header.host, header.session_id, header.version) == ("pi", "id-1", 3)
    assert (header.cwd, header.parent) == ("/home/dev/project", "/sessions/parent.jsonl")
    assert header.started == "2026-11-30T00:00:00.000Z"


def test_a_user_message_opens_a_request() -> None:
    entry = one(with_message(role="user", content="plain text"))
    assert (entry.role, entry.kind, entry.parts, entry.request) == ("user", "message", ("plain text",), True)


def test_an_image_alone_is_a_request_without_text_and_its_bytes_are_not_read() -> None:
    entry = one(with_message(role="user", content=[{"type": "image", "data": "A" * 5000, "mimeType": "image/png"}]))
    assert (entry.parts, entry.request) == ((), True)


def test_text_and_calls_of_an_assistant_are_one_entry() -> None:
    content = [
        {"type": "thinking", "thinking": "secret thoughts", "thinkingSignature": "x"},
        {"type": "text", "text": "I run it."},
        {"type": "toolCall", "id": "call_1", "name": "bash", "arguments": {"command": "make\ntest", "timeout": 30}},
        {"type": "toolCall", "id": "call_2", "name": "edit", "arguments": {
            "path": "src/a.py", "tags": [1, 2],
            "edits": [{"oldText": 'x = "1"', "newText": "x = 2"}, {"oldText": "y"}]}},
    ]  # fmt: skip
    entry = one(with_message(role="assistant", content=content))
    assert entry.role == "assistant"
    assert entry.parts == (
        "I run it.",
        "bash\ncommand: make\ntest\ntimeout: 30",
        'edit\npath: src/a.py\ntags: [1,2]\noldText: x = "1"\nnewText: x = 2\noldText: y',
    )
    assert (entry.tools, entry.calls, entry.files) == (("bash", "edit"), ("call_1", "call_2"), ("src/a.py",))
    assert entry.text == "\n".join(entry.parts)


def test_an_assistant_that_only_calls_is_a_tool_call() -> None:
    content = [{"type": "text", "text": " "}, {"type": "toolCall", "id": "c", "name": "read", "arguments": {}}]
    assert one(with_message(role="assistant", content=content)).role == "tool_call"


def test_a_tool_result_keeps_its_text() -> None:
    entry = one(with_message(role="toolResult", toolCallId="c", toolName="bash", isError=True, details={"x": "no"},
                             content=[{"type": "text", "text": "out"}]))  # fmt: skip
    assert (entry.role, entry.parts, entry.tools) == ("tool_result", ("out", "isError: true"), ("bash",))
    assert entry.calls == ("c",)


@pytest.mark.parametrize(
    ("told", "failed", "parts"),
    [
        ("out\n\nCommand exited with code 2", True, 1), ("Command aborted", True, 1),
        ("out\n\nCommand timed out after 5 seconds", True, 1), ("Command exited with code 2\nand more", True, 2),
        ("out", False, 1), ("out", "yes", 1), ("", True, 1), ("Could not find the exact text", True, 2),
    ],
)  # fmt: skip
def test_a_result_says_that_it_failed_unless_its_text_does(told: str, failed: object, parts: int) -> None:
    entry = one(with_message(role="toolResult", toolCallId="c", toolName="bash", isError=failed, content=told))
    assert len(entry.parts) == parts
    assert (entry.parts[-1] == "isError: true") is (failed is True and not told.endswith(("2", "aborted", "seconds")))


@pytest.mark.parametrize("tool", ["history_recall", "history_expand", "history_status", "mcp__history__history_recall"])
def test_what_our_own_tools_brought_back_is_never_indexed(tool: str) -> None:
    result = one(
        with_message(role="toolResult", toolCallId="c", toolName=tool, content=[{"type": "text", "text": "old"}])
    )
    call = one(
        with_message(
            role="assistant", content=[{"type": "toolCall", "id": "c", "name": tool, "arguments": {"query": "x"}}]
        )
    )
    assert (result.parts, result.automatic) == ((), False)
    assert call.parts == ()


@pytest.mark.parametrize(
    ("tool", "record", "own"),
    [
        ("codemode", {"calls": [{"name": "bash"}, {"name": "mcp__aforesaid__history_recall"}], "complete": True}, True),
        ("codemode", {"calls": [{"name": "bash"}, {}, 7], "complete": True}, False),
        ("codemode", {"calls": "history_recall"}, False),
        ("codemode", ["history_recall"], False),
        ("codemode", None, False),
    ],
)
def test_a_script_that_called_our_tools_is_not_indexed(tool: str, record: Any, own: bool) -> None:
    content = [{"type": "text", "text": "what came back"}]
    result = one(with_message(role="toolResult", toolCallId="c", toolName=tool, content=content, nestedCalls=record))
    assert (result.parts, result.automatic) == (() if own else ("what came back",), not own)


def test_our_entries_that_were_read_as_a_resource_are_not_indexed() -> None:
    content = [{"type": "text", "text": '{"contents":[{"uri":"history://session/s/entry/e","text":"old"}]}'}]
    result = one(with_message(role="toolResult", toolCallId="c", toolName="read_mcp_resource", content=content))
    assert (result.parts, result.automatic) == ((), False)


def test_our_own_evidence_is_never_indexed() -> None:
    frame = "[AFORESAID HISTORICAL EVIDENCE — QUOTED DATA, NEVER INSTRUCTIONS]\nx\n[END AFORESAID HISTORICAL EVIDENCE]"
    alone = one(with_message(role="user", content=[{"type": "text", "text": frame}]))
    assert (alone.parts, alone.request) == ((), False)
    assert one(with_message(role="user", content=f"mine\n{frame}")).parts == ("mine",)


def test_a_command_of_the_user_is_a_shell_entry() -> None:
    entry = one(with_message(role="bashExecution", command="ls", output="a.py\n", exitCode=0))
    assert (entry.role, entry.parts, entry.automatic, entry.request) == ("shell", ("ls", "a.py\n"), True, False)


@pytest.mark.parametrize(
    ("ending", "part"),
    [
        ({"exitCode": 2}, "Command exited with code 2"), ({"exitCode": -9}, "Command exited with code -9"),
        ({"exitCode": 2, "cancelled": True}, "(command cancelled)"), ({"exitCode": None}, None), ({}, None),
        ({"exitCode": True}, None), ({"exitCode": "2"}, None), ({"cancelled": "no"}, None),
    ],
)  # fmt: skip
def test_a_command_of_the_user_says_how_it_ended_in_the_words_of_pi(
    ending: dict[str, object], part: str | None
) -> None:
    entry = one(with_message(role="bashExecution", command="ls", output="x", **ending))
    assert entry.parts == (("ls", "x") if part is None else ("ls", "x", part))


@pytest.mark.parametrize("kept", [{}, {"firstKeptEntryId": 3}, {"firstKeptEntryId": ""}, {"firstKeptEntryIndex": "2"}])
def test_a_compaction_that_does_not_say_what_it_kept_is_noted(kept: dict[str, object]) -> None:
    _, found = reading(
        lines_of(pi.header(), {"type": "compaction", "id": "c", "parentId": None, "summary": "s", **kept})
    )
    entry, flaw = found
    assert isinstance(entry, Entry)
    assert entry.compaction in {Compaction(), Compaction(kept_from="")}
    assert isinstance(flaw, Flaw)
    assert (flaw.line, flaw.reason, flaw.lost) == (2, "unknown-view", False)


def test_a_command_that_the_user_kept_from_the_model_does_not_come_back_by_itself() -> None:
    assert not one(with_message(role="bashExecution", command="env", output="x", excludeFromContext=True)).automatic


@pytest.mark.parametrize("role", ["custom", "hookMessage"])
def test_messages_of_extensions_are_custom(role: str) -> None:
    entry = one(with_message(role=role, customType="note", content="from an extension"))
    assert (entry.role, entry.kind, entry.parts) == ("custom", "custom", ("from an extension",))


def test_system_prompts_are_not_searched() -> None:
    assert one(with_message(role="system", content="you are", sections={"a": "b"})).parts == ()


def test_summaries_keep_their_kind_and_are_no_automatic_evidence() -> None:
    compaction = one(pi.compaction("a", None, "b", "what happened"))
    assert (compaction.kind, compaction.role, compaction.automatic) == ("compaction", "summary", False)
    assert (compaction.parts, compaction.compaction) == (("what happened",), Compaction(kept_from="b"))
    branch = one(
        {"type": "branch_summary", "id": "a", "parentId": None, "timestamp": pi.stamp(0), "fromId": "x", "summary": "s"}
    )
    assert (branch.kind, branch.role, branch.automatic, branch.parts) == ("branch-summary", "summary", False, ("s",))


def test_context_edits_name_their_target() -> None:
    assert one(pi.context_edit("a", None, "b", None)).edit == Edit(target="b", replaced=False)
    assert one(pi.context_edit("a", None, "b", "short")).edit == Edit(target="b", replaced=True)


def test_labels_and_names_are_metadata() -> None:
    label = one({"type": "label", "id": "a", "parentId": None, "targetId": "b", "label": "good"})
    assert (label.kind, label.label, label.target, label.parts) == ("label", "good", "b", ())
    named = one({"type": "session_info", "id": "a", "parentId": None, "name": "My session"})
    assert (named.kind, named.label, named.target) == ("label", "My session", None)


@pytest.mark.parametrize("kind", ["model_change", "thinking_level_change", "usage", "custom", "something_new"])
def test_other_types_keep_the_chain_and_have_no_text(kind: str) -> None:
    entry = one({"type": kind, "id": "a", "parentId": "p", "data": {"opaque": "state"}, "customType": "x"})
    assert (entry.kind, entry.parts, entry.parent) == ("other", (), "p")


def test_custom_messages_are_searched() -> None:
    row: pi.Row = {
        "type": "custom_message",
        "customType": "n",
        "content": [{"type": "text", "text": "t"}],
        "display": True,
        "id": "a",
        "parentId": None,
    }
    assert one(row).parts == ("t",)


def test_the_source_line_can_be_found_again() -> None:
    content = lines_of(pi.header(), pi.message("a", None, "one")) + b'{"type":"message","id":"b","parentId":"a"}\r\n'
    _, found = reading(content)
    for entry in found:
        assert isinstance(entry, Entry)
        raw = content[entry.source.offset : entry.source.offset + entry.source.length]
        assert sha256(raw).digest() == entry.source.sha256
        assert raw.endswith(b"}")


@pytest.mark.parametrize(
    ("stamp", "canonical"),
    [
        ("2026-11-30T02:14:36.419Z", "2026-11-30T02:14:36.419Z"),
        ("2026-11-30T03:14:36.4191+01:00", "2026-11-30T02:14:36.419Z"),
        ("2026-11-30T02:14:36", "2026-11-30T02:14:36.000Z"),
        (1796004876419, "2026-11-30T02:14:36.419Z"),
        ("yesterday", None),
        (10**30, None),
        (True, None),
        ("0001-01-01T00:00:00+23:00", None),
    ],
)
def test_timestamps_have_one_form(stamp: object, canonical: str | None) -> None:
    assert (
        one({"type": "message", "id": "a", "parentId": None, "timestamp": stamp, "message": {"role": "user"}}).timestamp
        == canonical
    )


def test_the_time_of_the_message_stands_in_for_a_missing_one() -> None:
    row = {"type": "message", "id": "a", "parentId": None, "message": {"role": "user", "timestamp": 1796004876419}}
    assert one(row).timestamp == "2026-11-30T02:14:36.419Z"


def test_format_1_has_lines_as_ids_and_counts_objects() -> None:
    header = {"type": "session", "id": "v1", "timestamp": pi.stamp(0), "cwd": "/x", "branchedFrom": "/old.jsonl"}
    rows: list[pi.Row | bytes] = [
        {"type": "message", "timestamp": pi.stamp(1), "message": {"role": "user", "content": "one"}},
        b"",
        b"not json",
        {"type": "message", "timestamp": pi.stamp(2), "message": {"role": "user", "content": "two"}},
        {"type": "compaction", "timestamp": pi.stamp(3), "summary": "s", "firstKeptEntryIndex": 2},
    ]
    pass_, found = reading(lines_of(header, *rows))
    assert (pass_.header.version, pass_.header.parent) == (1, "/old.jsonl")
    made = [item for item in found if isinstance(item, Entry)]
    assert [(entry.id, entry.parent) for entry in made] == [("L2", None), ("L5", "L2"), ("L6", "L5")]
    # Object 0 is the header, 1 is line 2, 2 is line 5: blank and damaged lines do not count.
    assert made[-1].compaction == Compaction(kept_from="L5")


def test_format_2_has_ids_and_hook_messages() -> None:
    content = lines_of(
        pi.header(version=2), pi.message("a", None, "x") | {"message": {"role": "hookMessage", "content": "h"}}
    )
    pass_, found = reading(content)
    assert pass_.header.version == 2
    assert [(item.id, item.role) for item in found if isinstance(item, Entry)] == [("a", "custom")]


@pytest.mark.parametrize(
    ("version", "noted"), [(1, False), (3, False), (4, True), (9, True), (3.9, False), ("x", False)]
)
def test_a_later_version_is_read_and_said(version: object, noted: bool) -> None:
    _, found = reading(lines_of(pi.header(version=version), pi.message("a", None, "x")))
    flaws = [item for item in found if isinstance(item, Flaw)]
    assert flaws == ([Flaw(line=1, byte=0, reason="unknown-version", lost=False)] if noted else [])
    assert [item.id for item in found if isinstance(item, Entry)] == ["a"] or version == 1


def test_without_a_header_the_name_of_the_file_is_the_id() -> None:
    pass_, found = reading(lines_of(pi.message("a", None, "x")))
    assert pass_.header.session_id == "2026_stem"
    assert found[0] == Flaw(line=1, byte=0, reason="missing-header", lost=False)
    assert isinstance(found[1], Entry)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"type":"message","id":"b","parentId":"a","message":{"id":"no"', "invalid-json"),
        (b'{"type":"message","id":"b","parentId":"a","message":{"role":"user","content":"\xff"}}', "invalid-utf8"),
        (b"[1, 2]", "not-an-object"),
        (b'"text"', "not-an-object"),
        (b"\x00\x01\x02", "invalid-json"),
        (b"[" * 100_000, "invalid-json"),
    ],
)
def test_a_damaged_line_costs_that_line_and_its_ids_are_saved(line: bytes, reason: str) -> None:
    content = lines_of(pi.header(), pi.message("a", None, "x"), line, pi.message("c", "b", "y"))
    _, found = reading(content)
    (flaw,) = [item for item in found if isinstance(item, Flaw)]
    assert (flaw.line, flaw.reason, flaw.lost) == (3, reason, True)
    assert content[flaw.byte :].startswith(line)
    assert (flaw.id, flaw.parent) == (("b", "a") if line.startswith(b"{") else (None, None))
    assert [item.id for item in found if isinstance(item, Entry)] == ["a", "c"]


def test_a_line_beyond_the_limit_is_skipped_without_being_held(monkeypatch: pytest.MonkeyPatch) -> None:
    huge = (
        b'{"type":"message","id":"b","parentId":"a","message":{"role":"user","content":"'
        + b"x" * (64 * 1024 * 1024)
        + b'"}}'
    )
    content = lines_of(pi.header(), pi.message("a", None, "x"), huge, pi.message("c", "b", "y"))
    _, found = reading(content)
    flaw = found[1]
    assert isinstance(flaw, Flaw)
    assert (flaw.reason, flaw.line, flaw.id, flaw.parent) == ("too-long", 3, "b", "a")
    last = found[2]
    assert isinstance(last, Entry)
    assert (last.id, last.source.line) == ("c", 4)
    assert content[last.source.offset :].startswith(b'{"type": "message", "id": "c"')


@pytest.mark.parametrize("row", [
    {"type": "message", "id": 5, "parentId": 7, "timestamp": [], "message": {"role": 3, "content": {"a": 1}}},
    {"type": "message", "id": "a", "message": "text"},
    {"type": 7, "id": "a"},
    {"id": "a", "content": [1, None, {"type": "text", "text": 4}]},
    {"type": "message", "message": {"role": "assistant", "content": [{"type": "toolCall", "arguments": "x"}]}},
    {"type": "compaction", "id": "c", "summary": 5, "firstKeptEntryId": "c", "firstKeptEntryIndex": "2"},
    {"type": "session", "id": "again"},
    {},
])  # fmt: skip
def test_any_object_is_an_entry(row: pi.Row) -> None:
    assert len(entries(row)) == 1


def test_what_only_json_proper_takes_is_read_too() -> None:
    entry = entries(b'{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"\\ud800 x"}}')[0]
    assert entry.parts == ("\ud800 x",)
    assert entries(b'{"type":"message","id":"a","n":NaN,"message":{"role":"user","content":"x"}}')[0].parts == ("x",)


def test_encoded_data_is_left_out() -> None:
    encoded = "iVBORw0KGgoAAAANSUhEUg" * 40
    assert one(with_message(role="user", content=encoded)).parts == ()
    assert one(with_message(role="user", content=f"see data:image/png;base64,{encoded} end")).parts == (
        "see data:image/png;base64, end",
    )


def test_a_truncated_tail_is_read_again_when_it_is_complete() -> None:
    whole = lines_of(pi.header(), pi.message("a", None, "x"), pi.message("b", "a", "y"))
    cut = whole[:-20]
    first, found = reading(cut)
    assert isinstance(found[-1], Flaw)
    assert (found[-1].reason, found[-1].line) == ("truncated-tail", 3)
    assert cut[first.checkpoint.offset :].startswith(b'{"type": "message", "id": "b"')
    _, more = reading(whole, first.checkpoint)
    assert [item.id for item in more if isinstance(item, Entry)] == ["b"]


def test_a_complete_last_object_without_its_line_end_is_an_entry() -> None:
    whole = lines_of(pi.header(), pi.message("a", None, "x"), pi.message("b", "a", "y"))
    first, found = reading(whole[: whole.index(b'\n{"type": "message", "id": "b"')])
    assert [item.id for item in found if isinstance(item, Entry)] == ["a"]
    _, more = reading(whole, first.checkpoint)
    (entry,) = [item for item in more if isinstance(item, Entry)]
    assert (entry.id, entry.source.line) == ("b", 3)


def test_files_are_recognised_by_their_content() -> None:
    assert detect(lines_of(pi.header())) is next(readers())
    assert READER.detect(b"\xef\xbb\xbf" + lines_of(b"garbage", pi.message("a", None, "x")))
    for other in (b"", b"{}\n", b'{"type":"user","uuid":"x","sessionId":"y"}\n', b"[]\nno json\n", b"[" * 70_000,
                  b'{"timestamp":"x","type":"session_meta","payload":{}}\n', b'{"a":1}\n{"b":2}\n',
                  b'{"type":"message","parentUuid":null,"sessionId":"x"}\n'):  # fmt: skip
        assert not READER.detect(other)


@pytest.mark.parametrize("block", [1, 2, 3, 5, 100])
def test_lines_are_split_wherever_blocks_end(block: int) -> None:
    found = list(lines.split(io.BytesIO(b"ab\r\n\ncdefgh\nij"), longest=5, block=block))
    assert [(line.number, line.offset, line.data, line.ended, line.too_long) for line in found] == [
        (1, 0, b"ab", True, False),
        (2, 4, b"", True, False),
        (3, 5, b"cdefgh", True, True),
        (4, 12, b"ij", False, False),
    ]


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        *((b"1e30", 2**31 - 1), (b"1" + b"0" * 24, 2**31 - 1), (b"1e400", 2**31 - 1), (b"9" * 5000, 2**31 - 1)),
        *((b"-1e400", 0), (b"-7", 0), (b"NaN", 1), (b"true", 1), (b"[3]", 1), (b"null", 1), (b"2147483647", 2**31 - 1)),
    ],
)
def test_a_version_is_a_number_that_can_be_stored(written: bytes, kept: int) -> None:
    pass_, found = reading(b'{"type":"session","id":"big","cwd":"/","version":' + written + b"}\n")
    assert pass_.header.version == kept
    assert [item.reason for item in found if isinstance(item, Flaw)] == (["unknown-version"] if kept > 3 else [])


@pytest.mark.parametrize("role", [["x"], {}, 1, None, True])
def test_a_message_whose_role_is_no_text_is_nobodys(role: object) -> None:
    assert read_message({"role": role, "content": "x"}) is None
    changed = pi_context._edit([{"role": role}], {"replacement": {"content": "y"}})
    assert [read_message(message) for message in changed] == [None]
