"""Between floors 4 and 5: which of the ranked rows the provider may see, before anything is cut out of them.

`retrieval` hands in rows and gets those that were cleared, and ids and reasons of the others; other roads to a model do
the same with the entries that they found. What a tool's result is about stands in the entry that called the tool, so
this looks that up on the branch. It decides nothing itself: `privacy` does.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from aforesaid import lineage
from aforesaid.errors import AforesaidError, PrivacyFailed, locate
from aforesaid.model import Tally, Withheld
from aforesaid.privacy.judge import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from aforesaid.answers import Evidence, Ranked, Retrieval
    from aforesaid.model import Branch, Cleared, Level, Source, Span, StoredEntry
    from aforesaid.ports import EntryPort
    from aforesaid.privacy.judge import Judge

FARTHEST: Final = 256
"""Entries between a tool's result and its call at most; a result whose call is farther away counts as of unknown."""
_AT_ONCE: Final = 8


class Judged(Struct, frozen=True, kw_only=True):
    """What a judge said of rows.

    Attributes:
        cleared: the rows that the provider may see, in their order.
        withheld: the others, in their order.
        levels: class of each row that is not `normal`.
    """

    cleared: Cleared[Ranked]
    withheld: tuple[Withheld, ...] = ()
    levels: Mapping[int, Level] = {}

    def classify(self, hits: Sequence[Evidence]) -> tuple[Evidence, ...]:
        """The hits with their classes."""
        if not self.levels:
            return tuple(hits)
        return tuple(
            replace(hit, classification=self.levels.get(hit.ranked.candidate.entry.row, "normal")) for hit in hits
        )


def withhold(
    entries: EntryPort, ranked: Sequence[Ranked], distinct: Sequence[Ranked], branch: Branch, judge: Judge
) -> Judged:
    """Leaves out the rows that the provider may not see, and those whose text is equal to one of theirs.

    Args:
        entries: the session.
        ranked: all rows that were found.
        distinct: those of them that would be handed out.
        branch: where the rows stand.
        judge: says what may be handed out.

    Raises:
        PrivacyFailed: the policy could not be applied.
    """
    if not judge.policy.enabled:
        return Judged(cleared=judge.clear_all(distinct))
    try:
        verdicts = _judge(entries, ranked, branch, judge)
        worst: dict[bytes, Verdict] = {}
        for row in ranked:
            verdict = verdicts[row.candidate.entry.row]
            if not verdict.allowed:
                worst.setdefault(row.candidate.entry.digest, verdict)
        final = [worst.get(row.candidate.entry.digest) or verdicts[row.candidate.entry.row] for row in distinct]
        return Judged(
            cleared=judge.clear(distinct, final),
            withheld=tuple(
                Withheld(entry_id=row.candidate.entry.id, classification=verdict.classification, reason=verdict.reason)
                for row, verdict in zip(distinct, final, strict=True)
                if not verdict.allowed
            ),
            levels={
                row.candidate.entry.row: verdict.classification
                for row, verdict in zip(distinct, final, strict=True)
                if verdict.classification != "normal"
            },
        )
    except AforesaidError:
        raise
    except Exception as error:  # whatever went wrong, nothing may be handed out
        raise _failed(error) from error


def withhold_lines(answer: Retrieval, lines: Sequence[bytes | None], judge: Judge) -> Retrieval:
    """Leaves out hits whose line in the transcript, read again, says that the provider may not see them.

    Args:
        answer: what was found, judged by what is stored of it.
        lines: the raw line of each hit, None for one that is not there any more; empty if there is no transcript.
        judge: as for `withhold`.

    Raises:
        PrivacyFailed: the policy could not be applied.
    """
    if judge.open or not lines:
        return answer
    kept: list[Evidence] = []
    withheld: list[Withheld] = []
    try:
        for hit, line in zip(answer.hits, lines, strict=True):
            before = Verdict(allowed=True, classification=hit.classification, reason="")
            verdict = judge.judge_line(line, before) if line is not None else replace(before, allowed=False)
            if verdict.allowed:
                kept.append(hit)
            else:
                withheld.append(
                    Withheld(
                        entry_id=hit.ranked.candidate.entry.id,
                        classification=verdict.classification,
                        reason="privacy-source",
                    )
                )
    except Exception as error:  # as above
        raise _failed(error) from error
    if not withheld:
        return answer
    counts = replace(
        answer.diagnostics,
        privacy_excluded_count=answer.diagnostics.privacy_excluded_count + len(withheld),
        selected_tokens=sum(hit.tokens for hit in kept),
    )
    return replace(answer, hits=tuple(kept), withheld=(*answer.withheld, *withheld), diagnostics=counts)


class Gate:
    """Which entries of one session may be handed out, asked one by one: for searches that do not know their end."""

    def __init__(self, entries: EntryPort, judge: Judge, read_line: Callable[[Source], bytes | None]) -> None:
        """Takes who decides.

        Args:
            entries: the session.
            judge: says what may be handed out.
            read_line: gives the raw line of an entry, b"" if there is no transcript, None if it is another line now.
        """
        self._entries = entries
        self._judge = judge
        self._read_line = read_line
        self._known: dict[int, StoredEntry] = {}
        self._verdicts: dict[int, Withheld | None] = {}

    def admits(self, rows: Sequence[int]) -> bool:
        """Whether all of some rows may be handed out; rows of equal texts are asked about together.

        Raises:
            PrivacyFailed: the policy could not be applied.
        """
        return all(self.withheld(row) is None for row in rows)

    def withheld(self, row: int) -> Withheld | None:
        """Why a row may not be handed out, or None if it may.

        Raises:
            PrivacyFailed: the policy could not be applied.
        """
        if self._judge.open:
            return None
        try:
            if row not in self._verdicts:
                verdicts = [self._withholds(entry) for entry in self._entries.entries((row,))]
                self._verdicts[row] = next((one for one in verdicts if one is not None), None)
            return self._verdicts[row]
        except AforesaidError:
            raise
        except Exception as error:  # whatever went wrong, nothing may be handed out
            raise _failed(error) from error

    def _withholds(self, entry: StoredEntry) -> Withheld | None:
        answered = None
        if self._judge.rules.by_path and entry.role == "tool_result":
            spans = lineage.trace(self._entries.tree().runs, entry.row)
            answered = find_call(self._entries, entry, spans, self._known)
        verdict = self._judge.judge_entry(entry, answered)
        if verdict.allowed and entry.source.length:
            line = self._read_line(entry.source)
            if line is None:
                verdict = replace(verdict, allowed=False, reason="privacy-source")
            elif line:
                verdict = self._judge.judge_line(line, verdict)
        if verdict.allowed:
            return None
        return Withheld(entry_id=entry.id, classification=verdict.classification, reason=verdict.reason)


def tally(withheld: Iterable[Withheld]) -> tuple[Tally, ...]:
    """How often each class was withheld for each reason, in their order."""
    counts = Counter((one.reason, one.classification) for one in withheld)
    return tuple(
        Tally(reason=reason, classification=classification, count=count)
        for (reason, classification), count in sorted(counts.items())
    )


def _failed(error: Exception) -> PrivacyFailed:
    """The failure, without the error's own words."""
    return PrivacyFailed(
        f"the privacy policy could not be applied ({locate(error)})", "run it again with -v and report it"
    )


def _judge(entries: EntryPort, ranked: Sequence[Ranked], branch: Branch, judge: Judge) -> dict[int, Verdict]:
    """The verdict on each row."""
    known: dict[int, StoredEntry] = {}
    verdicts: dict[int, Verdict] = {}
    for row in ranked:
        entry = row.candidate.entry
        answered = None
        if judge.rules.by_path and entry.role == "tool_result":
            answered = find_call(entries, entry, branch.spans, known)
        verdicts[entry.row] = judge.judge_entry(entry, answered)
    return verdicts


def find_call(
    entries: EntryPort, result: StoredEntry, spans: Sequence[Span], known: dict[int, StoredEntry] | None = None
) -> StoredEntry | None:
    """The entry that called the tool whose result this is: the latest before it on the branch, or None.

    Args:
        entries: the session.
        result: a tool's result.
        spans: the rows of its branch, root first.
        known: entries that were read already, by row; grows.
    """
    known = {} if known is None else known
    wanted = set(result.calls) - {""}
    before = _rows_before(spans, result.row) if wanted else iter(())
    for _ in range(0, FARTHEST, _AT_ONCE):
        rows = list(islice(before, _AT_ONCE))
        known.update((entry.row, entry) for entry in entries.entries([row for row in rows if row not in known]))
        for entry in (known[row] for row in rows if row in known):
            if entry.role != "tool_result" and wanted.intersection(entry.calls):
                return entry
    return None


def _rows_before(spans: Sequence[Span], row: int) -> Iterator[int]:
    """The rows of a branch that precede a row, the nearest first."""
    met = False
    for first, last in reversed(spans):
        if first <= row <= last:
            met = True
            last = row - 1  # noqa: PLW2901 - the stretch ends before the row
        if met:
            yield from range(last, first - 1, -1)
