"""Talks to a real `aforesaid serve`."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Service:
    """A service as a child process; use it as a context manager. What it answers is what a test gets."""

    def __init__(self, environment: Mapping[str, str], folder: Path, *options: str) -> None:
        command = [sys.executable, "-m", "aforesaid", "serve", *options]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(environment),
            cwd=folder,
        )  # fmt: skip
        self._last = 0

    def send(self, *lines: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(line + b"\n" for line in lines))
        self.process.stdin.flush()

    def receive(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def ask(self, method: str, **params: Any) -> Any:
        """The whole answer to one request."""
        self._last += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}).encode())
        answer = self.receive()
        assert answer["id"] == self._last
        return answer

    def call(self, method: str, **params: Any) -> Any:
        """The result of one request."""
        answer = self.ask(method, **params)
        assert "result" in answer, answer
        return answer["result"]

    def refused(self, method: str, **params: Any) -> str:
        """The code of a request that is refused."""
        return str(self.ask(method, **params)["error"]["data"]["code"])

    def end(self) -> tuple[int, bytes]:
        """Ends the input; exit status and standard error."""
        out, err = self.process.communicate(timeout=60)
        assert out == b""
        return self.process.returncode, err

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
