"""The pure parts of the extension, under the Node that Pi runs on."""

from __future__ import annotations

import os
import subprocess

import pytest
from tests.conftest import ROOT
from tests.realpi import NODE, needs_pi

from aforesaid.hosts.pi.installation import extension_file

pytestmark = needs_pi


@pytest.mark.parametrize(("name", "tests"), [("run", 11), ("clearing", 9)])
def test_the_pure_parts(name: str, tests: int) -> None:
    module = extension_file().replace("index.ts", f"{name}.ts")
    done = subprocess.run(
        [str(NODE), "--no-warnings", "--test", str(ROOT / "tests" / "fixtures" / "pi" / f"{name}.test.mjs")],
        env={**os.environ, "MODULE_TS": module}, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout.decode()
    assert f"pass {tests}\n" in done.stdout.decode()
