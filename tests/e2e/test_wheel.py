"""The wheel that users install: what is in it, and that Pi gets its evidence from it and from nothing else.

It is built and installed without an index: what builds it and what it needs are those of the tests' environment.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.conftest import ROOT
from tests.realpi import QUESTION, Home, Model, Pi, carries_the_fact, lose_the_fact, needs_pi

if TYPE_CHECKING:
    from collections.abc import Iterable

PACKAGE = ROOT / "src" / "aforesaid"
KINDS = {".py", ".ts", ".json", ".toml", ".typed"}
"""What a package of ours is made of."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(folder), str(ROOT)], check=True, timeout=120)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of a fresh environment with the wheel in it."""
    folder = tmp_path_factory.mktemp("user") / "a folder with blanks"
    venv.create(folder, with_pip=False)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    python = programs / Path(sys.executable).name
    asked = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    place = Path(subprocess.run(asked, check=True, capture_output=True, timeout=60).stdout.decode().strip())
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*command, str(wheel)], check=True, timeout=120)
    # Its dependencies; a path that is added so comes last, and no editable installation there is looked at.
    (place / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return programs


def members(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as opened:
        return opened.namelist()


def test_the_wheel_holds_the_package_as_it_is_and_nothing_else(wheel: Path) -> None:
    names = members(wheel)
    assert len(names) == len(set(names))
    own = {name.removeprefix("aforesaid/") for name in names if name.startswith("aforesaid/")}
    there = {file.relative_to(PACKAGE).as_posix() for file in sources()}
    assert own == there
    others = {name.partition("/")[2] for name in names if not name.startswith("aforesaid/")}
    assert others == {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}
    assert {"hosts/pi/extension/index.ts", "hosts/pi/extension/package.json", "hosts/tools.json", "py.typed"} <= own
    assert {os.path.splitext(name)[1] for name in own} == KINDS  # noqa: PTH122 - names within an archive
    with zipfile.ZipFile(wheel) as opened:
        for file in sources():
            name = file.relative_to(PACKAGE).as_posix()
            assert opened.read(f"aforesaid/{name}") == file.read_bytes(), name


def sources() -> Iterable[Path]:
    return (file for file in PACKAGE.rglob("*") if file.is_file() and "__pycache__" not in file.parts)


@needs_pi
def test_pi_gets_its_evidence_from_an_installed_wheel(installed: Path, tmp_path: Path, model: Model) -> None:
    home = Home(tmp_path, model)
    del home.environment["PYTHONPATH"]
    aforesaid = [str(installed / "aforesaid")]

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [*aforesaid, *arguments], env=home.environment, cwd=home.work, capture_output=True, timeout=60, check=True
        )
        return done.stdout.decode()

    run("install", "pi")
    loader = home.loader.read_text()
    assert str(ROOT) not in loader
    assert loader.count(str(installed.parent)) == 2, "the interpreter and the extension"
    with Pi(home) as pi:
        lose_the_fact(pi)
        pi.prompt(QUESTION)
        assert carries_the_fact(model.calls[-1])
        assert "the last one: planned" in pi.say("/context")
        assert pi.faults == []
    assert "answers: version" in run("doctor")
    run("uninstall", "pi")
    assert not home.loader.parent.exists()
