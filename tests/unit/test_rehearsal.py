"""Answers that are made before their request stands in the transcript: the same as any, or not taken."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests import pi
from tests.words import any_text

from aforesaid.config import Config
from aforesaid.engine import Engine
from aforesaid.errors import TextSearchFailed
from aforesaid.hosts import wire
from aforesaid.storage.sqlite.snapshot import ShardSnapshot

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aforesaid.planning.values import Plan

SAID = (
    "the walnut table costs 412 crowns", "noted", "port 8417 is for the staging proxy of src/gate/proxy.py",
    "E2717 came from the retry budget", "la porta 8417 serve al proxy", "Порт 8417 занят", "数据库迁移失败了",
)  # fmt: skip
QUESTION = "which port has the staging proxy, and what was E2717?"
MODEL = "anthropic/some-model"


class Taken:
    """Counts the retrievals that were computed, those that were rehearsed apart."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.computed = 0
        compute, rehearse = Engine._compute, Engine.rehearse
        ahead = False

        def counted(*arguments: Any, **named: Any) -> Any:
            self.computed += not ahead
            return compute(*arguments, **named)

        def apart(*arguments: Any, **named: Any) -> bool:
            nonlocal ahead
            ahead = True
            try:
                return rehearse(*arguments, **named)
            finally:
                ahead = False

        monkeypatch.setattr(Engine, "_compute", counted)
        monkeypatch.setattr(Engine, "rehearse", apart)


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Taken:
    return Taken(monkeypatch)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A session whose first messages were compacted away."""
    return pi.write(tmp_path / "s.jsonl", history(SAID))


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path / "store") as opened:
        yield opened


def history(said: tuple[str, ...] | list[str]) -> list[pi.Row]:
    talk = pi.conversation(list(said))
    end = pi.compaction("cccccccc", talk[-1]["id"], "cccccccc", minute=9)
    return [pi.header("one"), *talk, end, pi.message("a0000001", "cccccccc", "go on", minute=10)]


SEEN = ("cccccccc", "a0000001")
LEAF = "a0000001"


def add(file: Path, *rows: pi.Row) -> None:
    with file.open("a", encoding="utf-8", errors="surrogatepass") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)


def ask(text: str = QUESTION, parent: str = LEAF, id_: str = "q0000001") -> pi.Row:
    return pi.message(id_, parent, text, minute=11)


def plan(engine: Engine, file: Path | str, *, seen: tuple[str, ...] = (*SEEN, "q0000001"), model: str = MODEL) -> Plan:
    return engine.plan(
        session=file, leaf=seen[-1], context_window=100_000, context_entries=seen, model=model, keep=False
    )


def rehearse(engine: Engine, file: Path, text: str = QUESTION, *, leaf: str = LEAF) -> bool:
    return engine.rehearse(session=file, leaf=leaf, request=text, context_entries=SEEN, model=MODEL)


def told(plan: Plan) -> object:
    """All that a host learns, but for how long it took."""
    found = plan.retrieval
    assert found is not None
    still = replace(found, diagnostics=replace(found.diagnostics, duration_ms=0.0))
    return wire.retrieval(still), plan.messages, plan.omitted, plan.reason


def fresh(tmp_path: Path, file: Path, **more: Any) -> object:
    with Engine.open(tmp_path / "other") as other:
        return told(plan(other, file, **more))


def test_a_plan_takes_the_answer_that_was_made_for_its_request(
    engine: Engine, file: Path, tmp_path: Path, taken: Taken
) -> None:
    assert rehearse(engine, file)
    add(file, ask())
    made = told(plan(engine, file))
    assert taken.computed == 0
    assert made == fresh(tmp_path, file)
    assert "8417" in str(made)
    assert taken.computed == 1


@settings(max_examples=60, deadline=None)
@given(said=st.lists(any_text, min_size=1, max_size=6), request=any_text, later=any_text)
def test_what_is_taken_is_what_would_be_computed(
    tmp_path_factory: pytest.TempPathFactory, said: list[str], request: str, later: str
) -> None:
    folder = tmp_path_factory.mktemp("rehearsal")
    file = pi.write(folder / "s.jsonl", history([*said, *SAID]))
    with Engine.open(folder / "store") as engine:
        for number, text in enumerate((request, later)):
            parent, id_ = ("a0000001", "q0000001") if not number else ("q0000001", "q0000002")
            engine.rehearse(session=file, leaf=parent, request=text, context_entries=SEEN, model=MODEL)
            add(file, ask(text, parent, id_))
            seen = (*SEEN, "q0000001", "q0000002")[: 3 + number]
            with Engine.open(folder / f"other{number}") as other:
                assert told(plan(engine, file, seen=seen)) == told(plan(other, file, seen=seen))


def test_a_request_that_is_written_already_is_answered_from_what_stands_there(
    engine: Engine, file: Path, tmp_path: Path, taken: Taken
) -> None:
    engine.index(file)
    add(file, ask())
    assert rehearse(engine, file)
    made = told(plan(engine, file))
    assert taken.computed == 0
    assert made == fresh(tmp_path, file)


def test_another_last_entry_is_no_request(engine: Engine, file: Path) -> None:
    add(file, ask("something else"))
    assert not rehearse(engine, file)


def test_an_answer_to_a_request_that_is_followed_by_more_is_not_taken(
    engine: Engine, file: Path, tmp_path: Path, taken: Taken
) -> None:
    add(file, ask())
    assert rehearse(engine, file)
    add(file, pi.message("b0000001", "q0000001", "E2717", role="assistant", minute=12))
    seen = (*SEEN, "q0000001", "b0000001")
    assert told(plan(engine, file, seen=seen)) == fresh(tmp_path, file, seen=seen)
    assert taken.computed == 2


def test_entries_that_came_since_the_last_call_are_seen_as_well(
    engine: Engine, file: Path, tmp_path: Path, taken: Taken
) -> None:
    add(file, pi.message("b0000001", LEAF, "port 8417 is what the staging proxy has", role="assistant", minute=10))
    assert rehearse(engine, file, leaf="b0000001")
    add(file, ask(parent="b0000001"))
    seen = (*SEEN, "b0000001", "q0000001")
    made = told(plan(engine, file, seen=seen))
    assert taken.computed == 0
    assert made == fresh(tmp_path, file, seen=seen)


def test_an_answer_to_something_else_is_not_taken(engine: Engine, file: Path, tmp_path: Path, taken: Taken) -> None:
    assert rehearse(engine, file, "what does the walnut table cost?")
    add(file, ask())
    made = told(plan(engine, file))
    assert taken.computed == 1
    assert made == fresh(tmp_path, file)


def test_an_answer_for_another_place_is_not_taken(engine: Engine, file: Path, tmp_path: Path, taken: Taken) -> None:
    assert rehearse(engine, file)
    add(file, ask(parent="cccccccc"))
    seen = ("cccccccc", "q0000001")
    made = told(plan(engine, file, seen=seen))
    assert taken.computed == 1
    assert made == fresh(tmp_path, file, seen=seen)


def test_an_answer_with_another_context_is_not_taken(engine: Engine, file: Path, tmp_path: Path, taken: Taken) -> None:
    assert rehearse(engine, file)
    add(file, ask())
    made = told(plan(engine, file, seen=("cccccccc", "q0000001")))
    assert taken.computed == 1
    assert made == fresh(tmp_path, file, seen=("cccccccc", "q0000001"))


def test_an_answer_from_before_another_entry_is_not_taken(
    engine: Engine, file: Path, tmp_path: Path, taken: Taken
) -> None:
    assert rehearse(engine, file)
    add(file, pi.message("b0000001", LEAF, "one more thing: E2717 again", minute=10), ask(parent="b0000001"))
    seen = (*SEEN, "b0000001", "q0000001")
    made = told(plan(engine, file, seen=seen))
    assert taken.computed == 1
    assert made == fresh(tmp_path, file, seen=seen)


def test_an_answer_from_a_file_that_was_rewritten_is_not_taken(
    engine: Engine, file: Path, tmp_path: Path, taken: Taken
) -> None:
    assert rehearse(engine, file)
    changed = file.read_text(encoding="utf-8").replace("staging proxy of", "staging switch of")
    file.write_text(changed, encoding="utf-8")
    add(file, ask())
    made = told(plan(engine, file))
    assert taken.computed == 1
    assert made == fresh(tmp_path, file)
    assert "staging switch" in str(made)


def test_an_answer_from_lines_that_no_longer_stand_in_the_file_is_not_taken(
    engine: Engine, tmp_path: Path, taken: Taken
) -> None:
    """A sync does not look at the middle of a file that grew; the lines of the evidence themselves are looked at."""
    apart = ["apples and pears " * 500]
    file = pi.write(tmp_path / "s.jsonl", history([*apart, *SAID, *apart]))
    assert rehearse(engine, file)
    changed = file.read_text(encoding="utf-8").replace("staging proxy of", "staging proxy at")
    file.write_text(changed, encoding="utf-8")
    add(file, ask())
    made = told(plan(engine, file))
    assert taken.computed == 1
    assert made == fresh(tmp_path, file)
    assert "staging proxy at" in str(made)


def test_an_answer_is_never_taken_for_another_session(engine: Engine, tmp_path: Path) -> None:
    """Sessions of the same shape with the same request, of which nothing can be synced: a gone file, and none."""
    mine = pi.write(tmp_path / "mine.jsonl", [*history(SAID), ask()])
    others = [*history([text.replace("8417", "9999") for text in SAID]), ask()]
    gone = pi.write(tmp_path / "gone.jsonl", others)
    engine.index(mine, gone)
    gone.unlink()
    engine.hold("memory:held", "".join(json.dumps(row) + "\n" for row in others).encode())
    for other in (gone, "memory:held"):
        assert rehearse(engine, mine)
        made = str(told(plan(engine, other)))
        assert "9999" in made
        assert "8417" not in made


def test_an_answer_of_a_search_that_failed_is_not_kept(
    engine: Engine, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise TextSearchFailed("damaged", "rebuild it")

    with monkeypatch.context() as patched:
        patched.setattr(ShardSnapshot, "find_terms", fail)
        patched.setattr(ShardSnapshot, "weigh_terms", fail)
        assert not rehearse(engine, file)
    assert rehearse(engine, file)


def test_an_answer_that_another_process_overtook_is_not_taken(
    engine: Engine, file: Path, tmp_path: Path, taken: Taken
) -> None:
    assert rehearse(engine, file)
    add(file, ask())
    with Engine.open(tmp_path / "store") as other:
        other.index(file)
    assert told(plan(engine, file)) == fresh(tmp_path, file)
    assert taken.computed == 2


def test_an_answer_for_another_provider_or_configuration_is_not_taken(engine: Engine, file: Path, taken: Taken) -> None:
    assert rehearse(engine, file)
    add(file, ask())
    plan(engine, file, model="local/other")
    assert taken.computed == 1
    assert engine.rehearse(session=file, leaf="q0000001", request="E2717?", context_entries=SEEN, model=MODEL)
    add(file, ask("E2717?", "q0000001", "q0000002"))
    engine.config = Config.load(settings={"retrieval.maxResults": 1})
    plan(engine, file, seen=(*SEEN, "q0000001", "q0000002"))
    assert taken.computed == 2


def test_privacy_decides_about_a_rehearsed_answer_too(tmp_path: Path, file: Path, taken: Taken) -> None:
    settings = {"privacy.enabled": True, "privacy.defaultClassification": "sensitive"}
    with Engine.open(tmp_path / "store", Config.load(settings=settings)) as engine:
        assert rehearse(engine, file)
        add(file, ask())
        made = plan(engine, file)
    assert taken.computed == 0
    assert made.retrieval is not None
    assert made.retrieval.hits == ()
    assert made.retrieval.withheld


def test_a_request_with_a_secret_is_looked_for_when_it_is_written(engine: Engine, file: Path, taken: Taken) -> None:
    text = "why does password=hT6kQ9zLw2xVb7 fail at the staging proxy?"
    assert rehearse(engine, file, text)
    add(file, ask(text))
    made = plan(engine, file)
    assert taken.computed == 1
    assert made.retrieval is not None


def test_nothing_of_a_rehearsal_is_kept(engine: Engine, file: Path) -> None:
    engine.index(file)
    (before,) = engine.sessions()
    assert rehearse(engine, file)
    assert engine.sessions() == (before,)
    assert engine.recall("staging proxy, and what was E2717", session=file).hits == ()


def test_there_is_no_answer_for_an_unknown_leaf_or_without_a_file(engine: Engine, file: Path) -> None:
    assert not rehearse(engine, file, leaf="nowhere1")
    engine.hold("memory:one", "".join(json.dumps(row) + "\n" for row in history(SAID)).encode())
    assert not engine.rehearse(session="memory:one", leaf=LEAF, request=QUESTION, context_entries=SEEN)


def test_a_plan_takes_an_answer_at_most_once(engine: Engine, file: Path, taken: Taken) -> None:
    assert rehearse(engine, file)
    add(file, ask())
    plan(engine, file)
    plan(engine, file)
    assert taken.computed == 1
