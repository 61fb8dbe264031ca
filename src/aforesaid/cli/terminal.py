"""Floor 9: how text reaches the outside without doing harm there.

Commands print through this module. Quoted text may hold anything: whatever would move a cursor, change a colour or turn
the direction of writing is shown, not sent. Colour and bars come from rich, imported when something is shown to a
person, and only where the stream is a terminal (`NO_COLOR` and `FORCE_COLOR` count).
"""

from __future__ import annotations

import os
import sys
from errno import EPIPE
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import TracebackType

    from rich.console import Console
    from rich.text import Text

_PATIENCE = 0.5
"""Seconds of work before a progress bar appears."""
_UNBOUNDED = 100_000
"""Columns of an output that is no terminal: nothing is ever wrapped or cut there."""

_SHOWN: dict[int, str] = {
    **{point: chr(0x2400 + point) for point in range(0x20) if chr(point) not in "\n\t"},  # control pictures
    0x7F: "\u2421",
    **{point: f"\\x{point:02x}" for point in range(0x80, 0xA0)},
    # Line ends for some readers, and marks that reverse what stands after them.
    **{point: f"\\u{point:04x}" for point in (0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))},
}
_SHOWN_IN_LINE = {**_SHOWN, 0x0A: "\u240a", 0x09: " "}


def safe(text: str) -> str:
    """A text with everything shown that a terminal would act on; line ends and tabs stay."""
    return _encodable(text.translate(_SHOWN))


def one_line(text: str) -> str:
    """The same for a text that must stay on its line."""
    return _encodable(text.translate(_SHOWN_IN_LINE))


def _encodable(text: str) -> str:
    """The text with lone surrogates, which no output can hold, shown as well."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def emit(document: dict[str, Any], *, indent: int | None = None) -> None:
    """Writes a JSON document to standard output as UTF-8, whatever the locale or the platform's line end is."""
    from aforesaid.hosts import wire  # late: text output needs none

    encoded = wire.encode(document, indent=indent) + b"\n"
    sys.stdout.flush()
    sys.stdout.buffer.write(encoded)


def warn(message: str) -> None:
    """Says something in one line on standard error."""
    sys.stderr.write(f"warning: {one_line(message)}\n")


def fail(code: str, message: str) -> None:
    """Says on standard error that a part of the work failed; the command goes on."""
    sys.stderr.write(f"error[{code}]: {one_line(message)}\n")


def open_console() -> Console:
    """A console on standard output that interprets nothing and wraps nothing that is not shown on a terminal."""
    from rich.console import Console  # late: costs more than a whole retrieval

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            # rich would end the process; `main` knows better what it means.
            raise BrokenPipeError(EPIPE, "the reader has gone")

    console = Screen(file=sys.stdout, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = _UNBOUNDED
    return console


def show(lines: Iterable[Text | str], *, paged: bool = False) -> None:
    """Prints lines; a terminal wraps them itself, so that what is copied from it is what was written.

    Args:
        lines: what to print.
        paged: on a terminal, through the user's pager (`PAGER`), if it is more than fits.
    """
    console = open_console()
    if paged and console.is_terminal and sys.stdin is not None and sys.stdin.isatty():
        shown = list(lines)
        if len(shown) >= console.height:
            # What `less` needs to know to show colours; a user's own wishes count.
            os.environ.setdefault("LESS", "-FRX")
            with console.pager(styles=True):
                for line in shown:
                    console.print(line, soft_wrap=True)
            return
        lines = shown
    for line in lines:
        console.print(line, soft_wrap=True)


def show_table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[str] = ()) -> None:
    """Prints a table; cells are made safe.

    Args:
        headings: one a column.
        rows: as many cells each.
        right: headings of columns that are aligned to the right.
    """
    from rich.table import Table  # late: see above
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, justify="right" if heading in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    console = open_console()
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


class Progress:
    """A progress bar on standard error, if that is a terminal and the work takes a while.

    Use it as a context manager; the value that it gives is the engine's `progress`, or None where none is shown.
    """

    def __init__(self, label: str) -> None:
        """Takes what the work is called."""
        from time import monotonic

        self._label = label
        self._now = monotonic
        self._started = monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress | None:
        return self if sys.stderr.isatty() else None

    def __call__(self, done: int, total: int) -> None:
        """Called by the engine with bytes done and bytes in all."""
        if self._bar is None:
            if self._now() - self._started < _PATIENCE:
                return
            self._begin()
        self._bar.update(self._task, completed=done, total=total)

    def _begin(self) -> None:
        from rich.console import Console  # late: most work is done before a bar would show
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            DownloadColumn(binary_units=True),
            TimeRemainingColumn(),
            console=Console(file=sys.stderr),
            transient=True,
        )
        self._task = self._bar.add_task(self._label, total=None)
        self._bar.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


def count(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: `1 hit`, `2,000 hits`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def bytes_in_words(number: int) -> str:
    """A size as people read it: `1.2 MB`, in steps of 1,000."""
    size = float(number)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"
