"""A classifier on the loopback that answers what a test says and keeps what it was asked."""

from __future__ import annotations

import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from aforesaid.classification import Classifier as Named

if TYPE_CHECKING:
    from collections.abc import Callable

    from aforesaid.classification import Batch
    from tests.realpi import Home

    Row = dict[str, Any]


class Fixed:
    """The `ClassifierPort` of a program, which says the same of everything.

    Attributes:
        batches: what it was asked.
        probability: what it says.
        hang: set by a test to let a call that hangs end.
    """

    def __init__(self, probability: object = 0.75, *, provider: str = "typesafe", model: str = "org/one") -> None:
        self.batches: list[Batch] = []
        self.probability = probability
        self.looked = 0
        self.hang: threading.Event | None = None
        self._named = Named(provider=provider, model=model, api="any")

    @property
    def classifier(self) -> Named:
        self.looked += 1
        return self._named

    def classify(self, batch: Batch, seconds: float, answer: Callable[[object], None]) -> None:
        assert seconds > 0
        self.batches.append(batch)
        if self.hang is not None:
            self.hang.wait(30)
        answers = {name: {"type": "bool", "probability": self.probability} for name in batch.questions}
        answer({"outcome": "answered", "result": {"stopReason": "stop", "answers": answers, "usage": {"input": 3}}})


class Classifier:
    """Speaks `raw` (a whole result, see `fixtures/pi/classifier.ts`), `systemone` and `decisions`.

    Attributes:
        requests: the bodies that came, in order.
        probability: what is said of every question, unless
        script: makes the answer of a request: a JSON value, or a status.
        seconds: what every answer takes.
        left: requests whose asker went away before the answer.
    """

    def __init__(self) -> None:
        self.requests: list[Row] = []
        self.paths: list[str] = []
        self.probability: object = 0.75
        self.script: Callable[[Row], Any] | None = None
        self.seconds = 0.0
        self.release = threading.Event()
        classifier = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                classifier.requests.append(body)
                classifier.paths.append(self.path)
                if classifier.seconds:
                    classifier.release.wait(classifier.seconds)
                make = classifier.script or classifier.answer
                said = make({**body, "path": self.path})
                status = said if isinstance(said, int) else 200
                content = b"{}" if isinstance(said, int) else json.dumps(said).encode()
                with suppress(OSError):
                    self.send_response(status)
                    self.send_header("content-type", "application/json")
                    self.send_header("content-length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def answer(self, body: Row) -> Any:
        """A sound answer in the form of the path."""
        if body["path"].endswith("/decisions"):
            names = [question["name"] for question in body["questions"]]
            return {
                "answers": [{"name": name, "type": "predicate", "probability": self.probability} for name in names],
                "usage": {"input_tokens": 30, "output_tokens": 2},
            }
        if body["path"].endswith("/systemone"):
            return {
                "answers": {name: {"type": "noul", "noul": self.probability} for name in body["questions"]},
                "usage": {"input_tokens": 30, "output_tokens": 2},
            }
        return self.result(body)

    def result(self, body: Row, **changed: Any) -> Row:
        answers = {name: {"type": "bool", "probability": self.probability} for name in body["questions"]}
        usage = {"input": 30, "output": 2}
        return {"answers": answers, "stopReason": "stop", "usage": usage, **changed}

    def wait(self, number: int, patience: float = 30) -> None:
        """Until so many requests have come."""
        end = time.monotonic() + patience
        while len(self.requests) < number:
            assert time.monotonic() < end, "nobody asked the classifier"
            time.sleep(0.02)

    def close(self) -> None:
        self.release.set()
        self._server.shutdown()
        self._server.server_close()


def offer(home: Home, classifier: Classifier) -> None:
    """Lets Pi's own providers of classifiers lead to the loopback."""
    file = home.agent / "models.json"
    known = json.loads(file.read_text())
    for name in ("typesafe", "openai"):
        known["providers"][name] = {"baseUrl": classifier.url, "apiKey": "fake"}
    file.write_text(json.dumps(known))


def configure(home: Home, **extractive: object) -> None:
    """Sets options of `memory.extractive` as an editor of the file would."""
    file = home.folder / "config" / "aforesaid" / "config.json"
    document = json.loads(file.read_text())
    document.setdefault("memory", {}).setdefault("extractive", {}).update(extractive)
    draft = file.with_suffix(".new")
    draft.write_text(json.dumps(document))
    draft.replace(file)
