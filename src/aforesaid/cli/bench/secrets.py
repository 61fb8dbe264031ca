"""Floor 9: how many secrets are found, how often nothing is taken for one, how fast, and what it costs a build.

The texts are those of `secret_corpus` and `look_alikes`; speed is measured on the messages of the benchmark's session.
"""

from __future__ import annotations

from functools import partial
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Final

from aforesaid.cli.bench.look_alikes import LINES, lines
from aforesaid.cli.bench.rows import Attempt, Row, Target, clock, judge, steady
from aforesaid.cli.bench.secret_corpus import cases
from aforesaid.cli.bench.setting import discard, index
from aforesaid.privacy.names import describe
from aforesaid.privacy.secrets import find_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.cli.bench.setting import Prepared

_MISSED: Final = Target(name="secrets missed", unit="%", plus=2)
_ALARMS: Final = Target(name="clean lines taken for secrets", unit="%", plus=0.5)
_SCAN: Final = Target(name="search for secrets / one plain scan", unit="ms/MB", plus=50)
_BUILD: Final = "build with redaction / without"
_ABSENT: Final = b"-----BEGIN NOTHING"
"""What the plain scan looks for: one literal, of the length of those that the search begins with."""
_MOST: Final = 8_000_000
"""Characters of messages that are searched."""


def measure(prepared: Prepared, rounds: int) -> list[Row]:
    """The rows of secrets.

    Args:
        prepared: a transcript and its texts.
        rounds: how often each pair of figure and floor is measured in one attempt.
    """
    return [
        judge(_MISSED, _missed, tries=1),
        judge(_ALARMS, _alarms, tries=1),
        judge(_SCAN, lambda: _scan([text.text for text in prepared.texts], rounds)),
        _build(prepared, rounds),
    ]


def _missed() -> Attempt:
    count = missed = 0
    kinds: set[str] = set()
    for case in cases():
        count += 1
        kinds.add(case.kind)
        found = find_secrets(case.text)
        missed += not any(secret.start <= case.start and case.end <= secret.end for secret in found)
    recall = 1 - missed / count
    return Attempt(missed / count * 100, note=f"recall {recall:.4f}: {count:,} texts, {len(kinds)} kinds")


def _alarms() -> Attempt:
    alarms = sum(bool(find_secrets(line)) for line in lines())
    return Attempt(alarms / LINES * 100, note=f"{alarms} of {LINES:,} lines")


def _scan(texts: Sequence[str], rounds: int) -> Attempt:
    """Milliseconds for a million characters, message by message as in a build, beside one search for a literal."""
    chosen: list[str] = []
    size = 0
    for text in texts:
        chosen.append(text)
        size += len(text)
        if size >= _MOST:
            break
    encoded = [text.encode("utf-8", "surrogatepass") for text in chosen]
    figures: list[float] = []
    floors: list[float] = []

    def search() -> None:
        describe.cache_clear()
        for text in chosen:
            find_secrets(text)

    def scan() -> None:
        for data in encoded:
            data.find(_ABSENT)

    search()
    with steady():
        for _ in range(rounds):
            figures.append(_spent(search) / size * 1e9)
            floors.append(_spent(scan) / size * 1e9)
    figure = median(figures)
    return Attempt(figure, median(floors), f"{1000 / figure:.0f} MB/s, {size / 1e6:.1f} million characters")


def _spent(action: Callable[[], None]) -> float:
    """Seconds of this process that an action takes: pure work, so that others on the machine do not count."""
    start = process_time()
    action()
    return process_time() - start


def _build(prepared: Prepared, rounds: int) -> Row:
    """A session into a new store, with redaction and without; told, not bounded."""
    file, store = prepared.transcript.file, prepared.path("secrets")
    figures: list[float] = []
    floors: list[float] = []
    with steady():
        for _ in range(rounds):
            for times, redacting in ((figures, True), (floors, False)):
                discard(store)
                times.append(clock(partial(index, store, file, redacting=redacting)))
    discard(store)
    figure, floor = median(figures), median(floors)
    return Row(
        name=_BUILD,
        figure=figure,
        floor=floor,
        ratio=figure / floor,
        bound=None,
        met=None,
        unit="ms",
        note=f"+{(figure - floor) / prepared.transcript.entries * 1000:.0f} µs an entry; told, not bounded",
        limits_ratio=True,
        attempts=(Attempt(figure, floor),),
    )
