"""The one file that is added to Pi's folder, and how it is taken back."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rights import bound_by_modes

from aforesaid.errors import OperationError
from aforesaid.hosts.changes import carry_out
from aforesaid.hosts.pi import installation
from aforesaid.hosts.pi.installation import MARK, extension_file, plan_install, plan_uninstall

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "Pi's own" / "agent"
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(folder))
    return folder


def listing(folder: Path) -> dict[str, bytes | None]:
    """Every file with its bytes, every folder with None."""
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def nothing(_: Path) -> None: ...


def only_agent(agent: Path) -> None:
    agent.mkdir(parents=True)
    (agent / "settings.json").write_bytes(b'{\r\n  // by hand\r\n  "theme": "dark",}\r\n')


def other_extensions(agent: Path) -> None:
    only_agent(agent)
    (agent / "extensions").mkdir()
    (agent / "extensions" / "mine.ts").write_text("export default () => {}")


def empty_extensions(agent: Path) -> None:
    only_agent(agent)
    (agent / "extensions").mkdir()


@pytest.mark.parametrize("before", [nothing, only_agent, other_extensions, empty_extensions])
def test_uninstalling_restores_exactly_what_was_there(
    agent: Path, tmp_path: Path, before: Callable[[Path], None]
) -> None:
    before(agent)
    found = listing(tmp_path)
    carry_out(plan_install())
    installed = listing(tmp_path)
    assert installed != found
    assert {path: content for path, content in installed.items() if path in found} == found
    assert plan_install() == ()
    carry_out(plan_install())
    assert listing(tmp_path) == installed
    carry_out(plan_uninstall())
    assert listing(tmp_path) == found
    assert plan_uninstall() == ()


def test_how_long_pi_may_wait_is_known_before_the_service_can_say_it(
    agent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "user_file", lambda: "/own/config.json")
    given = ("--store", "host.timeoutMs=1", "--config", "/named.json", "--set", "host.timeoutMs=90")
    planned = plan_install((*given, "--set", "retrieval.maxResults=3"))
    (content,) = [change.content for change in planned if change.content]
    line = next(line for line in content.splitlines() if line.startswith("const launch"))
    launch = json.loads(line.removeprefix("const launch = ").rstrip(";"))
    assert (launch["files"], launch["host"]) == (["/own/config.json", "/named.json"], {"timeoutMs": 90})


def test_planning_changes_nothing(agent: Path, tmp_path: Path) -> None:
    planned = plan_install()
    assert listing(tmp_path) == {}
    assert [change.action for change in planned] == ["make-folder", "make-folder", "make-folder", "create"]
    carry_out(planned)
    installed = listing(tmp_path)
    plan_uninstall()
    assert listing(tmp_path) == installed
    assert (agent / "extensions" / "aforesaid.ts").read_text() == planned[-1].content


def test_the_file_names_interpreter_extension_and_options(agent: Path) -> None:
    (content,) = (change.content for change in plan_install(["--store", 'a "b"']) if change.content)
    assert str(Path(sys.executable).absolute()) in content
    assert '"-P", "-m", "aforesaid", "serve", "--store", "a \\"b\\""]' in content
    assert extension_file() in content
    assert Path(extension_file()).is_file()
    assert content.startswith(MARK)


def test_another_interpreter_or_other_options_replace_the_file_and_what_was_made_stays_known(
    agent: Path, tmp_path: Path
) -> None:
    carry_out(plan_install())
    (change,) = plan_install(["--store", "/elsewhere"])
    assert change.action == "replace"
    carry_out([change])
    carry_out(plan_uninstall())
    assert listing(tmp_path) == {}


def test_a_folder_that_is_used_by_others_meanwhile_stays(agent: Path) -> None:
    carry_out(plan_install())
    (agent / "extensions" / "mine.ts").write_text("mine")
    carry_out(plan_uninstall())
    assert list(listing(agent.parent)) == [
        *(str(agent), str(agent / "extensions"), str(agent / "extensions" / "mine.ts"))
    ]


@pytest.mark.parametrize("content", [b"", b"export default () => {}\n", b"\xff\xfe", MARK[:-3].encode()])
def test_a_file_of_somebody_else_is_neither_replaced_nor_deleted(agent: Path, content: bytes) -> None:
    file = agent / "extensions" / "aforesaid.ts"
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    for plan in (plan_install, plan_uninstall):
        with pytest.raises(OperationError, match=r"aforesaid\.ts"):
            plan()
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    "notes", ["", "{", "[]", '{"made": 7}', '{"made": ["..", "/", "../..", "extensions/../../x"]}', '{"made": [null]}']
)
def test_a_first_line_that_was_edited_leads_nowhere(agent: Path, notes: str) -> None:
    agent.mkdir(parents=True)
    carry_out(plan_install())
    file = agent / "extensions" / "aforesaid.ts"
    file.write_text(f"{MARK}{notes}\nwhatever\n")
    assert [change.path for change in plan_uninstall()] == [str(file)]


@given(notes=st.text())
def test_no_first_line_removes_a_folder_that_is_not_on_the_way_to_the_file(notes: str) -> None:
    file = str(Path(installation.agent_folder(), installation.FILE))
    for folder in installation._made(f"{MARK}{notes}", file):
        assert file.startswith(folder + os.sep)


def test_what_the_system_refuses_is_told(agent: Path) -> None:
    (agent / "extensions").mkdir(parents=True)
    (agent / "extensions").chmod(0o500)
    try:
        with pytest.raises(OperationError, match="cannot be changed"):
            bound_by_modes(lambda: carry_out(plan_install()))
        assert list((agent / "extensions").iterdir()) == []
    finally:
        (agent / "extensions").chmod(0o700)


def test_a_draft_does_not_stay_when_the_file_cannot_be_put_in_place(
    agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("aforesaid.hosts.changes.os.replace", refuse)
    with pytest.raises(OperationError, match="Permission denied"):
        carry_out(plan_install())
    assert list((agent / "extensions").iterdir()) == []


def test_without_the_variable_it_is_the_folder_in_the_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PI_CODING_AGENT_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert installation.agent_folder() == str(tmp_path / ".pi" / "agent")
    monkeypatch.setenv("PI_CODING_AGENT_DIR", "~/elsewhere")
    assert installation.agent_folder() == str(tmp_path / "elsewhere")
