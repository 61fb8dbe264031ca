"""Requests in other words on branches of any length, with the models themselves: little history does not hide it."""

from __future__ import annotations

from array import array
from itertools import cycle, islice
from typing import TYPE_CHECKING

import pytest

from aforesaid.cli.eval.coding.filler import Filler, Words
from aforesaid.embedders import BY_NAME, STATIC, TRANSFORMER, make
from aforesaid.embedders.calls import Calls
from aforesaid.embedding import LOCAL_PROVIDER, Held, Profile
from aforesaid.semantic.matrix import make_matrix
from aforesaid.testing import cleared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.embedding import Purpose
    from aforesaid.semantic.matrix import Matrix

SAID = (
    ("The nightly backup stopped because the disk was full.", "why did the copies at night fail, no space left?"),
    ("We moved the login page to single sign-on last Tuesday.", "when did users begin to authenticate through SSO?"),
    ("The customer wants invoices in Swiss francs, not in euros.", "which currency should the bills be in?"),
    ("Sarah is on holiday until the tenth, ask Tom meanwhile.", "who stands in while Sarah is away on vacation?"),
    ("The photos load slowly since they are not compressed.", "why do pictures take so long to appear?"),
    ("Deleting an account also removes the comments of its owner.", "what happens to remarks when a user is erased?"),
    ("The flaky test fails when two workers use the same port.", "why does the unstable check break in parallel?"),
    ("The release was postponed by two weeks for legal reasons.", "how long was the launch delayed, and why?"),
)
"""What stands on the branch, and a request that shares hardly a word with it."""
NOTHING = (
    "how deep do whales dive?",
    "which apples are best for a pie?",
    "who composed the ninth symphony?",
    "when was the cathedral of Milan begun?",
    "what do owls eat in winter?",
    "how do I remove wine stains from wool?",
    "which planet has the most rings?",
    "perché le foglie cadono in autunno?",
)
"""Requests that nothing on the branch answers."""
FILES = ("src/ferry/plan.py", "docs/protocol.md", "src/ferry/locks.py", "tests/test_index.py")
NOUNS = ("chunk", "journal", "peer", "lock", "index", "folder", "protocol", "record", "flag", "buffer")
LEAST = {TRANSFORMER: 5, STATIC: 2}
"""Of the eight, those that are found with room to spare: the strict floors alone find two and none."""
MOST = 120
FIRST = (2, 14, 27, 45, 60, 77, 93, 111)
"""Rows, from 0, at which what is asked for stands."""


class Branch:
    """Vectors of 120 entries, and of the requests."""

    def __init__(self, model: str) -> None:
        local = BY_NAME[model]
        assert local.dimensions is not None
        self.scale = local.scale
        self.least = LEAST[model]
        self._profile = Profile(provider=LOCAL_PROVIDER, model=model, dimensions=local.dimensions)
        self._calls = Calls(lambda: make(self._profile), self._profile, seconds=300)
        self._batch = local.batch
        filler = Filler(Words(language="en", files=FILES, symbols=("copy_tree", "read_frames"), nouns=NOUNS), 7)
        texts = list(dict.fromkeys(one.text for _ in range(60) for one in filler.task() if len(one.text) < 200))[:MOST]
        for row, (said, _) in zip(FIRST, SAID, strict=True):
            texts[row] = said
        self._vectors = self._embed(texts, "source")
        self.asked = self._embed([request for _, request in SAID], "query")
        self.unrelated = self._embed(NOTHING, "query")

    def _embed(self, texts: Sequence[str], purpose: Purpose) -> list[bytes]:
        made: list[bytes] = []
        for at in range(0, len(texts), self._batch):
            outcome = self._calls.embed(cleared(*texts[at : at + self._batch]), purpose)
            assert outcome.reason is None
            made += outcome.values
        return made

    def matrix(self, first: int, count: int) -> Matrix:
        """A branch of so many entries; the row of an entry is its place among all."""
        rows = array("I", range(first, first + count))
        held = Held(
            rows=rows, starts=rows, ends=rows, hashes=bytes(16 * count),
            vectors=b"".join(self._vectors[first : first + count]),
        )  # fmt: skip
        return make_matrix(held, self._profile.dimensions)

    def brought_up(self, matrix: Matrix, query: bytes) -> list[int]:
        """The rows that come back by their vectors alone, best first."""
        found = matrix.nearest(query, [(0, MOST)], 5, self.scale.plain, usual=self.scale.usual)
        return [one.row for one in found if self.scale.admits(one)]


@pytest.fixture(scope="module", params=[TRANSFORMER, STATIC])
def branch(request: pytest.FixtureRequest) -> Branch:
    pytest.importorskip("onnxruntime" if request.param == TRANSFORMER else "wordllama")
    return Branch(request.param)


@pytest.mark.parametrize("count", [3, 12, 20, 120])
def test_other_words_find_what_was_said_on_a_branch_of_any_length(branch: Branch, count: int) -> None:
    found = 0
    for row, query in zip(FIRST, branch.asked, strict=True):
        first = min(max(0, row - count // 2), MOST - count)
        brought = branch.brought_up(branch.matrix(first, count), query)
        found += brought[:1] == [row]
    assert found >= branch.least


@pytest.mark.parametrize("count", [3, 12, 20, 120])
def test_what_nothing_answers_brings_up_nothing_on_a_branch_of_any_length(branch: Branch, count: int) -> None:
    starts = range(0, MOST - count + 1, max(1, count // 2))
    for first, query in zip(islice(cycle(starts), 64), islice(cycle(branch.unrelated), 64), strict=True):
        assert branch.brought_up(branch.matrix(first, count), query) == []
