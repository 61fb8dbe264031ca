"""Rows that a provider may not see, and what a failing policy does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace
from tests.values import make_entry, make_evidence, make_retrieval

from aforesaid.answers import Candidate, Matched, Ranked
from aforesaid.errors import PrivacyFailed, StoreBusy
from aforesaid.model import Branch, Run, Source, Tree
from aforesaid.privacy.judge import Judge
from aforesaid.privacy.policy import Policy
from aforesaid.privacy.rules import Rule
from aforesaid.withholding import FARTHEST, Gate, find_call, withhold, withhold_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.model import StoredEntry

SECRET = "[aforesaid:sensitive]x"
BRANCH = Branch(leaf=999, spans=((0, 999),), context=(), eligible=())


class Entries:
    """The part of a snapshot that is asked."""

    def __init__(self, *entries: StoredEntry, error: Exception | None = None) -> None:
        self._entries = {entry.row: entry for entry in entries}
        self._error = error
        self.asked: list[int] = []

    def entries(self, rows: Sequence[int]) -> tuple[StoredEntry, ...]:
        if self._error is not None:
            raise self._error
        self.asked += rows
        return tuple(self._entries[row] for row in rows if row in self._entries)


def ranked(text: str, row: int, digest: bytes | None = None, **more: object) -> Ranked:
    entry = make_entry(text, row=row, id=f"e{row}", digest=digest or bytes([row]) * 16, **more)
    return Ranked(
        candidate=Candidate(entry=entry, position=row, order=0), tier="other", score=1.0, addends=(), matched=Matched()
    )


def judge(**policy: Any) -> Judge:
    return Judge(Policy(enabled=True, **policy), project="/p")


def ids(rows: Sequence[Ranked]) -> list[str]:
    return [row.candidate.entry.id for row in rows]


def test_without_a_policy_everything_passes_and_nothing_is_judged() -> None:
    rows = [ranked(SECRET, 1)]
    judged = withhold(Entries(), rows, rows, BRANCH, Judge(Policy()))  # type: ignore[arg-type]
    assert (judged.cleared.values, judged.withheld, dict(judged.levels)) == (tuple(rows), (), {})


def test_prohibited_rows_are_left_out_with_id_class_and_reason() -> None:
    rows = [ranked("a", 1), ranked(SECRET, 2), ranked("[aforesaid:internal]b", 3)]
    judged = withhold(Entries(), rows, rows, BRANCH, judge())  # type: ignore[arg-type]
    assert ids(judged.cleared.values) == ["e1", "e3"]
    (left,) = judged.withheld
    assert (left.entry_id, left.classification, left.reason) == ("e2", "sensitive", "privacy-marker")
    hits = judged.classify([make_evidence("b", row=3), make_evidence("a", row=1)])
    assert [hit.classification for hit in hits] == ["internal", "normal"]


def test_a_text_equal_to_a_prohibited_one_is_prohibited() -> None:
    same = b"s" * 16
    rows = [ranked("the value", 1, same), ranked("the value", 2, same, files=("secrets/a",)), ranked("c", 3)]
    rule = Rule(classification="sensitive", path="secrets/**")
    judged = withhold(Entries(), rows, [rows[0], rows[2]], BRANCH, judge(rules=(rule,)))  # type: ignore[arg-type]
    assert ids(judged.cleared.values) == ["e3"]
    assert [(left.entry_id, left.reason) for left in judged.withheld] == [("e1", "privacy-path")]


def test_the_call_of_a_result_is_looked_up_only_if_a_rule_needs_it() -> None:
    call = make_entry("read", row=1, role="tool_call", calls=("c1",), files=("secrets/a",))
    entries = Entries(call)
    rows = [ranked("x", 2, role="tool_result", calls=("c1",))]
    assert withhold(entries, rows, rows, BRANCH, judge()).cleared.values == tuple(rows)  # type: ignore[arg-type]
    assert entries.asked == []
    rule = Rule(classification="sensitive", path="secrets/**")
    assert withhold(entries, rows, rows, BRANCH, judge(rules=(rule,))).cleared.values == ()  # type: ignore[arg-type]
    assert entries.asked == [1, 0]


def test_a_call_is_the_latest_of_its_id_on_the_branch() -> None:
    def call(row: int, id_: str, role: str = "tool_call") -> StoredEntry:
        return make_entry("call", row=row, calls=(id_,), role=role)

    result = make_entry("x", row=50, role="tool_result", calls=("c1",))
    spans = ((0, 9), (40, 60))
    entries = Entries(call(5, "c1"), call(20, "c1"), call(41, "c2"), call(49, "c1", "tool_result"), call(55, "c1"))
    found = find_call(entries, result, spans)  # type: ignore[arg-type]
    assert found is not None
    assert found.row == 5
    nearer = Entries(call(5, "c1"), call(48, "c1", "assistant"))
    found = find_call(nearer, result, spans)  # type: ignore[arg-type]
    assert found is not None
    assert found.row == 48
    assert len(nearer.asked) == 8


def test_a_call_that_is_too_far_away_or_has_no_id_is_not_found() -> None:
    call = make_entry("call", row=0, calls=("c1", ""), role="tool_call")
    entries = Entries(call)
    near = make_entry("x", row=FARTHEST, role="tool_result", calls=("c1",))
    far = make_entry("x", row=FARTHEST + 1, role="tool_result", calls=("c1",))
    nameless = make_entry("x", row=1, role="tool_result", calls=("",))
    spans = ((0, 999),)
    assert [find_call(entries, result, spans) for result in (near, far, nameless)] == [call, None, None]  # type: ignore[arg-type]


def test_a_call_may_open_a_stretch_of_the_branch_and_the_result_another() -> None:
    call = make_entry("call", row=9, calls=("c1",), role="tool_call")
    result = make_entry("x", row=40, role="tool_result", calls=("c1",))
    assert find_call(Entries(call), result, ((0, 9), (40, 60))) == call  # type: ignore[arg-type]
    assert find_call(Entries(call), result, ((0, 9), (50, 60))) is None  # type: ignore[arg-type]


# --- one by one -----------------------------------------------------------------------------------------------------


class Lines:
    """Raw lines by their offset; counts who is asked."""

    def __init__(self, **lines: bytes | None) -> None:
        self._lines = {int(name.strip("_")): line for name, line in lines.items()}
        self.asked: list[int] = []

    def __call__(self, source: Source) -> bytes | None:
        self.asked.append(source.offset)
        return self._lines[source.offset]


def at(row: int, text: str = "a", *, length: int = 9, **more: object) -> StoredEntry:
    source = Source(line=row, offset=row, length=length, sha256=b"")
    return make_entry(text, row=row, source=source, **more)


def test_a_gate_judges_the_stored_text_and_the_line_once() -> None:
    entries = Entries(at(1), at(2, SECRET), at(3), at(4))
    lines = Lines(_1=b'{"text": "a"}', _3=b'{"text": "[aforesaid:sensitive]a"}', _4=None)
    gate = Gate(entries, judge(), lines)  # type: ignore[arg-type]
    assert [gate.admits([row]) for row in (1, 2, 3, 4, 1, 2, 3)] == [True, False, False, False, True, False, False]
    assert (entries.asked, lines.asked) == ([1, 2, 3, 4], [1, 3, 4])


def test_a_gate_lets_equal_texts_go_together_or_not_at_all() -> None:
    lines = Lines(_1=b"{}", _3=b"{}")
    gate = Gate(Entries(at(1), at(2, SECRET), at(3)), judge(), lines)  # type: ignore[arg-type]
    assert gate.admits([1, 3])
    assert not gate.admits([1, 2])
    assert not gate.admits([2, 1])
    assert gate.admits([])


def test_a_gate_needs_no_line_where_there_is_none() -> None:
    lines = Lines(_1=b"")
    gate = Gate(Entries(at(1), at(2, length=0), at(3, SECRET, length=0)), judge(), lines)  # type: ignore[arg-type]
    assert [gate.admits([row]) for row in (1, 2, 3)] == [True, True, False]
    assert lines.asked == [1]


def test_an_open_gate_asks_nobody() -> None:
    entries = Entries(at(1, SECRET))
    assert Gate(entries, Judge(Policy()), Lines()).admits([1])  # type: ignore[arg-type]
    assert entries.asked == []


def test_a_gate_looks_up_the_call_of_a_result() -> None:
    call = at(1, "read", role="tool_call", calls=("c1",), files=("secrets/a",))
    result = at(2, role="tool_result", calls=("c1",))
    rule = Rule(classification="sensitive", path="secrets/**")
    tree = Tree(runs=(Run(first=1, last=2, parent=None),), marks=(), tail=2)
    for policy, allowed in ((judge(rules=(rule,)), False), (judge(), True)):
        entries = Entries(call, result)
        entries.tree = lambda: tree  # type: ignore[attr-defined]
        assert Gate(entries, policy, Lines(_2=b"{}")).admits([2]) is allowed  # type: ignore[arg-type]


def test_a_gate_that_fails_is_shut() -> None:
    with pytest.raises(PrivacyFailed):
        Gate(Entries(at(1)), judge(), Lines()).admits([1])  # type: ignore[arg-type]
    with pytest.raises(StoreBusy):
        Gate(Entries(error=StoreBusy("busy", "wait")), judge(), Lines()).admits([1])  # type: ignore[arg-type]


# --- failures -------------------------------------------------------------------------------------------------------


def test_an_error_of_the_policy_blocks_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError(SECRET)

    rows = [ranked(SECRET, 1)]
    broken = judge()
    monkeypatch.setattr(broken, "judge", fail)
    with pytest.raises(PrivacyFailed) as caught:
        withhold(Entries(), rows, rows, BRANCH, broken)  # type: ignore[arg-type]
    assert SECRET not in str(caught.value)
    monkeypatch.setattr(broken, "judge_line", fail)
    with pytest.raises(PrivacyFailed):
        withhold_lines(make_retrieval(make_evidence()), [b"{}"], broken)


def test_an_error_of_the_store_stays_what_it_is() -> None:
    entries = Entries(error=StoreBusy("busy", "wait"))
    rows = [ranked("x", 2, role="tool_result", calls=("c1",))]
    with pytest.raises(StoreBusy):
        withhold(entries, rows, rows, BRANCH, judge(rules=(Rule(classification="sensitive", path="x"),)))  # type: ignore[arg-type]


def test_hits_are_judged_again_by_their_lines() -> None:
    answer = make_retrieval(make_evidence("a", id="e1"), make_evidence("b", id="e2"), make_evidence("c", id="e3"))
    lines = (b'{"text": "a"}', b'{"text": "[aforesaid:sensitive]b"}', None)
    left = withhold_lines(answer, lines, judge())
    assert ids([hit.ranked for hit in left.hits]) == ["e1"]
    assert [(one.entry_id, one.classification, one.reason) for one in left.withheld] == [
        ("e2", "sensitive", "privacy-source"),
        ("e3", "normal", "privacy-source"),
    ]
    assert (left.diagnostics.privacy_excluded_count, left.diagnostics.selected_tokens) == (2, 120)


def test_lines_say_nothing_without_a_policy_or_a_transcript() -> None:
    answer = make_retrieval(make_evidence("a"))
    assert withhold_lines(answer, [None], Judge(Policy())) is answer
    assert withhold_lines(answer, [], judge()) is answer
    assert withhold_lines(answer, [b"{}"], judge()) is answer
    assert replace(answer) == answer
