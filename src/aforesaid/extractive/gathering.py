"""Floor 5: what the index says of exchanges, from what it says of their entries.

`survey` calls it. Half of a long session may hold some word of a request, so nothing here makes an object for a row;
where numpy is loaded already it does the same for all rows at once, to the last bit. Pure.
"""

from __future__ import annotations

import sys
from array import array
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.answers import Weights

SECOND: Final = 0.7
"""What the second best entry of an exchange adds to what the index says of the best; the others add nothing."""


def gather(weights: Weights, places: array[int], length: int) -> Sequence[float]:
    """For each exchange the weight of its best entry and `SECOND` of its second best one; 0.0 where nothing stands.

    Args:
        weights: of entries, by their rows.
        places: the exchange of each row, -1 for none.
        length: how many exchanges there are.
    """
    numpy = sys.modules.get("numpy")
    if numpy is not None and len(weights):
        return gather_arrays(numpy, weights, places, length)
    return gather_singly(weights, places, length)


def gather_singly(weights: Weights, places: array[int], length: int) -> Sequence[float]:
    """`gather`, a row at a time."""
    best = [0.0] * length
    second = best[:]
    for row, score in zip(weights.rows, weights.scores, strict=True):
        place = places[row]
        if place < 0 or score <= second[place]:
            continue
        if score > best[place]:
            second[place], best[place] = best[place], score
        else:
            second[place] = score
    return array("d", [most + SECOND * next_ for most, next_ in zip(best, second, strict=True)])


def gather_arrays(numpy: Any, weights: Weights, places: array[int], length: int) -> Sequence[float]:
    """`gather`, all rows at once; there is at least one."""
    at = numpy.frombuffer(places, numpy.int64)[numpy.frombuffer(weights.rows, numpy.int64)]
    inside = at >= 0
    at, scores = at[inside], numpy.frombuffer(weights.scores, numpy.float64)[inside]
    if (at[1:] < at[:-1]).any():  # parents may come after their children in a file
        order = numpy.argsort(at, kind="stable")
        at, scores = at[order], scores[order]
    total = numpy.zeros(length)
    if len(at):
        begins = numpy.append(True, at[1:] != at[:-1])
        starts, group = numpy.flatnonzero(begins), numpy.cumsum(begins) - 1
        best = numpy.maximum.reduceat(scores, starts)
        tops = numpy.flatnonzero(scores == best[group])
        firsts = tops[numpy.append(True, group[tops[1:]] != group[tops[:-1]])]  # one of each exchange
        others = scores.copy()
        others[firsts] = 0.0
        total[at[starts]] = best + SECOND * numpy.maximum.reduceat(others, starts)
    return array("d", total.tobytes())
