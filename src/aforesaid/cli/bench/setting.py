"""Floor 9: what the measurements need before they can begin: transcripts, stores, and the reference beside them.

`prepare` makes them in a working folder. The store of all sessions is built by a child process (`worker`) while this
one writes the next transcript; a transcript that was indexed is deleted, so that the disk holds one or two at a time.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Final, Self

import msgspec
from msgspec.structs import replace

from aforesaid.cli.bench import children
from aforesaid.cli.bench.corpus import Corpus, Transcript, plan
from aforesaid.cli.bench.floors import Reference, Text
from aforesaid.cli.bench.worker import Progressed
from aforesaid.config import OPTIONS, Config, Setting
from aforesaid.engine import Engine
from aforesaid.errors import BadArgument, OperationError, StoreFull
from aforesaid.model import Entry
from aforesaid.transcripts.pi import PiTranscripts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Progress = Callable[[int, int], None]

_BYTES_AN_ENTRY: Final = 1_500
"""Of the store, at most; twice what it should need."""
_BYTES_AT_LEAST: Final = 500_000_000
"""For the transcripts and the stores of single sessions."""


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """A store of the whole corpus, and what building it took.

    Attributes:
        folder: of the store.
        entries: in it.
        text_bytes: of the transcripts' texts.
        store_bytes: of its files, once closed.
        first_peak, peak: bytes of memory above the idle process, after the first session and in all; None where the
            system does not tell.
    """

    folder: str
    entries: int
    text_bytes: int
    store_bytes: int
    first_peak: int | None
    peak: int | None


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the measurements use.

    Attributes:
        folder: working folder.
        corpus: for further transcripts.
        transcript: the session that is asked.
        texts: its searchable rows, as the product's own reader sees them.
        single: folder of a store with this session alone.
        built: the store with all sessions; its folder is `single` where there is only one.
    """

    folder: str
    corpus: Corpus
    transcript: Transcript
    texts: tuple[Text, ...]
    single: str
    built: Built

    def path(self, name: str) -> str:
        """A path in the working folder."""
        return os.path.join(self.folder, name)

    def reference(self, name: str) -> Reference:
        """A bare database with the session's texts, made anew."""
        discard(self.path(name))
        reference = Reference(self.path(name), self.transcript.eligible)
        reference.fill(self.texts)
        return reference


def prepare(entries: int, folder: str, progress: Progress | None = None) -> Prepared:
    """Makes the corpus and its stores.

    Args:
        entries: of the corpus.
        folder: existing, empty working folder.
        progress: called with bytes of transcripts indexed and, about, in all.

    Raises:
        StoreFull: the disk has not enough room.
        OperationError: a transcript could not be indexed.
    """
    needed = _BYTES_AT_LEAST + entries * _BYTES_AN_ENTRY
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise StoreFull(
            f"{entries:,} entries need {needed / 1e9:.1f} GB in {folder}, and {free / 1e9:.1f} GB are free",
            "choose another folder with --work, or fewer --entries",
        )
    corpus = Corpus()
    transcript, built = _build(corpus, plan(entries), folder, progress)
    single = built.folder
    if built.entries > transcript.entries:
        single = os.path.join(folder, "single")
        index(single, transcript.file)
    return Prepared(
        folder=folder,
        corpus=corpus,
        transcript=transcript,
        texts=tuple(read_texts(transcript.file)),
        single=single,
        built=built,
    )


def default_config() -> Config:
    """The configuration without anything of the user's own."""
    return Config(settings=tuple(Setting(key=option.key, value=option.default, source="default") for option in OPTIONS))


def configure(values: dict[str, object]) -> Config:
    """The same with some values changed."""
    return Config(
        settings=tuple(
            replace(setting, value=values[setting.key]) if setting.key in values else setting
            for setting in default_config().settings
        )
    )


def without_redaction(config: Config) -> Config:
    """The same, but that secrets stay in what is stored."""
    settings = tuple(
        replace(setting, value=False) if setting.key == "privacy.redactIndex" else setting
        for setting in config.settings
    )
    return Config(settings=settings)


def index(store: str, file: str, *, redacting: bool = True) -> None:
    """Builds a store of one transcript.

    Args:
        store: its folder.
        file: the transcript.
        redacting: whether secrets are replaced on the way, as they are by default.

    Raises:
        OperationError: it could not be indexed.
    """
    config = default_config()
    if not redacting:
        config = without_redaction(config)
    with Engine.open(store, config) as engine:
        (report,) = engine.index(file).sessions
    if report.error is not None:
        raise OperationError(report.error, "report this as a fault of aforesaid")


def read_texts(file: str) -> Iterator[Text]:
    """What of a transcript the product makes searchable; row n is the n-th line after the header."""
    with open(file, "rb") as source:
        yield from _texts(source.read(), file, 2)


def tail_texts(lines: bytes, file: str, first: int) -> list[Text]:
    """The same for lines that were added to a transcript, the first of which becomes row `first`."""
    return list(_texts(lines, file, 1 - first))


def _texts(content: bytes, file: str, offset: int) -> Iterator[Text]:
    for item in PiTranscripts().read(BytesIO(content), file, None):
        if isinstance(item, Entry) and item.automatic and item.text:
            yield Text(item.source.line - offset, item.id, item.role, item.timestamp, item.text)


def folder_size(folder: str) -> int:
    """Bytes of all files in a folder."""
    return sum(os.stat(os.path.join(parent, name)).st_size for parent, _, names in os.walk(folder) for name in names)


def discard(path: str) -> None:
    """Removes a folder, or a database with its companions, if it is there."""
    if os.path.isdir(path):
        shutil.rmtree(path)
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.unlink(path + suffix)


class Worker:
    """The child process that indexes; use it as a context manager."""

    def __init__(self, store: str) -> None:
        """Starts it on a store; `entries` counts what it has added."""
        self.entries = 0
        self._process = children.start(["-m", "aforesaid.cli.bench.worker", store], text=True)

    def send(self, file: str) -> None:
        """Tells it to index a transcript."""
        print(file, file=self._process.stdin, flush=True)

    def receive(self) -> int | None:
        """Waits until the transcript is indexed.

        Returns:
            The peak of its memory above idle so far, in bytes, or None.

        Raises:
            OperationError: it failed.
        """
        line: str | None = next(iter(self._process.stdout or ()), None)
        answer = Progressed(error="it died") if line is None else msgspec.json.decode(line, type=Progressed)
        if answer.error is not None:
            raise OperationError(f"the indexing process failed: {answer.error}", "report this as a fault of aforesaid")
        self.entries += answer.entries
        return answer.peak

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        children.end(self._process, at_once=kind is not None)


def _build(corpus: Corpus, sizes: Sequence[int], folder: str, progress: Progress | None) -> tuple[Transcript, Built]:
    """Indexes all sessions of a corpus; keeps the transcript of the first one."""
    store = os.path.join(folder, "all")
    kept: list[Transcript] = []
    waiting: Transcript | None = None
    first_peak: int | None = None
    peak: int | None = None
    entries = text_bytes = 0
    with Worker(store) as worker:
        for number in range(len(sizes) + 1):
            transcript = corpus.write(folder, number, sizes[number]) if number < len(sizes) else None
            if waiting is not None:
                peak = worker.receive()
                entries += waiting.entries
                text_bytes += waiting.text_bytes
                if progress is not None:
                    size = os.stat(waiting.file).st_size // waiting.entries
                    progress(entries * size, sum(sizes) * size)
                if number == 1:
                    kept.append(waiting)
                    first_peak = peak
                else:
                    os.unlink(waiting.file)
            if transcript is not None:
                worker.send(transcript.file)
            waiting = transcript
    built = Built(
        folder=store,
        entries=entries,
        text_bytes=text_bytes,
        store_bytes=folder_size(store),
        first_peak=first_peak,
        peak=peak,
    )
    return kept[0], built


@contextmanager
def working_folder(parent: str | None, *, keep: str | None = None) -> Iterator[str]:
    """A folder for everything that is made, removed at the end; with `keep` this one, which stays.

    Raises:
        BadArgument: `keep` cannot be a folder.
    """
    import tempfile  # late: only here

    if keep is not None:
        try:
            os.makedirs(keep, exist_ok=True)
        except OSError as error:
            raise BadArgument(f"{keep} cannot be made", "name a folder with --keep") from error
        yield os.path.abspath(keep)
        return
    if parent is not None:
        os.makedirs(parent, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="aforesaid-bench-", dir=parent, ignore_cleanup_errors=True) as folder:
        yield folder
