"""Floor 6: the rollouts of Codex.

`engine` asks whether a file is one; `indexing` reads it with `codex_reading`, which is imported when something new is
read. Files are only ever read. Facts of the format: seen in the files of the real program (`docs/hosts/codex.md`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from aforesaid.model import Checkpoint
from aforesaid.transcripts.objects import first_lines, glance

if TYPE_CHECKING:
    from typing import BinaryIO

    from aforesaid.transcripts.codex_reading import CodexReading

_TYPES: Final = frozenset(
    {"session_meta", "response_item", "event_msg", "compacted", "turn_context", "world_state", "token_usage_record"}
)
_EXAMINED: Final = 50
"""Lines that are looked at to recognise a file."""


class CodexTranscripts:
    """Reads the rollouts of Codex."""

    host = "codex"
    parser = 5

    def detect(self, head: bytes) -> bool:
        """Whether one of the first objects is a row of a rollout, and none before it is another host's."""
        for line in first_lines(head, _EXAMINED):
            row = glance(line, frozenset({"type", "timestamp", "parentId", "parentUuid", "uuid", "sessionId"}))
            if not {"parentId", "parentUuid", "uuid", "sessionId"}.isdisjoint(row):
                return False
            if _is_codexs(row):
                return True
        return False

    def parts(self, file: str, read: Checkpoint) -> tuple[str, ...]:  # noqa: ARG002 - the port's
        """None: a file is one session."""
        return ()

    def read(self, source: BinaryIO, file: str, since: Checkpoint | None) -> CodexReading:
        """Reads from the beginning, or from where `since` ended."""
        from aforesaid.transcripts.codex_reading import CodexReading  # late: most runs read nothing new

        return CodexReading(source, file, since or Checkpoint())


def _is_codexs(row: dict[str, Any]) -> bool:
    """Whether an object has the shape of a rollout's row; the first row is long, and may be cut."""
    type_ = row.get("type")
    if not isinstance(type_, str) or type_ not in _TYPES:
        return False
    return isinstance(row.get("payload"), dict) or ("payload" not in row and isinstance(row.get("timestamp"), str))
