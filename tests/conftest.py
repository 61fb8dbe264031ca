"""What all tests share: where the evaluation data is, and hypothesis profiles."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("AFORESAID_DATA", ROOT.parent / "shared" / "data"))

settings.register_profile(
    "ci",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("ci")


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell tells what it runs in the background to ignore interruptions, and every child would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder with real transcripts and question sets."""
    return DATA


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out tests on data that is not here, with one line; CI fails without it."""
    wanted = [item for item in items if item.get_closest_marker("data")]
    if not wanted or DATA.is_dir():
        return
    if os.environ.get("CI"):
        pytest.exit(f"{len(wanted)} tests need AFORESAID_DATA, and {DATA} does not exist", returncode=1)
    items[:] = [item for item in items if item not in wanted]
    config.get_terminal_writer().line(f"{len(wanted)} tests not collected: no data at {DATA}")
