"""Floor 5: the privacy policy's word on bundles: all sources of one go together or not at all.

`composition` asks it where there is a policy, and `engine` before a host's classifier is asked. It looks at whole
entries, as they are stored and as their lines stand in the transcript; `privacy` decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from aforesaid.errors import AforesaidError, PrivacyFailed, locate
from aforesaid.model import Withheld
from aforesaid.privacy.judge import Verdict
from aforesaid.privacy.markers import highest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.extractive.values import Bundle, Quoted
    from aforesaid.model import Cleared, Level, Source, StoredEntry
    from aforesaid.privacy.judge import Judge


class Admission(Struct, frozen=True, kw_only=True):
    """What is said of a bundle: whether all of it may go, its highest class, and which sources may not."""

    allowed: bool
    level: Level = "normal"
    withheld: tuple[Withheld, ...] = ()


class BundleGate:
    """One judge for the bundles of one session."""

    def __init__(self, judge: Judge, read_line: Callable[[Source], bytes | None]) -> None:
        """Takes who decides.

        Args:
            judge: says what may be handed out.
            read_line: gives the raw line of an entry, b"" if there is no transcript, None if it is another line now.
        """
        self._judge = judge
        self._read_line = read_line
        self._verdicts: dict[int, Verdict] = {}

    def admit(self, sources: Sequence[Quoted]) -> Admission:
        """Whether a bundle may be handed out.

        Raises:
            PrivacyFailed: the policy could not be applied.
        """
        if self._judge.open:
            return Admission(allowed=True)
        try:
            verdicts = [self._verdict(source.entry) for source in sources]
            level = highest(*(verdict.classification for verdict in verdicts), "normal")
            whole = self._judge.judge("\n".join(source.entry.text for source in sources), named=level)
        except Exception as error:
            raise _failed(error) from error
        withheld = tuple(
            Withheld(entry_id=source.entry.id, classification=verdict.classification, reason=verdict.reason)
            for source, verdict in zip(sources, verdicts, strict=True)
            if not verdict.allowed
        )
        return Admission(
            allowed=not withheld and whole.allowed, level=highest(level, whole.classification), withheld=withheld
        )

    def clear(self, bundles: Sequence[Bundle]) -> Cleared[Bundle]:
        """Those of some bundles that the judge's provider may see, for what leads to it.

        Raises:
            PrivacyFailed: the policy could not be applied.
        """
        if self._judge.open:
            return self._judge.clear_all(bundles)
        admissions = [self.admit(bundle.sources) for bundle in bundles]
        verdicts = [Verdict(allowed=one.allowed, classification=one.level, reason="") for one in admissions]
        return self._judge.clear(bundles, verdicts)

    def clear_text(self, text: str) -> Cleared[str]:
        """A text that is no entry yet, if the judge's provider may see it.

        Raises:
            PrivacyFailed: the policy could not be applied.
        """
        if self._judge.open:
            return self._judge.clear_all((text,))
        try:
            return self._judge.clear((text,), (self._judge.judge(text),))
        except Exception as error:
            raise _failed(error) from error

    def _verdict(self, entry: StoredEntry) -> Verdict:
        known = self._verdicts.get(entry.row)
        if known is None:
            known = self._judge.judge_entry(entry)
            if known.allowed and entry.source.length:
                line = self._read_line(entry.source)
                if line is None:
                    known = Verdict(allowed=False, classification=known.classification, reason="privacy-source")
                elif line:
                    known = self._judge.judge_line(line, known)
            self._verdicts[entry.row] = known
        return known


def _failed(error: Exception) -> AforesaidError:
    """The failure, without the error's own words."""
    if isinstance(error, AforesaidError):
        return error
    return PrivacyFailed(
        f"the privacy policy could not be applied ({locate(error)})", "run it again with -v and report it"
    )
