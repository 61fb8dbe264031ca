"""Floor 7: which files are transcripts, and whose.

`Upkeep` and `Desk` ask for the reader of a file or for all transcripts below a folder. Nothing here reads more of a
file than its beginning.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from aforesaid.errors import (
    BadArgument,
    NoSessions,
    NotATranscript,
    PathMissing,
)
from aforesaid.sidechains import opener

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from aforesaid.ports import TranscriptPort

    Path = str | os.PathLike[str]
    Progress = Callable[[int, int], None]


_HEAD = 65_536
"""Bytes of a file that tell which host wrote it."""


def discover(paths: Sequence[Path], host: str | None, *, lenient: bool = False) -> Iterator[tuple[TranscriptPort, str]]:
    """The transcripts that the paths lead to, each once, in path order; no link to one of them.

    A folder that cannot be searched is one of them, so that its sync tells why.
    """
    if host is not None:
        reader_of(host)
    found: dict[str, TranscriptPort] = {}
    for given in paths:
        if not os.fspath(given).strip():
            raise BadArgument("a path is empty", "name a file or a folder")
        path = os.path.abspath(os.fspath(given))
        if os.path.isdir(path):
            within = dict(_walk(path, host))
            if not within and not lenient:
                raise NoSessions(f"no transcript in {path}", "name a folder with the JSONL files of a known host")
            found.update(within)
        elif not os.path.exists(path):
            raise PathMissing(f"there is no file or folder {path}", "check the path")
        elif not os.path.isfile(path):
            raise NotATranscript(f"{path} is neither a file nor a folder", "name a session file that the host wrote")
        else:
            found[path] = recognise(path, host)
    links = _links(found)
    for file in sorted(found):
        if file not in links:
            yield found[file], file


def _links(files: Collection[str]) -> frozenset[str]:
    """Those of some files that are links to another one of them, or to what an earlier link leads to.

    A session that stood in the store by two paths would be found twice, and its id would name two.
    """
    links = sorted(filter(os.path.islink, files))
    if not links:
        return frozenset()
    seen: set[object] = {_identify(file) for file in files if file not in links}
    again: set[str] = set()
    for link in links:
        identity = _identify(link)
        if identity is not None and identity in seen:
            again.add(link)
        seen.add(identity)
    return frozenset(again)


def _identify(file: str) -> tuple[int, int] | None:
    """Device and inode of a file; None if it cannot be looked at."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _walk(folder: str, host: str | None) -> Iterator[tuple[str, TranscriptPort]]:
    closed: list[str] = []

    def note(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):  # removed meanwhile
            closed.append(os.fspath(error.filename))

    for parent, _, names in os.walk(folder, onerror=note):
        for name in names:
            file = os.path.join(parent, name)
            if not name.endswith(".jsonl") or not os.path.isfile(file):
                continue  # a pipe would be waited for
            try:
                yield file, recognise(file, host)
            except NotATranscript:
                continue
    for path in closed:
        yield path, _any_reader(host)


def _any_reader(host: str | None) -> TranscriptPort:
    """For what cannot be opened: the named host's reader, or one of them."""
    from aforesaid.transcripts import readers  # late: brings the parser

    return reader_of(host) if host else next(readers())


def recognise(file: str, host: str | None = None) -> TranscriptPort:
    """The reader of a file; the named host's where a file cannot even be opened, so that its sync tells why."""
    from aforesaid.transcripts import detect, readers  # late: brings the parser

    try:
        with open(file, "rb", opener=opener) as source:
            reader = detect(source.read(_HEAD))
    except OSError:
        return _any_reader(host)
    if reader is None or (host is not None and reader.host != host):
        kind = host or " or ".join(known.host for known in readers())
        raise NotATranscript(f"{file} is no transcript of {kind}", "name a session file that the host wrote")
    return reader


def is_transcript(file: str) -> bool:
    """Whether a file is a transcript of a known host, or cannot be looked into."""
    if not os.path.isfile(file):
        return False  # a folder of that name; a pipe would be waited for
    try:
        recognise(file)
    except NotATranscript:
        return False
    return True


def reader_of(host: str) -> TranscriptPort:
    """The reader of a host's transcripts.

    Raises:
        BadArgument: there is no such host.
    """
    from aforesaid.transcripts import readers  # late: brings the parser

    for reader in readers():
        if reader.host == host:
            return reader
    known = ", ".join(reader.host for reader in readers())
    raise BadArgument(f"there is no host {host}", f"choose one of {known}")
