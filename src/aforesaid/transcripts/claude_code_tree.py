"""Floor 6: where a row of a Claude Code file stands on its branch.

The file's own parents are not the order in which the model reads: results of parallel calls hang beside the way to the
leaf, progress of tools and hooks hangs between, and after a compaction the next row may hang on what stood before it.
`claude_code` hands in each row's id, parent and kind, and gets the canonical parent. A row that goes on where the
session ends hangs on its end, so that a conversation without rewinds is one line; a row that goes back keeps its
parent. Knows no JSON; holds what has to be remembered from one sync to the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

    RowKind = Literal["prompt", "assistant", "result", "progress", "boundary", "summary", "other"]

MOST_OPEN = 1000
"""Calls without a result that are remembered; the oldest are forgotten first."""
MOST_ANSWERS = 5000
"""Results that are remembered; far more than a context holds."""


class Tree(msgspec.Struct, kw_only=True):
    """The end of the session's tree.

    The current step is a message of the assistant, which comes as one row a block, or a prompt, with all that hangs on
    it.

    Attributes:
        leaf: id of the row that the session ends with; what goes on hangs on it.
        tail: the same, without lost rows.
        message: the message id of the current step.
        members: ids in the current step, each with the block or result that it hangs on.
        results: the ids of its results.
        last: the latest block or result in it.
        calls: calls without a result: the tool, and whether the session has left their branch.
        answers: the rows of results since the latest compaction, by their calls.
        preserved: ids that the latest compaction kept, until the conversation goes on.
        compacting: whether the row before was the boundary of a compaction.
    """

    leaf: str | None = None
    tail: str | None = None
    message: str | None = None
    members: dict[str, str] = {}
    results: list[str] = []
    last: str | None = None
    calls: dict[str, tuple[str, bool]] = {}
    answers: dict[str, str] = {}
    preserved: list[str] = []
    compacting: bool = False

    def open(self, calls: Iterable[tuple[str, str]]) -> None:
        """Remembers calls, as pairs of id and tool, until their results come."""
        for id_, tool in calls:
            self.calls[id_] = (tool, False)
        while len(self.calls) > MOST_OPEN:
            del self.calls[next(iter(self.calls))]

    def tool(self, call: str) -> str:
        """The tool of a call; empty where the call is not known."""
        return self.calls.get(call, ("", False))[0]

    def close(self, calls: Iterable[str], row: str) -> None:
        """Forgets calls whose results have come in a row, and remembers the row."""
        for id_ in calls:
            self.calls.pop(id_, None)
            self.answers[id_] = row
        while len(self.answers) > MOST_ANSWERS:
            del self.answers[next(iter(self.answers))]

    def keep(self, ids: Iterable[str]) -> None:
        """Notes what a compaction left, after its boundary was placed."""
        self.preserved = list(ids)
        self.compacting = True
        self.answers = {}

    def lose(self, id_: str, parent: str | None) -> str | None:
        """Places a lost row whose id was saved: children hang on it, and it may be the end of the session.

        Returns:
            Its canonical parent.
        """
        if parent is None or parent == self.leaf or parent in self.members:
            parent, self.leaf = self.leaf, id_
        return parent

    def place(
        self,
        id_: str,
        parent: str | None,
        kind: RowKind,
        *,
        message: str | None = None,
        calls: Iterable[str] = (),
    ) -> str | None:
        """The canonical parent of a row on the way to the leaf; it becomes the leaf unless it is beside the way.

        Args:
            id_: the row's id.
            parent: the parent that the file gives; of a boundary the logical one.
            kind: what the row is.
            message: id of the message that an assistant's row is a block of.
            calls: ids of the calls that a result answers.
        """
        place = self._continued(parent, kind, message, calls)
        if place == "aside":
            return parent
        self.compacting = False
        if place == "back":
            self._leave()
        canonical = parent if place == "back" else self.leaf
        self.leaf = self.tail = id_
        self._join(id_, parent, kind, message)
        return canonical

    def _continued(
        self, parent: str | None, kind: RowKind, message: str | None, calls: Iterable[str]
    ) -> Literal["on", "aside", "back"]:
        """Whether a row goes on at the leaf, stands beside the way, or goes back."""
        if parent is None:
            # Both follow the conversation whatever their parent says; any other row without one is a root.
            on = kind in {"boundary", "summary"} or self.leaf is None
        elif parent == self.leaf or parent in self.preserved:
            on = True
        elif parent in self.members:
            owner = self.members[parent]
            same = kind in {"result", "progress", "boundary"} or (kind == "assistant" and message == self.message)
            on = same or owner == self.last or owner in self.results
        else:
            # A call that is not known stands in a row that was lost.
            on = kind == "result" and any(not self.calls.get(call, ("", False))[1] for call in calls)
        if on:
            return "on"
        return "aside" if kind in {"result", "progress"} and parent is not None else "back"

    def _leave(self) -> None:
        """Goes to another branch: what was open stays behind."""
        self.calls = {id_: (tool, True) for id_, (tool, _) in self.calls.items()}
        self.members, self.results, self.last, self.message = {}, [], None, None
        self.preserved = []

    def _join(self, id_: str, parent: str | None, kind: RowKind, message: str | None) -> None:
        """Lets a row into the current step, or begins another one with it."""
        if kind == "assistant":
            if message is None or message != self.message:
                self.members, self.results, self.message = {}, [], message
            self.members[id_] = self.last = id_
        elif kind == "result" and parent in self.members:
            self.members[id_] = self.last = id_
            self.results.append(id_)
        elif kind == "result":
            # It answers an earlier step: what goes on hangs on the end of this one.
            self.members[id_] = self.last or id_
        elif kind == "prompt":
            self.members, self.results, self.last, self.message = {id_: id_}, [], id_, None
        elif kind in {"boundary", "summary"}:
            self.members, self.results, self.last, self.message = {}, [], None, None
        elif parent in self.members:
            self.members[id_] = self.members[parent]
            if kind == "progress" and self.members[parent] != parent:
                del self.members[parent]  # only the end of a chain is hung on
        if kind in {"assistant", "prompt"}:
            self.preserved = []
