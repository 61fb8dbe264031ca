from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from aforesaid import listing
from aforesaid.listing import Listing

if TYPE_CHECKING:
    from pathlib import Path

HOUR = 3_600_000_000_000


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    made: list[object] = []
    real = os.listdir

    def watched(folder: str) -> list[str]:
        made.append(folder)
        return real(folder)

    monkeypatch.setattr(os, "listdir", watched)
    return made


def test_a_folder_that_changed_just_now_is_listed_each_time(tmp_path: Path, calls: list[object]) -> None:
    folder = Listing(str(tmp_path))
    for number in range(5):
        (tmp_path / f"{number}").touch()
        assert len(folder.names()) == number + 1
    same = folder.names()
    assert folder.names() is same
    assert len(calls) == 7


def test_a_settled_folder_is_listed_once_until_something_comes_or_goes(
    tmp_path: Path, calls: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "_TELLS", True)
    (tmp_path / "a").touch()
    os.utime(tmp_path, ns=(0, HOUR))
    folder = Listing(str(tmp_path))
    assert folder.names() is folder.names()
    assert len(calls) == 1
    (tmp_path / "b").touch()
    assert sorted(folder.names()) == ["a", "b"]
    os.utime(tmp_path, ns=(0, 2 * HOUR))
    assert sorted(folder.names()) == ["a", "b"]
    (tmp_path / "a").unlink()
    assert folder.names() == ["b"]
    monkeypatch.setattr(listing, "_TELLS", False)
    os.utime(tmp_path, ns=(0, 3 * HOUR))
    before = len(calls)
    assert folder.names() == folder.names() == ["b"]
    assert len(calls) == before + 2


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    folder = Listing(str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError):
        folder.names()
    (tmp_path / "none").mkdir()
    assert folder.names() == []
