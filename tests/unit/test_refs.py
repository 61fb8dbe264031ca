from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.words import any_text

from aforesaid.errors import RefInvalid
from aforesaid.inquiry import SCOPES
from aforesaid.refs import MOST_REFS, Issuer, Ref, read_ref, seal, unseal, write_ref

ISSUER = Issuer(secret=b"s" * 32, now=1_000_000)
REF = Ref(session="0" * 32, entry="e1", line=b"12345678", scope="current-branch", leaf=7)


@given(
    any_text, st.sampled_from(["0f" * 16, "key:/a/b", "F" * 32, ""]), st.sampled_from(SCOPES), st.none() | st.just(3)
)
def test_a_ref_comes_back_as_it_was(entry: str, key: str, scope: str, leaf: int | None) -> None:
    ref = Ref(session=key, entry=entry, line=b"\x00\xff", scope=scope, leaf=leaf)  # type: ignore[arg-type]
    text = write_ref(ref, ISSUER)
    assert read_ref(text, ISSUER) == ref
    assert not text.startswith("-")
    assert text.replace("-", "").replace("_", "").isalnum()


def test_a_ref_of_an_ordinary_entry_is_short() -> None:
    assert len(write_ref(replace(REF, entry="0a1b2c3d"), ISSUER)) < 80


@pytest.mark.parametrize(
    "other",
    [
        replace(ISSUER, secret=b"t" * 32),
        replace(ISSUER, name="service"),
    ],
)
def test_another_issuers_ref_is_refused(other: Issuer) -> None:
    with pytest.raises(RefInvalid):
        read_ref(write_ref(REF, ISSUER), other)


def test_a_changed_ref_is_refused_wherever_it_was_changed() -> None:
    text = write_ref(REF, ISSUER)
    for place in range(len(text)):
        for letter in ("A", "B", "_"):
            changed = f"{text[:place]}{letter}{text[place + 1 :]}"
            if changed != text:
                with pytest.raises(RefInvalid):
                    read_ref(changed, ISSUER)
    more = (text[:-1], text + "A", text + "=", text * 2, "", "é", "a" * 100_000, "====", text + "\n", " " + text)
    for changed in more:
        with pytest.raises(RefInvalid):
            read_ref(changed, ISSUER)


@given(any_text)
def test_no_text_raises_anything_else(text: str) -> None:
    with pytest.raises(RefInvalid):
        read_ref(text, ISSUER)


def test_a_cursor_is_no_ref() -> None:
    sealed = seal("cursor", [b"", b"", b"", 0, None, 0], ISSUER)
    assert unseal("cursor", sealed, ISSUER) is not None
    with pytest.raises(RefInvalid):
        read_ref(sealed, ISSUER)


def test_refs_expire_if_they_are_said_to() -> None:
    short = replace(ISSUER, lasts=3600)
    text = write_ref(REF, short)
    assert read_ref(text, replace(short, now=ISSUER.now + 3600)) == REF
    with pytest.raises(RefInvalid, match="too old"):
        read_ref(text, replace(short, now=ISSUER.now + 3600 + 180))
    assert read_ref(write_ref(REF, ISSUER), replace(ISSUER, now=10**10)) == REF


def test_of_refs_that_expire_only_the_latest_are_accepted() -> None:
    service = replace(ISSUER, lasts=3600, given=5)
    first, second = (write_ref(REF, service, place) for place in range(2))
    assert first != second
    for before in (0, 5, 6, 5 + MOST_REFS):
        assert read_ref(first, replace(service, given=before)) == REF
    for ref, limit in ((first, 6 + MOST_REFS), (second, 7 + MOST_REFS)):
        assert read_ref(ref, replace(service, given=limit - 1)) == REF
        with pytest.raises(RefInvalid, match="too old"):
            read_ref(ref, replace(service, given=limit))


def test_refs_that_do_not_expire_are_the_same_whenever_they_are_given_out() -> None:
    assert write_ref(REF, ISSUER, 3) == write_ref(REF, replace(ISSUER, given=9, now=5), 4)
    assert read_ref(write_ref(REF, ISSUER), replace(ISSUER, given=10**9)) == REF
