"""Sessions full of planted words of which it is known by construction who may see them, and random policies.

The generator never asks the code under test: it writes each word at a level, by the rules of `docs/privacy.md`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests import pi

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

LEVELS = ("normal", "internal", "sensitive", "local-only")
TOPIC = "walnut"
REQUEST = f"what about the {TOPIC}?"
FILLER = "and so on, with many words that say nothing of interest here. "
SECRET_FILE, OPEN_FILE = "secrets/key.txt", "docs/readme.txt"


@dataclass
class World:
    """One session, one policy, one provider.

    Attributes:
        rows: the transcript.
        levels: for each entry that could come back, the levels of the stretches in it.
        words: for each of those entries, the words that stand in it and nowhere else.
        marked: for each word, the levels of the markers around it.
        calls: for each tool's result, what its call named.
        settings: the configuration.
        provider: who is called.
    """

    rows: list[pi.Row] = field(default_factory=list)
    levels: dict[str, set[str]] = field(default_factory=dict)
    words: dict[str, list[str]] = field(default_factory=dict)
    marked: dict[str, set[str]] = field(default_factory=dict)
    calls: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    provider: str | None = None

    @property
    def allowed(self) -> set[str]:
        """The levels that the provider may see, by the plain words of the page."""
        lists = self.settings["privacy.remoteProviders"]
        if self.provider in self.settings["privacy.localProviders"] and self.provider not in lists:
            return set(LEVELS)
        return set(lists.get(self.provider, self.settings["privacy.remoteDefaultAllowed"])) - {"local-only"}

    @property
    def permitted(self) -> set[str]:
        """The entries that the provider may see: all of their stretches."""
        return {id_ for id_, levels in self.levels.items() if levels <= self.allowed}

    def may_not_name(self, text: str) -> bool:
        """Whether a text names a file whose rule keeps it here, outside of all markers."""
        return self._named_by(text) not in {"normal", *self.allowed}

    def _named_by(self, text: str) -> str:
        of_path = [rule["classification"] for rule in self.settings["privacy.rules"] if "path" in rule]
        return highest("normal", *of_path) if SECRET_FILE in text else "normal"

    def stays_here(self, word: str, named_by: str) -> bool:
        """Whether a word may not leave in a message of the host's own: somebody marked it, or named its file.

        Args:
            word: it.
            named_by: what may name the file: the call of a result.
        """
        named = self._named_by(named_by)
        levels = {highest(named, level) for level in self.marked[word]} or ({named} - {"normal"})
        return not levels <= self.allowed

    def write(self, folder: Path, name: str) -> Path:
        return pi.write(folder / f"{name}.jsonl", self.rows)


def highest(*levels: str) -> str:
    return max(levels, key=LEVELS.index)


def make_world(random: Random, number: int) -> World:
    world = World()
    project = random.choice(["/home/dev/shop", "/home/dev/clients/acme/app", "/srv/tool"])
    _make_policy(random, world)
    rules = world.settings["privacy.rules"]
    floor = highest(
        world.settings["privacy.defaultClassification"],
        *(rule["classification"] for rule in rules if "path" not in rule and project.startswith(rule["project"])),
    )
    of_path = highest(floor, *(rule["classification"] for rule in rules if "path" in rule))
    world.rows = [pi.header(f"session-{number}", cwd=project)]
    parent: str | None = None
    for at in range(random.randint(4, 9)):
        id_ = f"e{number:04}{at:03}"
        names_path = random.random() < 0.2
        base = of_path if names_path else floor
        if random.random() < 0.25:
            parent = _add_call(random, world, id_, parent, of_path, floor)
            continue
        lead = f"{random.choice(['see', '`cat', '看'])} {SECRET_FILE} " if names_path else ""
        text, levels, words = _make_text(random, world, id_, base, lead)
        world.rows.append(pi.message(id_, parent, text, random.choice(["user", "assistant"]), at))
        world.levels[id_], world.words[id_] = levels, words
        parent = id_
    world.rows.append(pi.compaction(f"c{number}", parent, f"c{number}", minute=50))
    world.rows.append(pi.message(f"r{number}", f"c{number}", REQUEST, minute=51))
    return world


def _make_policy(random: Random, world: World) -> None:
    def some(most: int = 4) -> list[str]:
        return random.sample(LEVELS, random.randint(0, most))

    rules: list[dict[str, str]] = []
    if random.random() < 0.4:
        rules.append({"project": "/home/dev/clients", "classification": random.choice(LEVELS)})
    if random.random() < 0.6:
        rules.append({"path": "secrets/**", "classification": random.choice(LEVELS)})
    random.shuffle(rules)
    world.settings = {
        "privacy.enabled": True,
        "privacy.defaultClassification": random.choice(["normal", "normal", *LEVELS]),
        "privacy.localProviders": random.choice([["here"], ["here", "both"], []]),
        "privacy.remoteDefaultAllowed": random.choice([["normal", "internal"], some()]),
        "privacy.remoteProviders": random.choice([{}, {"there": some()}, {"there": some(), "both": some()}]),
        "privacy.rules": rules,
        "retrieval.maxResults": 100,
        "context.maxRetrievedHistoryTokens": 200_000,
    }
    world.provider = random.choice([None, "here", "there", "both", "Here", "nowhere"])


def _add_call(random: Random, world: World, id_: str, parent: str | None, of_path: str, floor: str) -> str:
    """A call that names a file, and its result, which does not."""
    secret = random.random() < 0.5
    base = of_path if secret else floor
    file = SECRET_FILE if secret else OPEN_FILE
    by_command = random.random() < 0.5
    arguments = {"command": f"cat {file}"} if by_command else {"path": file}
    call = pi.message(id_, parent, "", "assistant")
    call["message"]["content"] = [
        {"type": "toolCall", "id": f"call-{id_}", "name": "bash" if by_command else "read", "arguments": arguments}
    ]
    text, levels, words = _make_text(random, world, f"{id_}r", base)
    world.calls[f"{id_}r"] = file
    result = pi.message(f"{id_}r", id_, text, "toolResult")
    result["message"]["toolCallId"] = f"call-{id_}"
    world.rows += [call, result]
    world.levels[f"{id_}r"], world.words[f"{id_}r"] = levels, words
    return f"{id_}r"


def _make_text(random: Random, world: World, id_: str, base: str, lead: str = "") -> tuple[str, set[str], list[str]]:
    """A text with the topic and two planted words, the levels of its stretches, and the words.

    Args:
        random: decides.
        world: gets the levels of the markers around the words.
        id_: the entry, for the words.
        base: level of what is not marked.
        lead: what the text begins with.
    """
    first, second = f"canary{id_}a", f"canary{id_}b"
    one, two = random.choice(LEVELS), random.choice(LEVELS)
    far = FILLER * random.choice([0, 0, 3, 250])
    head = f"the {TOPIC} {far}"
    begin, end = _markers(random, one)
    begin2, end2 = _markers(random, two)
    whole = {highest(base, one), highest(base, two)}
    none: set[str] = set()
    both = {one, two}
    texts: list[tuple[str, set[str], set[str], set[str]]] = [
        (f"{head} {first} {second}", {base}, none, none),
        (f"{head} {first} {second}", {base}, none, none),
        (f"{head} {begin}{first}{end} {second}", {base, highest(base, one)}, {one}, none),
        (f"{head} {begin}{first}{end} and {begin2}{second}{end2}", {base, *whole}, {one}, {two}),
        (f"{head} {begin}{first}\n\n{second}", {base, highest(base, one)}, {one}, {one}),
        (f"{begin}{head}{first}{end} {second}", {base, highest(base, one)}, {one}, none),
        (f"{begin}{head}{first} {second}", {highest(base, one), *([base] if lead else [])}, {one}, {one}),
        (f"{head} {begin}{first} {begin2}{second}{end2}{end}", whole, both, both),
        (f"{head} {begin}{first} {begin2}{second}{end}{end2}", whole, both, both),
        (f"{head} {first}{end} {second}", {highest(base, one)}, {one}, {one}),
        (
            f"{head} {first} {begin}{second} {end2}",
            whole if one != two else {base, highest(base, one)},
            both if one != two else none,
            both,
        ),
        (f"{head} {first} [aforesaid:top-secret]{second}", {"local-only"}, {"local-only"}, {"local-only"}),
    ]
    text, levels, world.marked[first], world.marked[second] = random.choice(texts)
    return lead + text, levels, [first, second]


def _markers(random: Random, level: str) -> tuple[str, str]:
    return random.choice(
        [
            (f"[aforesaid:{level}]", f"[/aforesaid:{level}]"),
            (f"[aforesaid:{level}]", f"[/aforesaid:{level}]"),
            (f"[Aforesaid: {level.upper()}]", f"[ /aforesaid:{level} ]"),
            (f"［ａｆｏｒｅｓａｉｄ：{level}］", f"［／aforesaid：{level}］"),
        ]
    )


def leaked(world: World, document: object) -> list[str]:
    """The planted words in a document that the provider may not see."""
    text = json.dumps(document, ensure_ascii=False)
    permitted = world.permitted
    return [word for id_, words in world.words.items() if id_ not in permitted for word in words if word in text]
