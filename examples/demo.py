"""`make demo`: indexes the example sessions and shows for three requests which evidence comes back, and why."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

SESSIONS = Path(__file__).parent / "pi"
SESSION = str(SESSIONS / "payments-service.jsonl")

STEPS = (
    (
        "Index the example sessions: Pi wrote them, aforesaid only reads them.",
        ["index", str(SESSIONS)],
    ),
    (
        "1. The session's own latest request. The compaction's summary has neither the code nor the decision.",
        ["retrieve", "--session", SESSION],
    ),
    (
        "2. In Italian, about a command and a port. What was tried on the abandoned branch (6432) does not come back.",
        ["retrieve", "--session", SESSION, "--query", "Su quale porta ascolta il database di staging per `alembic`?"],
    ),
    (
        "3. No topic, no evidence.",
        ["retrieve", "--session", SESSION, "--query", "procedi pure con tutto il resto, grazie"],
    ),
)


def main() -> int:
    """Runs the steps in a store that is thrown away."""
    with tempfile.TemporaryDirectory() as store:
        for title, arguments in STEPS:
            shown = " ".join(f"'{part}'" if " " in part else part for part in arguments).replace(
                str(SESSIONS), "examples/pi"
            )
            print(
                f"\n\033[1m{title}\033[0m\n$ aforesaid {shown}\n"
                if sys.stdout.isatty()
                else f"\n{title}\n$ aforesaid {shown}\n"
            )
            sys.stdout.flush()
            command = [
                sys.executable,
                "-m",
                "aforesaid",
                "--store",
                store,
                "--set",
                "retrieval.maxResults=3",
                *arguments,
            ]
            status = subprocess.run(command, check=False).returncode
            if status:
                return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
