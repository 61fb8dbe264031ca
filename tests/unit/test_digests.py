"""The hash functions of the start of a command are those of `hashlib`."""

from __future__ import annotations

import hashlib
import sys

import pytest

from aforesaid import digests


@pytest.fixture(autouse=True)
def afresh() -> None:
    digests._light.cache_clear()
    digests._fast.cache_clear()


@pytest.mark.parametrize("size", [0, 1, 1000, digests._LARGE - 1, digests._LARGE, digests._LARGE + 1])
def test_the_digest_is_that_of_hashlib(size: int) -> None:
    data = bytes(range(256)) * (size // 256 + 1)
    assert digests.sha256(data[:size]) == hashlib.sha256(data[:size]).digest()


def test_a_python_without_its_own_functions_takes_those_of_openssl(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_sha2", "_sha256"):
        monkeypatch.setitem(sys.modules, name, None)
    assert digests._light() is hashlib.sha256
    assert digests.sha256(b"x") == hashlib.sha256(b"x").digest()


def test_openssl_is_asked_for_much_at_once_only(monkeypatch: pytest.MonkeyPatch) -> None:
    digests._fast()
    monkeypatch.setattr(digests, "_light", lambda: pytest.fail("much at once"))
    assert digests.sha256(bytes(digests._LARGE)) == hashlib.sha256(bytes(digests._LARGE)).digest()
    assert digests._fast() is hashlib.sha256
