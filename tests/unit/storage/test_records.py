"""Values come back from their stored forms as they were."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.words import any_text

from aforesaid.model import Checkpoint, Compaction, Edit, Flaw, Header, Session
from aforesaid.storage.sqlite.records import (
    Change,
    Extra,
    pack,
    pack_lengths,
    to_bytes,
    to_text,
    unpack_change,
    unpack_extra,
    unpack_lengths,
    unpack_session,
)

optional = st.none() | any_text


@given(st.lists(any_text, max_size=5))
def test_any_text_becomes_bytes_that_compare_as_the_texts_do(texts: list[str]) -> None:
    assert [to_text(to_bytes(text)) for text in texts] == texts
    assert sorted(texts) == [to_text(data) for data in sorted(map(to_bytes, texts))]


@given(st.lists(any_text, max_size=2), optional, optional)
def test_extra_fields_come_back(names: list[str], label: str | None, target: str | None) -> None:
    extra = Extra(tuple(names), tuple(reversed(names)), tuple(names), label, target)
    assert unpack_extra(pack(extra)) == extra


@given(optional, st.lists(any_text, max_size=2), any_text, st.booleans())
def test_marks_come_back(first: str | None, kept: list[str], target: str, replaced: bool) -> None:
    for change in (
        Change(Compaction(kept_from=first, kept=tuple(kept)), None),
        Change(None, Edit(target=target, replaced=replaced)),
    ):
        assert unpack_change(pack(change)) == change


@given(any_text, optional, st.binary(max_size=4), st.integers(-(2**63), 2**63 - 1))
def test_sessions_come_back(text: str, other: str | None, data: bytes, number: int) -> None:
    session = Session(
        key="k",
        file=text,
        header=Header(host="pi", session_id=text, cwd=other, parent=text),
        name=other,
        flaws=(Flaw(line=1, byte=2, reason="invalid-json", id=text, parent=other, lost=False),),
        checkpoint=Checkpoint(head=data, tail=data, mtime_ns=number, state=text),
    )
    assert unpack_session(pack(session)) == session


@given(st.lists(st.integers(0, 10**9), max_size=5))
def test_lengths_come_back(lengths: list[int]) -> None:
    assert unpack_lengths(pack_lengths(tuple(lengths))) == tuple(lengths)
