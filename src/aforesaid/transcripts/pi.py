"""Floor 6: Pi's session files, format versions 1, 2 and 3.

`engine` asks whether a file is one; `indexing` reads it with `pi_reading`, which is imported when something new is
read. The file is only ever read. Facts of the format: Pi's session manager (`migrateV1ToV2`,
`sessionEntryToContextMessages`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from aforesaid.model import Checkpoint
from aforesaid.transcripts.objects import first_lines, glance

if TYPE_CHECKING:
    from typing import BinaryIO

    from aforesaid.transcripts.pi_reading import PiReading

_SAVED: Final = frozenset({"id", "parentId"})

_SHAPES: Final = {
    "message": "message",
    "compaction": "summary",
    "branch_summary": "summary",
    "custom": "customType",
    "custom_message": "customType",
    "label": "targetId",
    "model_change": "modelId",
    "thinking_level_change": "thinkingLevel",
    "session_info": "id",
    "usage": "kind",
    "context_edit": "targetId",
}
"""Pi's types of entries, each with a name that every entry of the type has."""
_FOREIGN: Final = frozenset({"uuid", "parentUuid", "sessionId", "payload"})
"""Names that rows of Claude Code and Codex have and Pi's have not."""
_EXAMINED: Final = 50
"""Lines that are looked at to recognise a file."""


class PiTranscripts:
    """Reads Pi's session files."""

    host = "pi"
    parser = 5

    def detect(self, head: bytes) -> bool:
        """Whether one of the first objects is a header or an entry of Pi's, and none before it is another host's."""
        for line in first_lines(head, _EXAMINED):
            row = _glance(line)
            if not _FOREIGN.isdisjoint(row):
                return False
            if _is_pis(row):
                return True
        return False

    def parts(self, file: str, read: Checkpoint) -> tuple[str, ...]:  # noqa: ARG002 - the port's
        """None: a file is one session."""
        return ()

    def read(self, source: BinaryIO, file: str, since: Checkpoint | None) -> PiReading:
        """Reads from the beginning, or from where `since` ended."""
        from aforesaid.transcripts.pi_reading import PiReading  # late: most runs read nothing new

        return PiReading(source, file, since or Checkpoint())


def _glance(line: bytes) -> dict[str, Any]:
    """The object of a line; of a damaged or unfinished one the texts that can be saved."""
    saved = glance(line, _SAVED | _FOREIGN | {"type", "timestamp", "cwd"})
    # The rest of a message is long, and then its beginning is all that there is of it.
    return saved | {"message": {"role": ""}} if "parentId" in saved and "message" not in saved else saved


def _is_pis(row: dict[str, Any]) -> bool:
    """Whether an object has the shape of Pi's header or of one of its entries."""
    type_ = row.get("type")
    if type_ == "session":
        told = isinstance(row.get("timestamp"), str) or isinstance(row.get("cwd"), str) or "version" in row
        return told and isinstance(row.get("id"), str)
    if not isinstance(type_, str) or not (isinstance(row.get("timestamp"), str) or "parentId" in row):
        return False
    if row.get(_SHAPES.get(type_, "")) is None:
        return False
    message = row.get("message")
    return type_ != "message" or (isinstance(message, dict) and isinstance(message.get("role"), str))
