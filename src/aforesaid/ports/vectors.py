"""Floor 2: the vectors of a session, and the search of one request in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.answers import Semantic
    from aforesaid.embedding import Covered, Held, Passage, Profile, Scale, Similar
    from aforesaid.model import Span


class VectorPort(Protocol):
    """The vectors of one session, of any number of profiles. All methods raise subclasses of `StoreError`.

    Whatever changes does so at once or not at all. A store that cannot be written, or whose vectors are damaged, has
    none: damaged ones are begun anew by the next change.
    """

    def version(self, profile: Profile) -> bytes:
        """What changes whenever a profile's vectors do; empty while there are none."""
        ...

    def load(self, profile: Profile, *, vectors: bool = True) -> Held:
        """Everything that is held of a profile, or all but the vectors themselves, mostly in row order."""
        ...

    def covered(self, profile: Profile) -> Covered | None:
        """Which rows have been looked at, as `add` and `keep` were told; None for none."""
        ...

    def add(self, profile: Profile, passages: Sequence[Passage], vectors: Sequence[bytes], covered: Covered) -> None:
        """Adds vectors, parallel to passages that come in row order, and says which rows have been looked at."""
        ...

    def keep(self, profile: Profile, passages: Sequence[Passage], covered: Covered) -> int:
        """Leaves of a profile's vectors only those of these passages, told by their hashes, in the places given here.

        Returns how many went. Other profiles stay as they are.
        """
        ...

    def trim(self, profile: Profile, low: int) -> None:
        """Removes a profile's vectors of rows before `low`."""
        ...

    def profiles(self) -> tuple[tuple[Profile, int], ...]:
        """All profiles that have vectors here, with their numbers, by name and dimensions."""
        ...

    def forget(self, rows: Sequence[int]) -> None:
        """Removes the vectors of rows, of all profiles, so that nothing on the disk holds them."""
        ...

    def discard(self) -> None:
        """Removes all vectors of the session, so that nothing on the disk holds them."""
        ...


class SimilarityPort(Protocol):
    """The vector search of one request in one session."""

    @property
    def scale(self) -> Scale:
        """How similarities of the model count."""
        ...

    def find(
        self, request: str, spans: Sequence[Span], beside: Sequence[Span], admits: Callable[[int], bool] | None = None
    ) -> tuple[Similar, ...]:
        """Rows similar to a request, most similar first, from the plain floor of the model on; nothing if that fails.

        The filters hold before any limit.

        Args:
            request: what is asked for.
            spans: rows that may come back: only they count towards the limit.
            beside: rows of the branch that may not, but may raise their neighbours; with a limit of their own.
            admits: whether a row of `spans` may be handed out; None: all may.
        """
        ...

    def report(self, *, admitted: int, stale: int) -> Semantic:
        """What was done since the port was made: counts, identity, timings; never text.

        Args:
            admitted: rows that came up by their vector alone.
            stale: rows whose text is not any more what their vector was made of.
        """
        ...
