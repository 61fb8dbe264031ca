"""Floor 2: models that are asked, or clients of them. A program may bring its own; `aforesaid.testing` checks them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.classification import Batch, Classifier
    from aforesaid.embedding import Profile, Purpose
    from aforesaid.model import Cleared


class EmbeddingPort(Protocol):
    """Makes vectors of texts: a local model, or a client of a remote one. Bring your own in any runtime.

    `aforesaid.testing.EmbeddingPortContract` checks an implementation. Whatever a port does wrong (it raises, hangs,
    answers with too few vectors, or with numbers that are none) costs the vectors of that call and nothing else.
    """

    @property
    def profile(self) -> Profile:
        """Which model this is; the same throughout, and exactly what the configuration names."""
        ...

    def embed(self, texts: Cleared[str], purpose: Purpose) -> Sequence[Sequence[float]]:
        """One vector of `profile.dimensions` finite numbers a text, in the order of the texts, none of them all zero.

        The same text gives the same vector, whatever stands beside it. Texts are never empty and may hold anything that
        a `str` can, lone surrogates included. Rows that have the buffer protocol (float32) are taken without copying.

        Args:
            texts: what the privacy policy lets the port's provider see (`texts.values`).
            purpose: whether they are sources, or a request that sources are searched for.
        """
        ...


class ClassifierPort(Protocol):
    """Asks a classifier how salient bundles are: a host's own one over the bridge to it, or one that a program brings.

    This is the only road on which words of a session lead to a classifier. `aforesaid.testing.ClassifierPortContract`
    checks an implementation. Whatever a port does wrong (it raises, hangs, answers something else than it was asked)
    costs the answer of that call and nothing else.
    """

    @property
    def classifier(self) -> Classifier:
        """Which one it asks: the same throughout, and exactly what the configuration names; never a substitute."""
        ...

    def classify(self, batch: Batch, seconds: float, answer: Callable[[object], None]) -> None:
        """Asks once, without retries, and hands what comes to `answer`: at once or later, from any thread, only once.

        Args:
            batch: the questions; nothing else may be sent.
            seconds: after so many nobody waits any more, and what runs should end.
            answer: takes `{"outcome": "answered", "result": {"stopReason", "answers", "usage"}}`, the result as Pi's
                classifiers give it, or `{"outcome": code}` with a code of `classification.OUTCOMES`.
        """
        ...
