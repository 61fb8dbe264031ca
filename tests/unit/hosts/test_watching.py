"""A service whose configuration changes while it runs."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from aforesaid import Engine
from aforesaid.config import Config
from aforesaid.config.layers import look
from aforesaid.hosts.watching import Watch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from aforesaid.hosts.watching import Place


def loads(file: Path) -> Callable[..., Config]:
    """What reads a named file, and that of a place."""

    def load(place: Place | None = None) -> Config:
        folder, trusted = place or (None, True)
        return Config.load(file, project=folder, trusted=trusted)

    return load


def test_a_changed_file_counts_from_the_next_call_on(tmp_path: Path) -> None:
    file = tmp_path / "named.json"
    file.write_text("{}")
    load = loads(file)
    with Engine.open(tmp_path / "store", load()) as engine:
        watch = Watch(engine, load)
        first = engine.config
        watch.renew()
        assert engine.config is first
        file.write_text(json.dumps({"privacy": {"enabled": True}}))
        watch.renew()
        assert engine.config.boolean("privacy.enabled")
        assert engine.config.privacy_stamp != first.privacy_stamp
        second = engine.config
        watch.renew()
        assert engine.config is second


def test_a_file_that_changed_before_the_first_call_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "named.json"
    file.write_text("{}")
    config = Config.load(file)
    file.write_text('{"privacy": {"enabled": true}}')
    with Engine.open(tmp_path / "store", config) as engine:
        Watch(engine, loads(file)).renew()
        assert engine.config.boolean("privacy.enabled")


def test_a_file_that_cannot_be_read_any_more_is_a_policy_that_nobody_knows(tmp_path: Path) -> None:
    file = tmp_path / "named.json"
    file.write_text("{}")
    load = loads(file)
    with Engine.open(tmp_path / "store", load()) as engine:
        watch = Watch(engine, load)
        file.write_text("{")
        watch.renew()
        assert engine.config.privacy_unknown
        assert engine.restricts("ollama")
        broken = engine.config
        watch.renew()
        assert engine.config is broken
        file.unlink()
        watch.renew()
        assert engine.config.privacy_unknown
        file.write_text('{"retrieval": {"maxResults": 3}}')
        watch.renew()
        assert not engine.config.privacy_unknown
        assert engine.config.integer("retrieval.maxResults") == 3


def test_each_place_has_its_own_configuration_and_keeps_it(tmp_path: Path) -> None:
    file = tmp_path / "named.json"
    file.write_text("{}")
    places: list[Place | None] = [None]
    for name, most in (("one", 1), ("two", 2)):
        own = tmp_path / name / ".aforesaid" / "config.json"
        own.parent.mkdir(parents=True)
        own.write_text(json.dumps({"retrieval": {"maxResults": most}}))
        places += [(str(tmp_path / name), True), (str(tmp_path / name), False)]
    load = loads(file)
    with Engine.open(tmp_path / "store", load()) as engine:
        watch = Watch(engine, load)
        seen = []
        for place in [*places, *places]:
            watch.renew(place)
            seen.append(engine.config)
        assert [config.integer("retrieval.maxResults") for config in seen[:5]] == [12, 1, 12, 2, 12]
        assert all(first is second for first, second in zip(seen[:5], seen[5:], strict=True))
        own.write_text(json.dumps({"retrieval": {"maxResults": 3}}))
        for place in places:
            watch.renew(place)
            seen.append(engine.config)
        assert [config.integer("retrieval.maxResults") for config in seen[10:]] == [12, 1, 12, 3, 12]
        assert seen[10] is seen[0]
        watch.renew(places[3])
        file.write_text(json.dumps({"context": {"mode": "observer"}}))
        assert watch.reload().integer("retrieval.maxResults") == 3
        assert engine.config.text("context.mode") == "observer"
        watch.renew()
        assert engine.config.integer("retrieval.maxResults") == 12


def test_many_places_are_not_kept_for_ever(tmp_path: Path) -> None:
    file = tmp_path / "named.json"
    file.write_text("{}")
    load = loads(file)
    with Engine.open(tmp_path / "store", load()) as engine:
        watch = Watch(engine, load)
        for number in range(100):
            watch.renew((str(tmp_path / str(number)), True))
        assert len(watch._known) <= 32


def test_the_state_of_files_tells_times_sizes_and_absence(tmp_path: Path) -> None:
    file = tmp_path / "a"
    assert look([str(file)]) == ("-",)
    file.write_text("x")
    os.utime(file, ns=(5, 1_700_000_000_123_456_700))
    assert look([str(file), str(tmp_path / "b")]) == ("1700000000123456700:1", "-")


def test_a_stamp_names_the_policy_and_nothing_else() -> None:
    def stamp(**more: object) -> str:
        return Config.load(settings=more).privacy_stamp

    plain = stamp()
    assert stamp(**{"retrieval.maxResults": 3, "privacy.enabled": False}) == plain
    others = [
        stamp(**{"privacy.enabled": True}),
        stamp(**{"privacy.rules": [{"path": "a", "classification": "internal"}]}),
        stamp(**{"privacy.rules": [{"path": "b", "classification": "internal"}]}),
        stamp(**{"privacy.remoteProviders": {"x": ["normal"]}}),
        stamp(**{"privacy.remoteProviders": {"x": []}}),
        stamp(**{"privacy.localProviders": []}),
        stamp(**{"privacy.redactSecrets": False}),
    ]
    assert len({plain, *others}) == len(others) + 1
