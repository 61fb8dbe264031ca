"""Sixty and more operations in any order: no evidence ever comes from outside the active branch, and none is missing.

Beside each request stands what Pi itself said of the branch and of the context in the same moment.
"""

from __future__ import annotations

import json
import random
import re
from typing import TYPE_CHECKING, Any

import pytest
from tests.realpi import PROBE, Home, Model, Pi, evidence, needs_pi, text_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_pi
OPERATIONS = 90


class Walk:
    """One random walk through sessions and branches."""

    def __init__(self, home: Home, model: Model, seed: int) -> None:
        self.home = home
        self.model = model
        self.random = random.Random(seed)
        self.log = home.folder / "probe.jsonl"
        self.planted = 0
        self.asked: list[tuple[int, str]] = []
        self.done: dict[str, int] = {}
        self.pi = self._start()

    def _start(self, *arguments: str) -> Pi:
        return Pi(self.home, "-e", str(PROBE), *arguments, PROBE_LOG=str(self.log))

    def plant(self) -> None:
        self.planted += 1
        self.pi.prompt(f"remember that KEY_{self.planted} is {self.random.randrange(10**9)}")

    def ask(self) -> None:
        key = f"KEY_{self.random.randint(1, max(1, self.planted))}"
        self.pi.prompt(f"what is {key}?")

    def use_a_tool(self) -> None:
        key = f"KEY_{self.random.randint(1, max(1, self.planted))}"
        self.pi.prompt(f"use the tool for {key}")

    def talk(self) -> None:
        self.pi.prompt("apples and pears " * 60)
        self.pi.prompt("oranges and lemons " * 60)

    def compact(self) -> None:
        self.pi.send({"id": "compact", "type": "compact"})
        self.pi.wait(lambda event: event.get("id") == "compact")

    def _rows(self) -> list[dict[str, Any]]:
        return list(json.loads(self.pi.say("/entries"))["rows"])

    def move(self) -> None:
        rows = [row for row in self._rows() if row["type"] == "message" and row.get("role") in ("user", "assistant")]
        if rows:
            summarize = " summarize" if self.random.random() < 0.4 else ""
            self.pi.say(f"/goto {self.random.choice(rows)['id']}{summarize}")

    def fork(self) -> None:
        messages = self.pi.ask("get_fork_messages")["messages"]
        if messages:
            self.pi.ask("fork", entryId=self.random.choice(messages)["entryId"])

    def clone(self) -> None:
        self.pi.ask("clone")

    def switch(self) -> None:
        files = self.home.session_files()
        if files:
            self.pi.ask("switch_session", sessionPath=str(self.random.choice(files)))

    def restart(self) -> None:
        files = self.home.session_files()
        assert self.pi.faults == []
        self.pi.close()
        self.pi = self._start(*(["--session", str(self.random.choice(files))] if files else []))

    def run(self) -> None:
        steps = {
            self.plant: 8, self.ask: 14, self.use_a_tool: 4, self.talk: 4, self.compact: 8, self.move: 4, self.fork: 1,
            self.clone: 1, self.switch: 2, self.restart: 1,
        }  # fmt: skip
        for step in [self.plant, self.talk, self.plant, self.talk, self.compact]:
            step()
        for step in self.random.choices(list(steps), list(steps.values()), k=OPERATIONS):
            step()
            self.done[step.__name__] = self.done.get(step.__name__, 0) + 1
        assert self.pi.faults == []
        assert [notice for notice in self.pi.notices if notice.startswith("aforesaid")] == []
        self.pi.close()


def answer(body: dict[str, Any]) -> Any:
    last = text_of(body["messages"][-1])
    if last.startswith("use the tool") and body["messages"][-1]["role"] == "user":
        return {"tool": "bash", "arguments": {"command": "echo done"}}
    return "fine"


@pytest.mark.parametrize("seed", [1])
def test_only_the_active_branch_ever_comes_back(tmp_path: Path, model: Model, seed: int) -> None:
    model.script = answer
    home = Home(tmp_path, model, compaction={"keepRecentTokens": 60, "reserveTokens": 2000})
    home.aforesaid("install", "pi")
    walk = Walk(home, model, seed)
    try:
        walk.run()
    finally:
        walk.pi.process.kill()
        walk.pi.close()
    facts = [json.loads(line) for line in walk.log.read_text().splitlines()]
    calls = model.calls
    assert len(facts) == len(calls)
    brought = missed = 0
    for fact, request in zip(facts, calls, strict=True):
        places = evidence(request)
        sources = [re.search("Source entry: (.+)", text_of(request[place])).group(1) for place in places]  # type: ignore[union-attr]
        assert set(sources) <= set(fact["branch"]), "evidence from another branch"
        assert not set(sources) & set(fact["context"]), "evidence of what the model sees"
        asked = next(text_of(message) for message in reversed(request) if message["role"] == "user")
        key = re.search(r"KEY_\d+", asked)
        lost = [
            id_
            for id_, text in fact["said"].items()
            if key and text.startswith(f"remember that {key.group()} is") and id_ not in fact["context"]
        ]
        if lost and not asked.startswith("remember"):
            brought += 1
            missed += not set(lost) <= set(sources)
    print(f"{len(calls)} calls, {brought} with something to bring back, {walk.done}")
    assert brought >= 5
    assert missed == 0
