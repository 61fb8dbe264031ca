"""Between floors 4 and 5: quoted text without the user's folders, where `privacy.shortenPaths` asks for it.

`engine` passes answers through here last, once everything else was decided on the text as it is: what was found, what
may be seen, what fits. Offsets stay those of the stored text; only what is quoted gets shorter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from aforesaid import evidence
from aforesaid.tokens import estimate
from aforesaid.windows import join_windows

if TYPE_CHECKING:
    from aforesaid.answers import Evidence, Retrieval
    from aforesaid.inquiry import RecallPage
    from aforesaid.privacy.paths import Paths


def shorten_answer(answer: Retrieval, paths: Paths) -> Retrieval:
    """The same evidence with shortened paths, framed anew."""
    hits = tuple(_shorten(hit, paths) for hit in answer.hits)
    counts = replace(answer.diagnostics, selected_tokens=sum(hit.tokens for hit in hits))
    return replace(answer, hits=hits, diagnostics=counts)


def _shorten(hit: Evidence, paths: Paths) -> Evidence:
    windows = tuple(replace(window, text=paths.shorten(window.text)) for window in hit.windows)
    if windows == hit.windows:
        return hit
    ranked = hit.ranked
    excerpt = join_windows(windows)
    message = evidence.frame(
        ranked.candidate.entry, session_id=None, score=ranked.score, reason=ranked.reason, excerpt=excerpt
    )
    return replace(hit, windows=windows, excerpt=excerpt, message=message, tokens=estimate(message))


def shorten_page(page: RecallPage, paths: Paths) -> RecallPage:
    """The same page with shortened paths in its snippets."""
    hits = tuple(
        replace(hit, snippet=paths.shorten(hit.snippet), matched=tuple(map(paths.shorten, hit.matched)))
        for hit in page.hits
    )
    return replace(page, hits=hits)
