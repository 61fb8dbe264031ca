"""The pure part of the extension, under the Node that Pi runs on."""

from __future__ import annotations

import os
import subprocess

from tests.conftest import ROOT
from tests.realpi import NODE, needs_pi

from aforesaid.hosts.pi.installation import extension_file

pytestmark = needs_pi


def test_the_rules_of_a_run() -> None:
    run = extension_file().replace("index.ts", "run.ts")
    done = subprocess.run(
        [str(NODE), "--no-warnings", "--test", str(ROOT / "tests" / "fixtures" / "pi" / "run.test.mjs")],
        env={**os.environ, "RUN_TS": run}, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout.decode()
    assert "pass 9" in done.stdout.decode()
