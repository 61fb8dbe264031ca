"""Floor 6: Claude Code's session files, versions 1.0 to 2.1, and those of its subagents.

`engine` asks whether a file is one; `indexing` reads it with `claude_code_reading`, which is imported when something
new is read. The file is only ever read. Facts of the format: seen in the files of the real program
(`docs/hosts/claude-code.md`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from aforesaid.model import Checkpoint
from aforesaid.sidechains import chain_of, name_of
from aforesaid.transcripts.objects import first_lines, glance

if TYPE_CHECKING:
    from typing import BinaryIO

    from aforesaid.transcripts.claude_code_reading import ClaudeCodeReading

_SAVED: Final = frozenset({"uuid", "parentUuid"})
_FOREIGN: Final = frozenset({"parentId", "payload"})
"""Names that rows of Pi and Codex have and Claude Code's have not."""
_ROWS: Final = frozenset({"user", "assistant", "system", "attachment", "progress"})
"""Types of rows with a uuid."""
_NOTES: Final = {
    "summary": "leafUuid",
    "file-history-snapshot": "messageId",
    "queue-operation": "operation",
    "last-prompt": "sessionId",
    "custom-title": "sessionId",
    "mode": "sessionId",
    "permission-mode": "sessionId",
}
"""Types of rows without a uuid that a file may begin with, each with a name that it has."""
_NO_CHAINS: Final = '"chains":[]'
"""Stands in the state of a file without sidechains."""
_EXAMINED: Final = 50
"""Lines that are looked at to recognise a file."""


class ClaudeCodeTranscripts:
    """Reads Claude Code's session files."""

    host = "claude-code"
    parser = 6

    def detect(self, head: bytes) -> bool:
        """Whether one of the first objects is a row or a note of Claude Code's, and none before is another host's."""
        saved = _SAVED | _FOREIGN | {"type", "sessionId", *_NOTES.values()}
        for line in first_lines(head, _EXAMINED):
            row = glance(line, saved)
            if not _FOREIGN.isdisjoint(row):
                return False
            if _is_claudes(row):
                return True
        return False

    def parts(self, file: str, read: Checkpoint) -> tuple[str, ...]:
        """The sidechains within a file, in the order in which they begin."""
        if _NO_CHAINS in read.state or chain_of(file) is not None:
            return ()
        import json  # late: few files hold any

        chains = json.loads(read.state)["chains"] if read.state else ()
        return tuple(name_of(file, chain) for chain in chains)

    def read(self, source: BinaryIO, file: str, since: Checkpoint | None) -> ClaudeCodeReading:
        """Reads from the beginning, or from where `since` ended."""
        from aforesaid.transcripts.claude_code_reading import ClaudeCodeReading  # late: most runs read nothing new

        return ClaudeCodeReading(source, file, since or Checkpoint())


def _is_claudes(row: dict[str, Any]) -> bool:
    """Whether an object has the shape of one of Claude Code's rows or notes."""
    type_ = row.get("type")
    if not isinstance(type_, str):
        return False
    if "parentUuid" in row and type_ in _ROWS:
        # The uuid stands behind the message, which may reach beyond what is looked at.
        return isinstance(row.get("uuid"), str) or isinstance(row.get("sessionId"), str)
    return isinstance(row.get(_NOTES.get(type_, "")), str)
