"""For whoever writes an `EmbeddingPort` or a `ClassifierPort`: what aforesaid expects of it, as tests.

Subclass `EmbeddingPortContract` in a test module and give it a port:

    class TestMyPort(EmbeddingPortContract):
        def make(self):
            return MyPort()

pytest then runs its tests; without pytest, `check_embedding_port(port)` runs them all. `ClassifierPortContract` and
`check_classifier_port` do the same for the other. Nothing here runs in use.
"""

from __future__ import annotations

import threading
from math import hypot, isfinite
from typing import TYPE_CHECKING, Final

from aforesaid.classification import ANSWERED, OUTCOMES, Classifier
from aforesaid.embedding import Profile
from aforesaid.extractive.salience import make_batch, read_answers
from aforesaid.extractive.values import Bundle, Quoted
from aforesaid.model import Source, StoredEntry
from aforesaid.privacy.judge import Judge
from aforesaid.privacy.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.classification import Batch
    from aforesaid.embedding import Purpose
    from aforesaid.model import Cleared
    from aforesaid.ports import ClassifierPort, EmbeddingPort

__all__ = [
    "TEXTS",
    "ClassifierPortContract",
    "EmbeddingPortContract",
    "check_classifier_port",
    "check_embedding_port",
    "cleared",
]

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


class ClassifierPortContract:
    """The tests; `make` gives the port.

    Attributes:
        seconds: what an answer may take.
    """

    seconds = 30.0

    def make(self) -> ClassifierPort:
        """A port that works."""
        raise NotImplementedError("give the port that is to be tested")

    def _ask(self, port: ClassifierPort, batch: Batch) -> object:
        came, answers = threading.Event(), list[object]()

        def take(answer: object) -> None:
            answers.append(answer)
            came.set()

        port.classify(batch, self.seconds, take)
        assert came.wait(self.seconds), "what comes must be handed over in time"
        threading.Event().wait(0.05)
        assert len(answers) == 1, "an answer must be handed over only once"
        return answers[0]

    def test_it_says_who_it_is(self) -> None:
        """The classifier is complete and stays the same."""
        port = self.make()
        known = port.classifier
        assert isinstance(known, Classifier), "classifier must be an aforesaid.classification.Classifier"
        assert known.provider, "provider must not be empty"
        assert known.model, "model must not be empty"
        assert known.api, "api must not be empty"
        assert port.classifier == known, "classifier must stay the same"

    def test_every_bundle_gets_its_probability(self) -> None:
        """Exactly the questions are answered, each with a probability; or a code says why not."""
        port = self.make()
        for number in (1, len(TEXTS)):
            batch = _batch(port, TEXTS[:number])
            told = self._ask(port, batch)
            assert isinstance(told, dict), "an object must be handed over"
            assert told["outcome"] == ANSWERED or told["outcome"] in OUTCOMES, "the outcome must be a known one"
            assert told["outcome"] == ANSWERED, "a port that works must answer"
            found = read_answers(told["result"], batch)
            assert isinstance(found, dict), "each question, and nothing else, must have a probability from 0 to 1"
            assert len(found) == number, "one answer a question"


def check_classifier_port(port: ClassifierPort) -> None:
    """Runs all tests of the contract on a port.

    Raises:
        AssertionError: it breaks one of them.
    """

    class Given(ClassifierPortContract):
        def make(self) -> ClassifierPort:
            return port

    given = Given()
    given.test_it_says_who_it_is()
    given.test_every_bundle_gets_its_probability()


def _batch(port: ClassifierPort, texts: Sequence[str]) -> Batch:
    """Questions about bundles with these texts."""
    known = port.classifier
    judge = Judge(Policy(), provider=known.provider)
    bundles = [
        Bundle(key=b"%d" % row, sources=(Quoted(entry=_entry(row, text), parts=(text,)),))
        for row, text in enumerate(texts, 1)
    ]
    request = judge.clear_all(("which port?",))
    batch = make_batch(judge.clear_all(bundles), request, max_bytes=100_000, api=known.api or "", time_ms=60_000)
    if batch is None:
        raise AssertionError("at least one bundle fits")
    return batch


def _entry(row: int, text: str) -> StoredEntry:
    return StoredEntry(
        row=row, id=f"e{row}", kind="message", role="user", timestamp=None, text=text, parts=(len(text),),
        source=Source(line=row, offset=0, length=0, sha256=b""), digest=b"", tokens=1, automatic=True, request=True,
    )  # fmt: skip


def _distance(one: Sequence[float], other: Sequence[float]) -> float:
    """Between the directions of two vectors."""
    first, second = [float(value) for value in one], [float(value) for value in other]
    sizes = hypot(*first), hypot(*second)
    assert all(sizes), "not all numbers may be zero"
    return hypot(*(a / sizes[0] - b / sizes[1] for a, b in zip(first, second, strict=True)))
