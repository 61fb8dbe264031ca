"""The comparison of docs/decisions/0009-secret-rules.md, for the collections that are installed.

    python benchmarks/secret_collections.py

Needs none of them: `detect_secrets` and `kingfisher_sdk` are imported if they are there, `gitleaks` is run if it is on
the path. Prints for each how many secrets it found, how many of them it covers to nine tenths, how many clean lines it
hits, and its speed on this repository's own source.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from aforesaid.cli.bench.look_alikes import lines
from aforesaid.cli.bench.secret_corpus import cases
from aforesaid.privacy.secrets import find_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Scan = Callable[[Sequence[str]], list[list[str]]]


def ours(texts: Sequence[str]) -> list[list[str]]:
    """What this product finds."""
    return [[text[secret.start : secret.end] for secret in find_secrets(text)] for text in texts]


def kingfisher(texts: Sequence[str]) -> list[list[str]]:
    """What kingfisher finds."""
    from kingfisher_sdk import Scanner

    scanner = Scanner()
    return [[str(finding.secret) for finding in scanner.scan(text)] for text in texts]


def detect_secrets(texts: Sequence[str]) -> list[list[str]]:
    """What detect-secrets finds in files with these texts."""
    from detect_secrets.core.scan import scan_file
    from detect_secrets.settings import default_settings

    with tempfile.TemporaryDirectory() as folder, default_settings():
        return [[secret.secret_value or "" for secret in scan_file(str(file))] for file in _files(texts, folder)]


def gitleaks(texts: Sequence[str]) -> list[list[str]]:
    """What gitleaks finds in files with these texts."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as out:
        files = _files(texts, folder)
        report = Path(out) / "report.json"
        command = ["gitleaks", "dir", folder, "-r", str(report), "--no-banner", "-l", "error", "--exit-code", "0"]
        subprocess.run(command, check=True)
        found: dict[str, list[str]] = {}
        for one in json.loads(report.read_text("utf-8")):
            found.setdefault(Path(one["File"]).name, []).append(one["Secret"])
        return [found.get(file.name, []) for file in files]


def _files(texts: Sequence[str], folder: str) -> list[Path]:
    files = [Path(folder) / f"{number}.txt" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, "utf-8")
    return files


def measure(name: str, scan: Scan) -> None:
    """Prints the line of one collection."""
    wanted = list(cases())
    found = covered = 0
    for case, secrets in zip(wanted, scan([case.text for case in wanted]), strict=True):
        core = case.text[case.start : case.end]
        found += bool(secrets)
        covered += any(core in one or (one and one in core and len(one) * 10 >= len(core) * 9) for one in secrets)
    clean = list(lines())
    alarms = sum(bool(secrets) for secrets in scan(clean))
    source = [file.read_text("utf-8") for file in sorted(Path(__file__).parents[1].glob("src/**/*.py"))]
    started = perf_counter()
    scan(source)
    speed = sum(map(len, source)) / 1e6 / (perf_counter() - started)
    share = f"found {found / len(wanted):.3f}, covered {covered / len(wanted):.3f}"
    print(f"{name:<16} {share}, clean lines hit {alarms / len(clean):.2%}, {speed:.1f} MB/s")


def main() -> None:
    """Measures what is there."""
    measure("ours", ours)
    if shutil.which("gitleaks"):
        measure("gitleaks", gitleaks)
    for name, scan in (("detect-secrets", detect_secrets), ("kingfisher", kingfisher)):
        try:
            measure(name, scan)
        except ImportError:
            print(f"{name:<16} is not installed")


if __name__ == "__main__":
    main()
