"""Floor 6: reading source lines again, to see whether they are still what was indexed.

`engine` hands it to `expansion`. One descriptor serves all lines of an answer, so that what is compared is one file.
The file is only ever read, and nothing of it leaves this module.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from aforesaid.errors import SourceMissing, SourceUnreadable, StaleSource
from aforesaid.sidechains import NotRegular, file_of, opener

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aforesaid.model import Source


def read_line(file: str, source: Source) -> bytes | None:
    """The raw line of an entry; b"" if there is no transcript any more, None if the line is not what it was."""
    try:
        with open(source.file or file_of(file), "rb", opener=opener) as lines:
            lines.seek(source.offset)
            line = lines.read(source.length)
    except FileNotFoundError:
        return b""
    except OSError:
        return None
    return line if sha256(line).digest() == source.sha256 else None


def verify(file: str, sources: Sequence[Source]) -> None:
    """Compares the lines of a transcript with their digests.

    Raises:
        SourceMissing: there is no such file.
        StaleSource: a line is not what it was, or something else stands in the file's place.
        SourceUnreadable: the system refuses.
    """
    by_file: dict[str, list[Source]] = {}
    for source in sources:
        by_file.setdefault(source.file or file_of(file), []).append(source)
    for name, some in by_file.items():
        _verify(name, some)


def _verify(file: str, sources: Sequence[Source]) -> None:
    """The same for lines that stand in one file."""
    try:
        with open(file, "rb", opener=opener) as lines:
            for source in sources:
                lines.seek(source.offset)
                if sha256(lines.read(source.length)).digest() != source.sha256:
                    raise StaleSource(
                        f"line {source.line} of {file} has changed", "index the session again and search again"
                    )
    except FileNotFoundError as error:
        raise SourceMissing(f"{file} is gone", "bring the transcript back") from error
    except NotRegular as error:
        raise StaleSource(f"{file} is no regular file any more", "bring the transcript back") from error
    except OSError as error:
        raise SourceUnreadable(f"{file} cannot be read: {error.strerror}", "check its permissions") from error


class Originals:
    """The same where some sessions have no file, and their host has handed their lines over instead."""

    def __init__(self, held: Mapping[str, bytes | bytearray]) -> None:
        """Takes the lines of such sessions by their names."""
        self._held = held

    def read_line(self, file: str, source: Source) -> bytes | None:
        """As the function of this name."""
        lines = self._held.get(file)
        if lines is None:
            return read_line(file, source)
        line = bytes(lines[source.offset : source.offset + source.length])
        return line if sha256(line).digest() == source.sha256 else None

    def verify(self, file: str, sources: Sequence[Source]) -> None:
        """As the function of this name."""
        lines = self._held.get(file)
        if lines is None:
            verify(file, sources)
        elif any(self.read_line(file, source) is None for source in sources):
            raise StaleSource(f"a line of {file} has changed", "search again")
