"""Floor 6: a client of embeddings endpoints that speak OpenAI's protocol (`POST BASE/embeddings`).

Only a host's own code makes one, with an address and a key that no configuration of ours holds; `engine` then asks for
consent, policy and identity before every call. It takes nothing but what `privacy` cleared, and neither remembers nor
logs texts, vectors, answers or the key. The extra `remote` brings the HTTP library.
"""

from __future__ import annotations

import json
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from aforesaid.embedding import Profile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aforesaid.embedding import Purpose
    from aforesaid.model import Cleared


_OF_A_NUMBER: Final = 64
"""Bytes that an endpoint may spend on a number, with all its blanks; the longest float64 has 24."""
_BESIDE: Final = 1 << 16
"""Bytes of an answer that are no numbers."""


class RemoteEmbeddings:
    """An `EmbeddingPort` over HTTP."""

    def __init__(
        self, address: str, key: str, *, provider: str, model: str, dimensions: int, seconds: float = 10.0
    ) -> None:
        """Makes a client; nothing is sent yet.

        Args:
            address: beginning of the endpoint's URL, `https://…/v1`; plain `http` only on this machine.
            key: sent as a bearer token.
            provider: its name in `privacy.remoteProviders`.
            model: as the endpoint calls it.
            dimensions: of the vectors that it gives.
            seconds: after which it gives up by itself, whatever has come by then.

        Raises:
            ImportError: the extra `remote` is not installed.
            ValueError: the address would carry texts over a network without encryption.
        """
        import httpx  # late: few have remote models

        url = httpx.URL(address)
        if url.scheme != "https" and url.host not in ("localhost", "127.0.0.1", "::1"):
            raise ValueError("the address must begin with https://")
        self.profile: Profile = Profile(provider=provider, model=model, dimensions=dimensions, destination="remote")
        self._address = address.rstrip("/") + "/embeddings"
        self._seconds = seconds
        self._client: Any = httpx.Client(
            timeout=seconds,
            headers={"Authorization": f"Bearer {key}"},
            follow_redirects=False,
            trust_env=True,
            transport=httpx.HTTPTransport(retries=0),
        )

    def embed(self, texts: Cleared[str], purpose: Purpose) -> Sequence[Sequence[float]]:
        """See `EmbeddingPort`; one request, never repeated.

        Raises:
            TypeError: the texts were not cleared, or for another provider.
            httpx.HTTPError, ValueError: the endpoint did not answer as it should.
        """
        del purpose
        if texts.provider != self.profile.provider:
            raise TypeError("the texts were cleared for another provider")
        body = {
            "model": self.profile.model,
            "input": [text.encode("utf-8", "replace").decode("utf-8") for text in texts.values],
            "encoding_format": "float",
        }
        count = len(texts.values)
        most = _BESIDE + count * (self.profile.dimensions * _OF_A_NUMBER + 1_000)
        return _vectors(json.loads(self._ask(body, most)), count)

    def _ask(self, body: Mapping[str, object], most: int) -> bytes:
        """The answer as it comes, as long as it is neither too late nor too long."""
        until, parts, size = monotonic() + self._seconds, [], 0
        with self._client.stream("POST", self._address, json=body) as answer:
            answer.raise_for_status()
            for part in answer.iter_bytes():
                parts.append(part)
                size += len(part)
                if size > most:
                    raise ValueError("the endpoint's answer is longer than that many vectors")
                if monotonic() > until:
                    raise TimeoutError("the endpoint's answer takes too long")
        return b"".join(parts)

    def close(self) -> None:
        """Gives back its connections."""
        self._client.close()


def _vectors(answer: Any, count: int) -> list[list[float]]:
    """The vectors in the order of the texts; the endpoint may list them in any order."""
    listed = answer["data"] if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        raise ValueError("the endpoint's answer has no list of data")  # noqa: TRY004 - what it sent is a wrong value
    found = {item["index"]: item["embedding"] for item in listed if isinstance(item, dict)}
    if sorted(found) != list(range(len(listed))):
        raise ValueError("the endpoint's answer does not number its vectors")
    return [found[place] for place in range(min(len(listed), count + 1))]
