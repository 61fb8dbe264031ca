"""Floor 5: the exchanges of a session, known without their texts and kept from one request to the next.

`survey` asks for the exchanges of a branch. A shelf reads ids and roles of what was appended since it was asked last,
so that the cost of a request does not grow with the texts of the session. One shelf serves one session.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from aforesaid.digests import blake2b
from aforesaid.extractive.sources import SOURCES
from aforesaid.extractive.values import Exchange

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aforesaid.inquiry import Outline
    from aforesaid.model import Branch, Span
    from aforesaid.ports import Snapshot

MOST_ANSWERS: Final = 6
"""Answers of one exchange; what an agent says further on its own is an exchange that follows it."""
_SAMPLES: Final = 8
"""Known sources that are compared before a shelf goes on from where it ended."""


class Shelf:
    """The sources of one session in file order."""

    def __init__(self) -> None:
        self._generation = -1
        self._entries = self._tokens = 0
        self._rows: list[int] = []
        self._ids: list[str] = []
        self._digests: list[bytes] = []
        self._opens = bytearray()
        self._asked: tuple[object, ...] = ()
        self._answer: tuple[Exchange, ...] = ()
        self._places = array("q")
        self._counts = [0]
        self._keys: dict[int, bytes] = {}

    def refresh(self, snapshot: Snapshot) -> None:
        """Takes in what the session has gained; all of it if what is known turns out to be another session's."""
        session = snapshot.session
        if session.generation == self._generation and session.entries == self._entries:
            return
        if not self._still_true(snapshot):
            self._entries = self._tokens = 0
            self._rows, self._ids, self._digests, self._opens = [], [], [], bytearray()
            self._asked = ()
        new = ((self._entries + 1, session.entries),)
        added = snapshot.outlines(new, SOURCES) if session.entries else ()
        for outline in added:
            self._rows.append(outline.row)
            self._ids.append(outline.id)
            self._digests.append(outline.digest)
            self._opens.append(outline.role == "user")
        self._tokens += snapshot.count_tokens(new)
        self._generation, self._entries = session.generation, session.entries

    def id_of(self, row: int) -> str:
        """The id of a source."""
        return self._ids[bisect_left(self._rows, row)]

    def key_of(self, place: int) -> bytes:
        """16 bytes that name the content of a bundle: ids and texts (normalised) of its entries.

        Args:
            place: of its exchange among those that were asked for last.
        """
        known = self._keys.get(place)
        if known is None:
            found = blake2b(digest_size=16)
            for row in (*self._answer[place].before, *self._answer[place].rows):
                at = bisect_left(self._rows, row)
                identity = self._ids[at].encode("utf-8", "surrogatepass")
                found.update(len(identity).to_bytes(4, "big") + identity + self._digests[at])
            known = self._keys[place] = found.digest()
        return known

    @property
    def places(self) -> array[int]:
        """The place of each row's exchange among those that were asked for last; -1 where it is in none.

        Rows behind the end are in none.
        """
        return self._places

    @property
    def length(self) -> int:
        """How many exchanges there are among those that were asked for last."""
        return len(self._answer)

    def count(self, start: int, end: int) -> int:
        """The sources of some exchanges, from and before a place among those that were asked for last."""
        return self._counts[end] - self._counts[start]

    def exchanges(self, branch: Branch, without: int | None = None) -> tuple[Exchange, ...]:
        """The exchanges of a branch of which something is lost, oldest first.

        Args:
            branch: where, and what of it the model still sees.
            without: row of the current request, which is never a source for itself.
        """
        # What follows the last lost row makes no exchange, so a session that grows keeps those that it has.
        spans = _until(branch.spans, branch.eligible[-1][1]) if branch.eligible else ()
        if without is not None and not any(first <= without <= last for first, last in branch.eligible):
            without = None
        asked = (spans, branch.eligible, without)
        if asked != self._asked:
            self._answer = tuple(self._group(spans, branch.eligible, without))
            self._counts = [0, *accumulate(len(one.rows) for one in self._answer)]
            self._places = array("q", (-1,)) * (self._entries + 1)
            for place, one in enumerate(self._answer):
                for row in one.rows:
                    self._places[row] = place
            self._keys = {}
            self._asked = asked
        return self._answer

    def _group(self, spans: Sequence[Span], eligible: Sequence[Span], without: int | None) -> Iterator[Exchange]:
        lost = _mask(eligible, self._entries)
        if without is not None and without <= self._entries:
            lost[without] = 0
        before: tuple[int, ...] = ()
        own: list[int] = []
        answers = 0
        for row, opens in self._along(spans):
            if opens or answers == MOST_ANSWERS:
                if own:
                    yield Exchange(rows=tuple(own), before=before)
                before, own, answers = tuple(own), [], 0
            if not opens:
                answers += 1
            if lost[row]:
                own.append(row)
        if own:
            yield Exchange(rows=tuple(own), before=before)

    def _along(self, spans: Sequence[Span]) -> Iterator[tuple[int, int]]:
        """The rows of the sources on a branch, root first, each with whether it opens an exchange."""
        for first, last in spans:
            start, end = bisect_left(self._rows, first), bisect_right(self._rows, last)
            yield from zip(self._rows[start:end], self._opens[start:end], strict=True)

    def _still_true(self, snapshot: Snapshot) -> bool:
        """Whether the session still has what is known of it, by a sample that always holds its ends.

        A sum tells of what was forgotten between them: it has no tokens any more.
        """
        count = len(self._rows)
        if self._entries and snapshot.count_tokens(((1, self._entries),)) != self._tokens:
            return False
        if not count:
            return self._entries == 0
        places = sorted({count * part // _SAMPLES for part in range(_SAMPLES)} | {count - 1})
        rows = [self._rows[place] for place in places]
        # Asked for by row: spans that lie far apart would have all rows between them looked at.
        found: Sequence[Outline] = snapshot.outlines(((rows[0], rows[-1]),), SOURCES, rows)
        known = [(self._rows[place], self._ids[place], self._digests[place]) for place in places]
        return [(one.row, one.id, one.digest) for one in found] == known


def _until(spans: Sequence[Span], end: int) -> tuple[Span, ...]:
    """Spans in branch order up to a row that stands in one of them."""
    at = next(place for place, (first, last) in enumerate(spans) if first <= end <= last)
    return (*spans[:at], (spans[at][0], end))


def _mask(spans: Sequence[Span], rows: int) -> bytearray:
    """A byte a row, 1 for the rows of the spans."""
    mask = bytearray(rows + 1)
    for first, last in spans:
        mask[first : last + 1] = b"\x01" * (last + 1 - first)
    return mask
