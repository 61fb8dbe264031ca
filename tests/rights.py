"""Makes the modes of files count, also where tests run as root, who may read and write everything."""

from __future__ import annotations

import ctypes
import os
import sys
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_VERSION = 0x20080522
"""Of the kernel's structure: 64 bits of capabilities, in two halves."""
_OVERRIDES = 1 << 1 | 1 << 2
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: to read, write and enter whatever the modes say."""


def bound_by_modes(action: Callable[[], T]) -> T:
    """What an action returns or raises that is done by somebody for whom modes count.

    Rights of Linux belong to a thread: root gives these up in one of its own, for good, and nobody else loses any. The
    test is skipped where modes say nothing (Windows), and where only a whole process could give them up.
    """
    if os.name != "posix":
        pytest.skip("modes of POSIX")
    if os.geteuid() != 0:
        return action()
    if sys.platform != "linux":
        pytest.skip("root cannot give up its rights for a moment here")
    results: list[T] = []
    failures: list[BaseException] = []

    def act() -> None:
        try:
            _give_up()
            results.append(action())
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
            failures.append(error)

    thread = Thread(target=act)
    thread.start()
    thread.join()
    for failure in failures:
        raise failure
    return results[0]


def _give_up() -> None:
    """Takes the two rights from this thread, and what it would need to get them back."""
    system = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_VERSION, 0)
    data = (ctypes.c_uint32 * 6)()  # effective, permitted and inheritable of the lower half, then of the upper one
    if system.capget(header, data) != 0:
        raise OSError(ctypes.get_errno(), "capabilities cannot be read")
    for place in range(3):
        data[place] &= ~_OVERRIDES
    if system.capset(header, data) != 0:
        raise OSError(ctypes.get_errno(), "capabilities cannot be given up")
