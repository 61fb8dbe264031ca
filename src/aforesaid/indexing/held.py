"""Floor 5: the same for a session of which a host keeps no file, and hands its lines over instead.

`engine` keeps the lines and calls `take_lines` with all of them whenever some were added. What was taken before is not
read again; a host of this kind only ever adds.
"""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from msgspec.structs import replace

from aforesaid.indexing import KEPT_FLAWS
from aforesaid.indexing.intake import Intake, Thread
from aforesaid.language.secret_formats import VERSION
from aforesaid.model import Entry, Session

if TYPE_CHECKING:
    from aforesaid.model import Checkpoint
    from aforesaid.ports import StorePort, TranscriptPort


def take_lines(store: StorePort, reader: TranscriptPort, name: str, lines: bytes, *, redacting: bool = True) -> Session:
    """Brings a session up to date with the lines that there are of it.

    Args:
        store: where it is kept.
        reader: of the host's format.
        name: of the session in the store, in place of a path.
        lines: all of them, the last one ended.
        redacting: replace secrets in what is stored.

    Raises:
        StoreError: the store failed; it is as it was before.
    """
    with store.write(name) as writer:
        known = writer.session
        thread, point = Thread(), None
        if known is not None:
            thread, state = Thread.restore(known.checkpoint.state)
            point = replace(known.checkpoint, state=state)
        reading = reader.read(BytesIO(lines), name, point)
        intake = Intake(writer, thread, lambda: _ids(reader, name, lines, point), redacting=redacting)
        for item in reading:
            if intake.take(item):
                intake.flush()
        intake.flush(last=True)
        end = reading.checkpoint
        before = known.flaws if known is not None else ()
        count = len(intake.flaws) + (known.flaw_count if known is not None else 0)
        session = Session(
            key="",
            file=name,
            header=reading.header,
            flaws=(*before, *intake.flaws)[:KEPT_FLAWS],
            flaw_count=count,
            checkpoint=replace(
                end,
                size=len(lines),
                parser=reader.parser,
                state=thread.save(end.state),
                redaction=VERSION if redacting and _is_clear(known) else 0,
            ),
        )
        return writer.commit(session, tail=end.leaf or thread.leaf)


def _is_clear(known: Session | None) -> bool:
    """Whether what is stored already was cleared by these rules; what is added does not clear the rest."""
    return known is None or known.checkpoint.redaction == VERSION


def _ids(reader: TranscriptPort, name: str, lines: bytes, point: Checkpoint | None) -> frozenset[str]:
    """All ids of the part that is being read."""
    found = reader.read(BytesIO(lines), name, point)
    return frozenset(item.id for item in found if isinstance(item, Entry))
