"""Floor 6: calling an embedding port that nobody vouches for: a deadline, a check of what comes back, a reason if not.

`engine` makes one `Calls` for a port. A port runs in a thread of its own; one that does not answer in time is left
behind, not waited for, and is not called again until it has come back. Whatever happens is a reason code in the
`Vectors` that are returned; nothing is raised, and no text is kept.
"""

from __future__ import annotations

import threading
from array import array
from itertools import islice
from math import hypot, isfinite
from sys import byteorder
from time import monotonic
from typing import TYPE_CHECKING, Final

from aforesaid.embedding import (
    FAILED,
    INVALID_DIMENSIONS,
    INVALID_VECTOR,
    MODEL_UNAVAILABLE,
    MODEL_UNKNOWN,
    PORT_MISMATCH,
    TIMEOUT,
    WRONG_COUNT,
    Vectors,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from aforesaid.embedding import Profile, Purpose
    from aforesaid.model import Cleared
    from aforesaid.ports import EmbeddingPort

PAUSE: Final = 30.0
"""Seconds for which a port that failed is not asked again: a request must not wait for it time after time."""
_EXACT: Final = 1e-5
"""A vector whose length is nearer to 1 than this is taken as it is."""

_UNMADE: Final[dict[type[BaseException], str]] = {KeyError: MODEL_UNKNOWN, ValueError: INVALID_DIMENSIONS}
"""What it means that a port could not be made (see `embedders.make`)."""


class Calls:
    """The way to one port.

    Attributes:
        profile: of the vectors that are expected.
    """

    def __init__(
        self,
        make: Callable[[], EmbeddingPort],
        profile: Profile,
        *,
        seconds: float,
        trusted: bool = False,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Takes what makes the port, which is called at the first use, within its deadline.

        Args:
            make: gives the port; may take long, and may fail.
            profile: that the port must have.
            seconds: of one call.
            trusted: whether it is pure code of ours, which needs neither thread nor deadline.
            clock: for tests.
        """
        self.profile = profile
        self._make = make
        self._seconds = seconds
        self._trusted = trusted
        self._clock = clock
        self._port: EmbeddingPort | None = None
        self._lock = threading.Lock()
        self._left: threading.Thread | None = None
        self._paused: tuple[float, str] | None = None

    def embed(self, texts: Cleared[str], purpose: Purpose) -> Vectors:
        """The vectors of some texts, all or none of them. Calls of several threads wait for each other."""
        if not texts.values:
            return Vectors()
        if not self._lock.acquire(timeout=self._seconds):
            return Vectors(reason=TIMEOUT)
        try:
            return self._embed(texts, purpose)
        finally:
            self._lock.release()

    def _embed(self, texts: Cleared[str], purpose: Purpose) -> Vectors:
        if self._paused is not None:
            until, reason = self._paused
            if self._clock() < until or (self._left is not None and self._left.is_alive()):
                return Vectors(reason=reason)
            self._paused = self._left = None
        outcome = self._call(texts, purpose) if self._trusted else self._call_in_time(texts, purpose)
        if outcome.reason is not None:
            self._paused = (self._clock() + PAUSE, outcome.reason)
        return outcome

    def _call_in_time(self, texts: Cleared[str], purpose: Purpose) -> Vectors:
        outcomes: list[Vectors] = []
        thread = threading.Thread(
            target=lambda: outcomes.append(self._call(texts, purpose)), name="aforesaid-embedding", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:
            return Vectors(reason=FAILED)  # the system, or a process that is ending, gives no thread
        thread.join(self._seconds)
        if not outcomes:
            if thread.is_alive():
                self._left = thread
                return Vectors(reason=TIMEOUT)
            return Vectors(reason=FAILED)
        return outcomes[0]

    def _call(self, texts: Cleared[str], purpose: Purpose) -> Vectors:
        try:
            if self._port is None:
                self._port = self._make()
            if not self._fits(self._port):
                return Vectors(reason=PORT_MISMATCH)
            return self._check(self._port.embed(texts, purpose), len(texts.values))
        except ImportError:
            return Vectors(reason=MODEL_UNAVAILABLE)
        except BaseException as error:  # noqa: BLE001 - a port of a host may raise anything, and must not end the host
            return Vectors(reason=_UNMADE.get(type(error), FAILED) if self._port is None else FAILED)

    def _fits(self, port: EmbeddingPort) -> bool:
        """Whether a port says that it is what was configured; whatever it does instead of saying so is no."""
        try:
            return bool(port.profile == self.profile)
        except BaseException:  # noqa: BLE001 - as above
            return False

    def _check(self, found: object, count: int) -> Vectors:
        """The vectors as bytes, if they are what they should be; of what never ends only one too many is taken."""
        rows = list(islice(found, count + 1))  # type: ignore[call-overload]  # what cannot be iterated raises
        if len(rows) != count:
            return Vectors(reason=WRONG_COUNT)
        values: list[bytes] = []
        for row in rows:
            vector = _as_floats(row, self.profile.dimensions + 1)
            if len(vector) != self.profile.dimensions:
                return Vectors(reason=INVALID_DIMENSIONS)
            length = hypot(*vector)
            if not isfinite(length) or length == 0.0:
                return Vectors(reason=INVALID_VECTOR)
            if abs(length - 1) > _EXACT:
                vector = array("f", [value / length for value in vector])
                if not isfinite(hypot(*vector)) or not any(vector):
                    return Vectors(reason=INVALID_VECTOR)
            values.append(_as_bytes(vector))
        return Vectors(values=tuple(values))


def _as_floats(row: object, most: int) -> array[float]:
    """The numbers of one vector as float32; of what is longer only so many."""
    if isinstance(row, array) and row.typecode == "f":
        return row
    try:
        view = memoryview(row)  # type: ignore[arg-type]  # raises for what has no buffer
        plain = view.format in ("f", "<f") and byteorder == "little" and view.ndim == 1
    except (TypeError, BufferError):
        plain = False
    vector = array("f")
    if plain:
        vector.frombytes(view[:most].tobytes())
    else:
        vector.extend([float(value) for value in islice(row, most)])  # type: ignore[call-overload]  # as above
    return vector


def _as_bytes(vector: array[float]) -> bytes:
    """Little-endian, on every machine."""
    if byteorder == "little":
        return vector.tobytes()
    swapped = array("f", vector)
    swapped.byteswap()
    return swapped.tobytes()
