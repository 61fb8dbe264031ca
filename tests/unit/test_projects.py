"""Whether two folders are the same project, and that everything that asks for one goes by that."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests import pi
from tests.fakes.entries import described

from aforesaid import Engine
from aforesaid.config import Config
from aforesaid.errors import BadArgument, ScopeNotAllowed
from aforesaid.hosts.places import check_other
from aforesaid.model import Header
from aforesaid.projects import find_folder, is_same, of_project, spellings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aforesaid.model import Session


@pytest.fixture
def moved(tmp_path: Path) -> tuple[str, str]:
    """A folder that was moved, with a link where it was: the old name and the new one."""
    old, new = tmp_path / "old", tmp_path / "new"
    new.mkdir()
    try:
        old.symlink_to(new, target_is_directory=True)
    except OSError:
        pytest.skip("needs links")
    return str(old), str(new)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    config = Config.load(settings=["historyTools.allowProjectScope=true"])
    with Engine.open(tmp_path / "store", config) as opened:
        yield opened


def write(engine: Engine, folder: Path, name: str, cwd: str | None) -> str:
    """Indexes a session that worked in a folder and says its own name."""
    rows = [pi.header(name, cwd=cwd), pi.message(f"{name}1", None, f"walnut {name}")]
    file = pi.write(folder / f"{name}.jsonl", rows)
    engine.index(file)
    return str(file)


def ids(sessions: tuple[Session, ...]) -> set[str]:
    return {one.header.session_id for one in sessions}


@pytest.mark.parametrize("other", ["p/", "p//", "./p", "q/../p", "p/."])
def test_separators_and_dots_make_no_difference(tmp_path: Path, other: str) -> None:
    assert is_same(str(tmp_path / "p"), f"{tmp_path}/{other}")
    assert not is_same(str(tmp_path / "pq"), f"{tmp_path}/{other}")
    assert not is_same(str(tmp_path), f"{tmp_path}/{other}"), "a folder is not what holds it"


def test_a_link_and_what_it_leads_to_are_one_folder(moved: tuple[str, str], tmp_path: Path) -> None:
    old, new = moved
    assert is_same(old, new)
    assert is_same(new + os.sep, old)
    assert not is_same(old, str(tmp_path / "other"))
    assert len(spellings(old)) == 2
    assert spellings(old)[-1] == spellings(new)[-1]


def test_a_folder_that_is_elsewhere_by_now_is_still_known_by_its_name(tmp_path: Path, moved: tuple[str, str]) -> None:
    old, _ = moved
    Path(old).unlink()
    assert is_same(old, old + os.sep)
    Path(old).symlink_to(tmp_path / "third")
    assert is_same(old, str(tmp_path / "third")), "also where nothing is"


@pytest.mark.parametrize(
    "odd", ["nul\x00", "/a\x00b", "/\udcff\ud800", "relative/p", "//server/share", "\\\\server\\s"]
)
def test_no_name_raises_and_each_is_itself_only(odd: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "relative" / "p").mkdir(parents=True)
    assert is_same(odd, odd)
    assert not is_same(odd, str(tmp_path / "relative" / "p")), "where this process works says nothing of a session"


def test_shares_are_never_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> str:
        raise AssertionError(path)

    monkeypatch.setattr(os.path, "realpath", refuse)
    assert spellings("//server/share/p")[0].replace("\\", "/") == "//server/share/p"


def test_each_folder_is_looked_at_once_however_many_sessions_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real = os.path.realpath

    def watched(path: str) -> str:
        asked.append(path)
        return real(path)

    monkeypatch.setattr(os.path, "realpath", watched)
    made = [
        described(f"/s/{number}.jsonl", header=Header(host="pi", session_id=str(number), cwd=cwd))
        for number, cwd in enumerate([f"/srv/p{place % 4}" for place in range(400)] + [None, ""])
    ]
    assert len(of_project(made, "/srv/p1/")) == 100
    assert len(asked) <= 5
    assert of_project(made, "/nowhere") == ()


def test_lists_searches_and_tools_of_models_agree_about_a_project(
    engine: Engine, tmp_path: Path, moved: tuple[str, str]
) -> None:
    old, new = moved
    a = write(engine, tmp_path, "a", old)
    b = write(engine, tmp_path, "b", new + "/")
    c = write(engine, tmp_path, "c", str(tmp_path / "other"))
    write(engine, tmp_path, "d", None)
    for named in (old, new, old + "/", f"{new}/../old"):
        assert ids(engine.sessions(project=named)) == {"a", "b"}
    assert engine.sessions(project=tmp_path) == ()
    for session in (a, b):
        page = engine.recall("walnut", session=session, scope="project")
        assert {hit.entry_id for hit in page.hits} == {"a1", "b1"}
        assert page.coverage.eligible_sessions == 2
    check_other(engine, "b", a, folder="", project=True)
    with pytest.raises(ScopeNotAllowed):
        check_other(engine, "b", c, folder="", project=True)


@pytest.mark.parametrize("named", ["old", "new"])
def test_a_project_is_forgotten_by_either_name_and_stays_out_by_each(
    engine: Engine, tmp_path: Path, moved: tuple[str, str], named: str
) -> None:
    old, new = moved
    write(engine, tmp_path, "a", old)
    write(engine, tmp_path, "b", new + "/")
    write(engine, tmp_path, "c", str(tmp_path / "other"))
    done = engine.forget(project=tmp_path / named, verify=True)
    assert sorted((one.session_id, one.whole) for one in done.sessions) == [("a", True), ("b", True)]
    assert done.verification is not None
    assert not done.verification.leftovers
    assert {hit.entry_id for hit in engine.recall("walnut", scope="host-wide").hits} == {"c1"}
    alias = tmp_path / "alias"
    alias.symlink_to(new, target_is_directory=True)
    for number, cwd in enumerate([old + "/", new, str(alias)]):
        write(engine, tmp_path, f"later{number}", cwd)
    write(engine, tmp_path, "e", str(tmp_path / "other") + "/")
    assert ids(engine.sessions()) == {"c", "e"}
    Path(old).unlink()
    write(engine, tmp_path, "f", old)
    assert ids(engine.sessions()) == ({"c", "e"} if named == "old" else {"c", "e", "f"})


@pytest.mark.parametrize("empty", ["", " ", "\t"])
def test_an_empty_name_is_no_folder_and_the_current_one_is_not_meant(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(engine, tmp_path, "here", str(tmp_path))
    for ask in (
        lambda: find_folder(empty),
        lambda: engine.sessions(project=empty),
        lambda: engine.forget(project=empty),
        lambda: engine.forget(project=empty, verify=True),
        lambda: engine.forget(project=empty, after="2020-01-01"),
        lambda: engine.index(empty),
    ):
        with pytest.raises(BadArgument, match="is empty"):
            ask()
    assert ids(engine.sessions(project=".")) == {"here"}
    assert find_folder("x") == str(tmp_path / "x")
