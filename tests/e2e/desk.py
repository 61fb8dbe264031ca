"""One made-up user: a home, a store, a session that was compacted, and the command as a real process."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tests import pi
from tests.conftest import ROOT
from tests.schemas import check

if TYPE_CHECKING:
    from pathlib import Path

    from tests.pi import Row

posix = pytest.mark.skipif(os.name != "posix", reason="modes, signals and users of POSIX")
SESSION = "11111111-2222-7333-8444-555555555555"
COMMAND = [sys.executable, "-m", "aforesaid"]


class Done(NamedTuple):
    status: int
    out: str
    err: str


class Desk(NamedTuple):
    """A home, a store and a folder of transcripts of one made-up user."""

    folder: Path
    environment: dict[str, str]

    @property
    def store(self) -> Path:
        return self.folder / "store"

    def run(self, *arguments: str | Path, given: bytes | None = None, **more: Any) -> Done:
        environment = {**self.environment, **more.pop("environment", {})}
        done = subprocess.run(
            [*COMMAND, *map(str, arguments)], input=given, capture_output=True, env=environment, cwd=self.folder,
            timeout=120, check=False, **more,
        )  # fmt: skip
        assert b"Traceback" not in done.stderr
        return Done(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

    def json(self, name: str, *arguments: str | Path, **more: Any) -> Any:
        return check(name, self.run(*arguments, "--json", **more).out)

    def refused(self, *arguments: str | Path, **more: Any) -> tuple[str, int]:
        """Code and exit status of a command that ends with the error document and one line."""
        done = self.run(*arguments, "--json", **more)
        error = check("error", done.out)["error"]
        assert done.err.splitlines()[-1] == f"error[{error['code']}]: {error['message']}; {error['hint']}"
        return error["code"], done.status


def make_desk(folder: Path) -> Desk:
    environment = {
        name: value for name, value in os.environ.items() if name not in {"FORCE_COLOR", "NO_COLOR", "COLUMNS"}
    }
    environment |= {
        "HOME": str(folder),
        "USERPROFILE": str(folder),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_DATA_HOME": str(folder / "data"),
        "AFORESAID_STORE": str(folder / "store"),
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return Desk(folder, environment)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return make_desk(tmp_path)


TEXTS = (
    "Use port 5433 for the database, please.",
    "I set `PG_PORT` to 5433 in src/db.py.",
    "The migration failed with E0042 in `apply_schema`.",
    "Fixed: apply_schema now waits for the lock.",
    "Now draw the sequence diagram.",
    "The sequence diagram is in docs/flow.svg.",
    "Which value has `PG_PORT`?",
)


def compacted() -> list[Row]:
    """A session whose first four messages a compaction removed; its last message asks for one of them."""
    rows = pi.conversation(TEXTS[:6])
    cut = pi.compaction("c0000000", rows[-1]["id"], rows[4]["id"], "we did things", 6)
    return [pi.header(), *rows, cut, *pi.conversation(TEXTS[6:], 7, "f", "c0000000")]


@pytest.fixture
def transcript(desk: Desk) -> Path:
    return pi.write(desk.folder / "session.jsonl", compacted())


@pytest.fixture
def bound() -> dict[str, Any]:
    """Arguments of `Desk.run` that make the modes of files count for the process, even if tests run as root."""
    if os.geteuid() != 0:
        return {}
    if sys.platform != "linux":
        pytest.skip("root cannot give up its rights here")
    import ctypes

    prctl = ctypes.CDLL(None, use_errno=True).prctl
    drop, dac_override, dac_read_search = 24, 1, 2

    def give_up() -> None:
        for capability in (dac_override, dac_read_search):
            if prctl(drop, capability, 0, 0, 0) != 0:
                raise OSError(ctypes.get_errno(), "a capability cannot be dropped")

    return {"preexec_fn": give_up}
