"""Values come back from their stored forms as they were."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from tests.words import any_text

from aforesaid.model import Checkpoint, Compaction, Edit, Flaw, Header, Session
from aforesaid.storage.sqlite.records import (
    Change,
    Extra,
    from_id,
    from_stamp,
    pack,
    pack_extra,
    pack_lengths,
    squeeze,
    to_bytes,
    to_id,
    to_stamp,
    to_text,
    unpack_change,
    unpack_extra,
    unpack_lengths,
    unpack_session,
    unsqueeze,
)

optional = st.none() | any_text


@given(st.lists(any_text, max_size=5))
def test_any_text_becomes_bytes_that_compare_as_the_texts_do(texts: list[str]) -> None:
    assert [to_text(to_bytes(text)) for text in texts] == texts
    assert sorted(texts) == [to_text(data) for data in sorted(map(to_bytes, texts))]


@given(st.lists(any_text, max_size=2), optional, optional)
def test_extra_fields_come_back(names: list[str], label: str | None, target: str | None) -> None:
    extra = Extra(tuple(names), tuple(reversed(names)), tuple(names), label, target)
    assert unpack_extra(pack_extra(extra)) == extra


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


@given(
    any_text
    | st.binary(min_size=4, max_size=4).map(bytes.hex)
    | st.uuids().map(str)
    | st.text("0123456789abcdefABCDEF-{} ", min_size=8, max_size=36)
)
@example("DEADBEEF")
@example("de ad be")
@example("{12345678}")
@example("0123456789abcdef-0123456789abcdef-01")
def test_ids_come_back(id_: str) -> None:
    assert from_id(to_id(id_)) == id_


def test_ids_of_the_hosts_are_stored_small() -> None:
    assert len(to_id("0a1b2c3d")) == 5
    assert len(to_id("11111111-2222-7333-8444-555555555555")) == 17


@given(
    st.none()
    | any_text
    | st.datetimes().map(lambda at: at.isoformat(timespec="milliseconds") + "Z")
    | st.text("0123456789-T:.Z+", min_size=20, max_size=26)
)
@example("2026-11-30T24:00:00.000Z")
@example("2026-11-30T23:59:60.000Z")
@example("2026-11-30 23:59:59.000Z")
@example("2026-11-30T+1:59:59.000Z")
@example("2026-W48-1T01:02:03.004Z")
@example("20261130")
def test_timestamps_come_back(timestamp: str | None) -> None:
    assert from_stamp(to_stamp(timestamp)) == timestamp


def test_timestamps_that_are_written_otherwise_stay_texts() -> None:
    for odd in (
        "2026-11-30T24:00:00.000Z",
        "2026-W01-1T00:00:00.000Z",
        "2026-11-30T+1:00:00.000Z",
        "2026-11-30T08:60:00.000Z",
        "2026-11-30T08:00:61.000Z",
        "2026-11-30T08:00:00.0000Z",
        "2026-11-30T08:00:00.000z",
        "2026-11-30T08:00:00,000Z",
        "2026-11-30T08:0\u0663:00.000Z",
        "9999-12-31T24:00:00.000Z",
        "",
    ):
        assert to_stamp(odd) == odd


def test_long_texts_lose_their_repetitions() -> None:
    assert len(squeeze(b"the same again, " * 200)) < 200
    assert len(squeeze(b"the same again, " * 20)) < 320
    assert unsqueeze(squeeze(b"the same again, " * 20)) == b"the same again, " * 20


def test_ordinary_timestamps_are_numbers() -> None:
    assert to_stamp("1970-01-01T00:00:01.002Z") == 1002
    assert to_stamp("1969-12-31T23:59:59.999Z") == -1


@given(st.text(max_size=500))
def test_compressed_texts_come_back(text: str) -> None:
    data = to_bytes(text * 20)
    assert unsqueeze(squeeze(data)) == data


@given(st.lists(st.integers(0, 10**9), max_size=5))
def test_lengths_come_back(lengths: list[int]) -> None:
    assert unpack_lengths(pack_lengths(tuple(lengths))) == tuple(lengths)
