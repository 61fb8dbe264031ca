"""Floor 5: the chronological, binary index of ranges over all candidates, and the bounded pool.

A node is a half-open range of places; its children are its halves. Nothing is stored: a node is arithmetic, and a
selection at a node looks at the candidates of its range, never at what its children selected. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Node(Struct, frozen=True, kw_only=True, gc=False):
    """Places from `start` and before `end`."""

    start: int
    end: int

    @property
    def children(self) -> tuple[Node, ...]:
        """The halves, the older one first; none of a single place."""
        if self.end - self.start < 2:
            return ()
        middle = (self.start + self.end) // 2
        return Node(start=self.start, end=middle), Node(start=middle, end=self.end)


def split(node: Node, depth: int) -> tuple[Node, ...]:
    """The nodes at a depth below a node, in their order; where the tree is not as deep, its leaves."""
    nodes: tuple[Node, ...] = (node,) if node.end > node.start else ()
    for _ in range(depth):
        nodes = tuple(child for one in nodes for child in one.children or (one,))
    return nodes


def bisect(node: Node) -> Iterator[int]:
    """All places of a node: the newest, the oldest, then the middles of what lies between, level by level."""
    if node.end <= node.start:
        return
    yield node.end - 1
    if node.end - node.start > 1:
        yield node.start
    level = [(node.start, node.end - 1)]
    while level:
        below: list[tuple[int, int]] = []
        for low, high in level:
            middle = (low + high) // 2
            if low < middle < high:
                yield middle
                below += ((low, middle), (middle, high))
            elif high - low == 2:
                yield low + 1
        level = below


def choose_pool(node: Node, relevance: Sequence[float], most: int) -> tuple[int, ...]:
    """The places that are compared, ascending.

    The most relevant ones take seven of eight places, so that none of them is lost to sampling; the rest, and what they
    leave, go to the ends and the middles of the time, which tell what is common in the session.

    Args:
        node: where to look.
        relevance: of each place, 0 for none; empty: of all none.
        most: at most so many.
    """
    pool = set(_best(relevance[node.start : node.end], node.start, most - most // 8))
    for place in bisect(node):
        if len(pool) >= most:
            break
        pool.add(place)
    return tuple(sorted(pool))


def _best(relevance: Sequence[float], start: int, most: int) -> list[int]:
    """The places of the largest figures above zero, of equal ones the latest; the first figure is that of `start`."""
    # Sorting bare numbers and looking once through them is far cheaper than a heap of pairs.
    least = sorted(relevance)[-most] if len(relevance) > most else 0.0
    found = [place for place, score in enumerate(relevance, start) if score >= least and score > 0]
    if len(found) > most:
        found.sort(key=lambda place: (relevance[place - start], place), reverse=True)
    return found[:most]
