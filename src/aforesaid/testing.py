"""For whoever writes an `EmbeddingPort`: what aforesaid expects of it, as tests.

Subclass `EmbeddingPortContract` in a test module and give it a port:

    class TestMyPort(EmbeddingPortContract):
        def make(self):
            return MyPort()

pytest then runs its tests; without pytest, `check_embedding_port(port)` runs them all. Nothing here runs in use.
"""

from __future__ import annotations

from math import hypot, isfinite
from typing import TYPE_CHECKING, Final

from aforesaid.embedding import Profile
from aforesaid.privacy.judge import Judge
from aforesaid.privacy.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.embedding import Purpose
    from aforesaid.model import Cleared
    from aforesaid.ports import EmbeddingPort

__all__ = ["TEXTS", "EmbeddingPortContract", "check_embedding_port", "cleared"]

TEXTS: Final = (
    "The build fails with E0425 in src/main.rs.",
    "Il server non risponde più sulla porta 5433.",
    "Ошибка при подключении к базе данных",
    "数据库连接失败",
    "データベースに接続できません",
    "데이터베이스 연결 오류",
    "ฐานข้อมูลล้มเหลว",
    "שגיאת חיבור",
    "👩‍👩‍👧‍👦 e\u0301 \u200f",
    "\ud800 alone",
    "\x00",
    "?",
    "x" * 5000,
)
"""Texts of many scripts, and texts that are hardly any."""


def cleared(*texts: str, provider: str = "aforesaid-local") -> Cleared[str]:
    """Texts as a port gets them, where no privacy policy is in force."""
    return Judge(Policy(), provider=provider).clear_all(texts)


class EmbeddingPortContract:
    """The tests; `make` gives the port.

    Attributes:
        closeness: how far two vectors of one text may lie apart. Models that compute with few bits depend on what
            stands beside a text; give them more room.
    """

    closeness = 1e-3

    def make(self) -> EmbeddingPort:
        """A port that works."""
        raise NotImplementedError("give the port that is to be tested")

    def _embed(self, port: EmbeddingPort, *texts: str, purpose: Purpose = "source") -> list[Sequence[float]]:
        return list(port.embed(cleared(*texts, provider=port.profile.provider), purpose))

    def test_it_says_who_it_is(self) -> None:
        """The profile is complete and stays the same."""
        port = self.make()
        profile = port.profile
        assert isinstance(profile, Profile), "profile must be an aforesaid.embedding.Profile"
        assert profile.provider, "provider must not be empty"
        assert profile.model, "model must not be empty"
        assert 16 <= profile.dimensions <= 4096, "dimensions must be between 16 and 4096"
        assert profile.destination in ("local", "remote"), "destination must be local or remote"
        assert port.profile == profile, "profile must stay the same"

    def test_each_text_gets_a_vector_of_the_right_length(self) -> None:
        """As many vectors as texts, all of them finite and none all zero."""
        port = self.make()
        for purpose in ("source", "query"):
            vectors = self._embed(port, *TEXTS, purpose=purpose)
            assert len(vectors) == len(TEXTS), "one vector a text"
            for vector in vectors:
                assert len(vector) == port.profile.dimensions, "as many numbers as the profile says"
                length = hypot(*[float(value) for value in vector])
                assert isfinite(length), "all numbers must be finite"
                assert length > 0, "not all numbers may be zero"

    def test_vectors_come_in_the_order_of_the_texts(self) -> None:
        """A text has the same vector alone, in a batch, and in a batch in another order."""
        port = self.make()
        forwards = self._embed(port, *TEXTS)
        backwards = self._embed(port, *reversed(TEXTS))[::-1]
        for text, one, other in zip(TEXTS, forwards, backwards, strict=True):
            (alone,) = self._embed(port, text)
            assert _distance(one, other) < self.closeness, "the order of a batch must not matter"
            assert _distance(one, alone) < self.closeness, "a batch must not matter"

    def test_different_texts_have_different_vectors(self) -> None:
        """The first texts, which share no word, lie apart."""
        port = self.make()
        one, other = self._embed(port, TEXTS[0]), self._embed(port, TEXTS[1])
        assert one, "one vector a text"
        assert other, "one vector a text"
        assert _distance(one[0], other[0]) > self.closeness, "different texts must lie apart"


def check_embedding_port(port: EmbeddingPort) -> None:
    """Runs all tests of the contract on a port.

    Raises:
        AssertionError: it breaks one of them.
    """

    class Given(EmbeddingPortContract):
        def make(self) -> EmbeddingPort:
            return port

    given = Given()
    for name in sorted(vars(EmbeddingPortContract)):
        if name.startswith("test_"):
            getattr(given, name)()


def _distance(one: Sequence[float], other: Sequence[float]) -> float:
    """Between the directions of two vectors."""
    first, second = [float(value) for value in one], [float(value) for value in other]
    sizes = hypot(*first), hypot(*second)
    assert all(sizes), "not all numbers may be zero"
    return hypot(*(a / sizes[0] - b / sizes[1] for a, b in zip(first, second, strict=True)))
