"""Floor 6: the readers of transcripts, one a host. `engine` asks `detect` which one a file belongs to."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from aforesaid.transcripts.pi import PiTranscripts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aforesaid.planning.values import ContextPort
    from aforesaid.ports import TranscriptPort

_PI = PiTranscripts()


@cache
def _claude_code() -> TranscriptPort:
    from aforesaid.transcripts.claude_code import ClaudeCodeTranscripts  # late: see `readers`

    return ClaudeCodeTranscripts()


@cache
def _codex() -> TranscriptPort:
    from aforesaid.transcripts.codex import CodexTranscripts  # late: see `readers`

    return CodexTranscripts()


def readers() -> Iterator[TranscriptPort]:
    """All readers; each is loaded when somebody asks beyond those before it."""
    yield _PI
    yield _claude_code()
    yield _codex()


def detect(head: bytes) -> TranscriptPort | None:
    """The reader of the host that wrote a file which begins with `head`, or None."""
    return next((reader for reader in readers() if reader.detect(head)), None)


def find_context(host: str) -> ContextPort | None:
    """What makes a host's own messages from its files; None where only the stored texts are at hand."""
    if host == "pi":
        from aforesaid.transcripts.pi_context import PiContext  # late: only plans need it

        return PiContext()
    return None
