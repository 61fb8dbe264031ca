"""The real Pi, headless and offline, and a model that answers what a test says and keeps what it was asked.

The facts behind it are in `docs/hosts/pi.md`. Pi and Node come from npm; `make test` puts them into `.venv/pi`, and
`AFORESAID_PI` names another folder.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest

from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    Row = dict[str, Any]
    Script = Callable[[Row], Row | str]

PLACE = Path(os.environ.get("AFORESAID_PI", ROOT / ".venv" / "pi"))
NODE = PLACE / "node_modules" / "node" / "bin" / "node"
CLI = PLACE / "node_modules" / "@earendil-works" / "pi-coding-agent" / "dist" / "bundle" / "cli.js"
FRAME = "[AFORESAID HISTORICAL EVIDENCE"
PATIENCE = 60
FACT = "Remember: the gateway `PG_PORT` is 5433 because 5432 was taken."
QUESTION = "which value has PG_PORT?"
OFF_TOPIC = "how tall is the Eiffel tower?"
TOOLS = ROOT / "tests" / "fixtures" / "pi" / "tools.ts"
PROBE = ROOT / "tests" / "fixtures" / "pi" / "probe.ts"
WATCH = ROOT / "tests" / "fixtures" / "pi" / "watch.ts"

needs_pi = pytest.mark.skipif(
    not (NODE.exists() and CLI.exists()) and not os.environ.get("CI"), reason=f"no Pi in {PLACE}: `make test` brings it"
)


class Model:
    """A chat-completions server on the loopback. `script` makes the answer of a request; summaries get their own.

    Attributes:
        requests: the bodies that came, in order.
        script: gets a body and gives a text, or a call `{"tool", "arguments"}`, or a failure `{"status", "error"}`.
    """

    def __init__(self, script: Script | None = None) -> None:
        self.requests: list[Row] = []
        self.script: Script = script or (lambda _: "fine")
        self.summary = "a summary of what was said"
        self.tokens: Callable[[Row], int] = lambda _: 100
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                model.requests.append(body)
                answer = model.script(body) if body.get("tools") else model.summary
                if isinstance(answer, dict) and "status" in answer:
                    self._send(answer["status"], "application/json", json.dumps({"error": answer["error"]}).encode())
                else:
                    self._send(200, "text/event-stream", _stream(answer, model.tokens(body)))

            def _send(self, status: int, kind: str, content: bytes) -> None:
                with suppress(OSError):
                    self.send_response(status)
                    self.send_header("content-type", kind)
                    self.send_header("content-length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def calls(self) -> list[list[Row]]:
        """The messages of every request that was no summary."""
        return [body["messages"] for body in self.requests if body.get("tools")]

    @property
    def summaries(self) -> list[list[Row]]:
        return [body["messages"] for body in self.requests if not body.get("tools")]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _stream(answer: Row | str, tokens: int) -> bytes:
    delta: Row = {"role": "assistant", "content": answer}
    finish = "stop"
    if isinstance(answer, dict):
        call = {"name": answer["tool"], "arguments": json.dumps(answer["arguments"])}
        id_ = answer.get("id", "call_1")
        delta = {"role": "assistant", "tool_calls": [{"index": 0, "id": id_, "type": "function", "function": call}]}
        finish = "tool_calls"
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "fake-1"}
    usage = {"prompt_tokens": tokens, "completion_tokens": 5, "total_tokens": tokens + 5}
    chunks: list[Row] = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {**head, "choices": [], "usage": usage},
    ]
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n"


def text_of(message: Row) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def evidence(messages: list[Row]) -> list[int]:
    """The places of our messages in a request."""
    return [at for at, message in enumerate(messages) if text_of(message).startswith(FRAME)]


class Home:
    """A made-up user of Pi: home, Pi's folder, a store and a folder to work in.

    With `hasty` the timeouts are the product's own; else they are long.
    """

    def __init__(self, folder: Path, model: Model, **more: Any) -> None:
        self.folder = folder
        self.model = model
        self.agent = folder / "agent"
        self.work = folder / "work"
        self.store = folder / "store"
        for made in (self.agent, self.work, folder / "home"):
            made.mkdir(parents=True)
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("PI_", "AFORESAID_"))
        } | {
            "HOME": str(folder / "home"),
            "USERPROFILE": str(folder / "home"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_DATA_HOME": str(folder / "data"),
            "AFORESAID_STORE": str(self.store),
            "PYTHONPATH": str(ROOT / "src"),
            "PI_CODING_AGENT_DIR": str(self.agent),
            "PI_OFFLINE": "1",
            "PI_SKIP_VERSION_CHECK": "1",
            "PI_TELEMETRY": "0",
        }
        compat = {
            "supportsDeveloperRole": False, "supportsReasoningEffort": False, "supportsStore": False,
            "maxTokensField": "max_tokens", **more.pop("compat", {}),
        }  # fmt: skip
        cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
        known = {
            "id": "fake-1", "name": "Fake One", "reasoning": False, "input": ["text"],
            "contextWindow": more.pop("window", 128_000), "maxTokens": 4096, "cost": cost,
        }  # fmt: skip
        provider = {
            "baseUrl": f"http://127.0.0.1:{model.port}/v1", "api": "openai-completions", "apiKey": "x",
            "compat": compat, "models": [known],
        }  # fmt: skip
        (self.agent / "models.json").write_text(json.dumps({"providers": {"fake": provider}}))
        compaction = {"enabled": True, "reserveTokens": 2000, "keepRecentTokens": 200, **more.pop("compaction", {})}
        settings = {
            "defaultProvider": "fake", "defaultModel": "fake-1", "quietStartup": True, "enableInstallTelemetry": False,
            "enableAnalytics": False, "cacheWarming": "off", "retry": {"enabled": False}, "compaction": compaction,
        }  # fmt: skip
        hasty = more.pop("hasty", False)
        (self.agent / "settings.json").write_text(json.dumps({**settings, **more}))
        if not hasty:
            # A busy machine must not fail what is no matter of time.
            own = folder / "config" / "aforesaid"
            own.mkdir(parents=True)
            (own / "config.json").write_text(json.dumps({"host": {"timeoutMs": 5000, "firstCallTimeoutMs": 10_000}}))

    def aforesaid(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "aforesaid", *arguments]
        return subprocess.run(command, env=self.environment, cwd=self.work, capture_output=True, timeout=60, check=True)

    def command(self, *arguments: str) -> list[str]:
        return [str(NODE), str(CLI), *arguments]

    def print(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[bytes]:
        """Runs Pi in print mode."""
        return subprocess.run(
            self.command("-p", *arguments), env={**self.environment, **more}, cwd=self.work, capture_output=True,
            stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False,
        )  # fmt: skip

    def session_files(self) -> list[Path]:
        return sorted((self.agent / "sessions").rglob("*.jsonl"), key=lambda file: file.stat().st_mtime_ns)

    @property
    def loader(self) -> Path:
        return self.agent / "extensions" / "aforesaid.ts"

    def launch(self, python: str, *arguments: str) -> None:
        """Lets the extension start something else than the service."""
        lines = self.loader.read_text().splitlines(keepends=True)
        at = next(at for at, line in enumerate(lines) if line.startswith("const launch"))
        launch = json.loads(lines[at].removeprefix("const launch = ").rstrip(";\n"))
        launch |= {"python": python, "arguments": list(arguments)}
        lines[at] = f"const launch = {json.dumps(launch)};\n"
        self.loader.write_text("".join(lines))


class Watch:
    """How long Pi is held up before each request, measured by extensions that are loaded before and after ours."""

    ROOM = 200.0
    """Milliseconds beyond a timer in which what follows from it is done; less than a second timer would take."""

    def __init__(self, home: Home) -> None:
        self._log = home.folder / "watch.jsonl"
        home.environment["WATCH_LOG"] = str(self._log)
        for name in ("aaa-watch.ts", "zzz-watch.ts"):
            (home.agent / "extensions" / name).write_bytes(WATCH.read_bytes())

    @property
    def held(self) -> list[float]:
        """Milliseconds of each request, all that was waited for since the run began included."""
        held: list[float] = []
        began: dict[str, float] = {}
        for fact in self._facts():
            if fact["name"] == "timer":
                continue
            if not fact["last"]:
                began[fact["name"]] = fact["at"]
                continue
            took = fact["at"] - began.pop(fact["name"])
            if fact["name"] == "before_agent_start":
                held.append(took)
            else:
                held[-1] += took
        return held

    def kept(self, place: int, timer: float) -> bool:
        """Whether a request was held up no longer than a timer says, as far as timers come in time here."""
        late = max(fact["lateMs"] for fact in self._facts() if fact["name"] == "timer")
        return bool(self.held[place] <= timer + self.ROOM + 3 * max(0.0, late))

    def _facts(self) -> list[Row]:
        return [json.loads(line) for line in self._log.read_text().splitlines()]


class Pi:
    """Pi in RPC mode; use it as a context manager."""

    def __init__(self, home: Home, *arguments: str, **more: str) -> None:
        self.home = home
        self.errors = home.folder / "pi-errors.txt"
        self._log = self.errors.open("ab")
        self.process = subprocess.Popen(
            home.command("--mode", "rpc", *arguments), env={**home.environment, **more}, cwd=home.work,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
        )  # fmt: skip
        self.events: list[Row] = []
        self._queue: queue.SimpleQueue[Row | None] = queue.SimpleQueue()
        self._ids = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self._queue.put(json.loads(line))
        self._queue.put(None)

    def send(self, message: Row) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def wait(self, wanted: Callable[[Row], bool], patience: float = PATIENCE) -> Row:
        """The next event that is wanted; all that come before are kept."""
        deadline = time.monotonic() + patience
        while True:
            event = self._queue.get(timeout=max(0.01, deadline - time.monotonic()))
            assert event is not None, f"Pi ended: {self.errors.read_text()[-2000:]}"
            self.events.append(event)
            if wanted(event):
                return event

    def ask(self, kind: str, **fields: Any) -> Row:
        """The data of the response to a command."""
        self._ids += 1
        id_ = f"r{self._ids}"
        self.send({"id": id_, "type": kind, **fields})
        response = self.wait(lambda event: event.get("type") == "response" and event.get("id") == id_)
        assert response["success"], response
        return dict(response.get("data") or {})

    def prompt(self, text: str) -> None:
        """A prompt, until all that follows from it is settled."""
        if self.ask("prompt", message=text).get("disposition") != "handled":
            self.wait(lambda event: event.get("type") == "agent_settled")

    def say(self, text: str) -> str:
        """What an extension's command tells."""
        before = len(self.events)
        self.prompt(text)
        told = self._notices(before)
        while not told:
            self.wait(lambda event: event.get("method") == "notify")
            told = self._notices(before)
        return "\n".join(told)

    @property
    def notices(self) -> list[str]:
        return self._notices(0)

    def _notices(self, since: int) -> list[str]:
        return [event["message"] for event in self.events[since:] if event.get("method") == "notify"]

    @property
    def faults(self) -> list[Row]:
        return [event for event in self.events if event.get("type") == "extension_error"]

    def children(self) -> list[int]:
        """The processes that Pi started (Linux)."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError, ValueError):
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == self.process.pid and fields[0] != "Z":
                    found.append(int(folder.name))
        return found

    def close(self) -> int:
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()
        try:
            return self.process.wait(PATIENCE)
        finally:
            self._reader.join(PATIENCE)
            self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None and error[0] is not None:
            self.process.kill()
        self.close()


def fill(pi: Pi, number: int = 6) -> None:
    """Talks about something else."""
    for turn in range(number):
        pi.prompt(f"talk about apples and pears, part {turn}: " + "sweet and sour fruit " * 20)


def lose_the_fact(pi: Pi) -> None:
    """Says the fact and compacts it away."""
    pi.prompt(FACT)
    fill(pi)
    pi.ask("compact")


def carries_the_fact(request: list[Row], question: str = QUESTION) -> bool:
    """Whether a request has exactly one evidence message, with the fact, just before its question."""
    places = evidence(request)
    if not places:
        return False
    (place,) = places
    assert "5433" in text_of(request[place])
    assert request[place]["role"] == "user"
    assert text_of(request[place + 1]) == question
    return True
