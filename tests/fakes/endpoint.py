"""An embeddings endpoint on this machine that speaks OpenAI's protocol and records what it was sent."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

from aforesaid.testing import cleared

if TYPE_CHECKING:
    from collections.abc import Callable

    from aforesaid.embedders.feature_hash import FeatureHash


class Endpoint:
    """A server in a thread; use it as a context manager."""

    def __init__(self, model: FeatureHash, answer: Callable[[Any, Any], tuple[int, Any]] | None = None) -> None:
        """Takes what makes the vectors, and what may be answered instead (`(request, answer) -> (status, answer)`)."""
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.requests.append(body)
                endpoint.headers.append({name.lower(): value for name, value in self.headers.items()})
                vectors = model.embed(cleared(*body["input"]), "source")
                data = [
                    {"object": "embedding", "index": place, "embedding": list(vector)}
                    for place, vector in enumerate(vectors)
                ]
                reply: Any = {"object": "list", "model": body["model"], "data": data[::-1]}
                status, reply = (200, reply) if answer is None else answer(body, reply)
                sent = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
