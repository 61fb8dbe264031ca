"""Floor 4: how much evidence may cost beside what the model still sees.

`retrieval` asks before it frames what it found. Nothing in a request tells whether what was lost will be needed: on
real sessions, the words of requests that needed it and of requests that did not are alike. What tells them apart is how
far the work has come since the compaction. Right after it the model knows nothing of what was lost; later it has read
again what it works on. So the tokens shrink as what the model sees grows, and windows shrink with them, so that as many
sources are shown. Pure. `docs/evidence.md` gives the rule, `docs/decisions/0026-silence.md` what was tried.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from aforesaid.windows import LIMIT

FRESH: Final = 4_000
"""Tokens that the model sees right after a compaction; up to these all that is configured may be spent."""
SETTLED: Final = 32_000
"""Tokens of a view in which the work is under way; beyond these, what may be spent falls again."""
SHARE: Final = 0.3
"""Of what is configured, between the two."""
SHARE_WORKING: Final = 0.44
"""The same where the work around a request is asked for too."""
LEAST: Final = 0.1
"""What may be spent at the least."""
SMALLEST: Final = 1_600
"""Tokens that are never taken away: `LEAST` of what is configured by default. Of less, all may be spent."""
NARROWEST: Final = 800
"""Characters of an excerpt at the least."""


class Allowance(Struct, frozen=True, kw_only=True, gc=False):
    """A share of what is configured, between `LEAST` and 1."""

    share: float

    def tokens(self, configured: int) -> int:
        """Tokens of all messages together: the share, but no less than `SMALLEST` as far as so many are configured."""
        return min(configured, max(SMALLEST, int(configured * self.share)))

    @property
    def characters(self) -> int:
        """Characters of the windows of each message."""
        return max(NARROWEST, int(LIMIT * self.share))


FULL: Final = Allowance(share=1.0)


def allow(seen: int, *, working: bool = False) -> Allowance:
    """What may be spent beside a view.

    All of it up to `FRESH` tokens, then less by the square of what is seen, but not below a plateau, which falls beyond
    `SETTLED` tokens and ends at `LEAST`.

    Args:
        seen: estimated tokens of the entries that the model sees.
        working: whether the work around the request is asked for too.
    """
    if seen <= FRESH:
        return FULL
    plateau = (SHARE_WORKING if working else SHARE) * min(1.0, SETTLED / seen)
    return Allowance(share=max((FRESH / seen) ** 2, plateau, LEAST))
