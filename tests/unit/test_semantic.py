"""Semantic retrieval through the engine: what it finds, what it never does, and how it fails."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from array import array
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st
from tests.conftest import ROOT
from tests.fakes.embedding import Recorder, settings
from tests.pi import compaction, conversation, header, message, path_of, write

from aforesaid.engine import Engine
from aforesaid.storage.sqlite.connection import open_writable
from aforesaid.storage.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

    from aforesaid.answers import Retrieval, Semantic

TEXTS = [
    "We bought a vehicle last week.",
    "Noted.",
    "The cash is in the blue box.",
    "Understood, I will remember it.",
    "My physician lives near the harbour.",
    "Fine.",
    "The token lives in src/app/auth.py and nowhere else.",
    "Good.",
    "The automobile of my sister is in src/app/auth.py by mistake.",
    "Strange.",
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "s.jsonl", [header(), *conversation(TEXTS)])


def opened(tmp_path: Path, port: Recorder | None = None, **more: object) -> Engine:
    port = port or Recorder()
    return Engine.open(tmp_path / "store", settings=settings(port, **more), embedding=port)


def ask(engine: Engine, file: Path, query: str, **more: Any) -> Retrieval:
    return engine.retrieve(session=file, query=query, context_entries=more.pop("context_entries", ()), **more)


def ids(found: Retrieval) -> list[str]:
    return [hit.entry_id for hit in found.hits]


def told(found: Retrieval) -> Semantic:
    assert found.diagnostics.semantic is not None
    return found.diagnostics.semantic


def vectors_of_the_session(tmp_path: Path) -> Path:
    (path,) = [path for path in (tmp_path / "store" / "vectors").glob("*.db") if path.stem != "calibration"]
    return path


RANKINGS = pytest.mark.parametrize("ranking", ["documented", "contextual"])


# --- what it finds --------------------------------------------------------------------------------------------------


@RANKINGS
def test_a_request_in_other_words_finds_what_was_said(tmp_path: Path, file: Path, ranking: str) -> None:
    with opened(tmp_path, retrieval__ranking=ranking) as engine:
        found = ask(engine, file, "which automobile")
        assert ids(found)[:2] == ["e0000008", "e0000000"]
        hit = found.hits[1]
        assert hit.matched.terms == ()
        assert hit.reason == "semantic;user"
        assert hit.score_parts["semantic"] > 0
        assert told(found).used
        assert told(found).admitted == 1
        assert told(found).sources == len(TEXTS)
        assert told(found).coverage == "complete"


@RANKINGS
def test_vectors_serve_a_request_whose_words_stand_nowhere(tmp_path: Path, file: Path, ranking: str) -> None:
    with opened(tmp_path, retrieval__ranking=ranking) as engine:
        assert ids(ask(engine, file, "funds?")) == ["e0000002"]
        assert ids(ask(engine, file, "zeppelins?")) == []


def test_a_request_without_a_topic_asks_no_model(tmp_path: Path, file: Path) -> None:
    port = Recorder()
    with opened(tmp_path, port) as engine:
        found = ask(engine, file, "ok, go on")
        assert found.status == "no-query"
        assert port.queries == []
        assert told(found).used is False


@RANKINGS
def test_a_literal_name_stays_above_whatever_is_similar(tmp_path: Path, file: Path, ranking: str) -> None:
    with opened(tmp_path, retrieval__ranking=ranking) as engine:
        found = ask(engine, file, "the vehicle in src/app/auth.py")
        assert [hit.tier for hit in found.hits[:2]] == ["identifier", "identifier"]
        assert all(hit.tier == "other" for hit in found.hits[2:])
        assert "semantic" not in found.hits[0].score_parts


@RANKINGS
def test_a_name_that_stands_nowhere_is_not_replaced_by_what_is_similar(
    tmp_path: Path, file: Path, ranking: str
) -> None:
    with opened(tmp_path, retrieval__ranking=ranking) as engine:
        assert ids(ask(engine, file, "the funds in src/app/other.py")) == []
        assert ids(ask(engine, file, "the funds in src/app/auth.py"))[:2] == ["e0000008", "e0000006"]


def test_what_resembles_a_request_by_an_accident_of_one_word_stays_away(tmp_path: Path, file: Path) -> None:
    with opened(tmp_path, retrieval__ranking="contextual") as engine:
        assert ids(ask(engine, file, "the harbour zeppelins of funds and cathedrals")) == []


def test_vectors_alone_will_do(tmp_path: Path, file: Path) -> None:
    with opened(tmp_path, retrieval__exact=False, retrieval__fts=False) as engine:
        found = ask(engine, file, "a doctor")
        assert found.status == "complete"
        assert ids(found) == ["e0000004"]


@RANKINGS
def test_scores_are_the_sum_of_their_parts_and_repeat(tmp_path: Path, file: Path, ranking: str) -> None:
    with opened(tmp_path, retrieval__ranking=ranking) as engine:
        first, second = (ask(engine, file, "the automobile, the funds, the doctor and the blue box") for _ in range(2))
        assert len(first.hits) >= 3
        for hit in first.hits:
            assert sum(hit.score_parts.values()) == pytest.approx(hit.score, abs=1e-6)
        assert [hit.message for hit in first.hits] == [hit.message for hit in second.hits]


def test_the_excerpt_of_a_long_entry_follows_its_most_similar_passage(tmp_path: Path) -> None:
    filler = "nothing of interest stands in this line\n" * 200
    file = write(
        tmp_path / "s.jsonl", [header(), *conversation([filler + "The residence burned.\n" + filler, "Noted."])]
    )
    with opened(tmp_path) as engine:
        found = ask(engine, file, "which dwelling")
        assert ids(found) == ["e0000000"]
        assert "The residence burned." in found.hits[0].excerpt


def test_what_the_model_sees_does_not_come_back(tmp_path: Path, file: Path) -> None:
    with opened(tmp_path) as engine:
        assert ids(ask(engine, file, "funds", context_entries=["e0000002"])) == []


def test_the_work_around_a_request_is_searched_by_vectors_too(tmp_path: Path) -> None:
    rows = [header(), *conversation([*TEXTS, "Look after the funds.", "I look after the funds now.", "continue"])]
    file = write(tmp_path / "s.jsonl", rows)
    port = Recorder()
    with opened(tmp_path, port, retrieval__query="working") as engine:
        found = engine.retrieve(session=file, context_entries=["e0000010", "e0000011", "e0000012"])
        assert "e0000002" in ids(found)
        assert len(port.queries) == 1


# --- which vectors there are ----------------------------------------------------------------------------------------


def test_unchanged_sources_are_never_embedded_again(tmp_path: Path, file: Path) -> None:
    first = Recorder()
    with opened(tmp_path, first) as engine:
        ask(engine, file, "funds")
    assert sorted(first.texts) == sorted([*TEXTS, "funds"])
    second = Recorder()
    with opened(tmp_path, second) as engine:
        assert ids(ask(engine, file, "funds")) == ["e0000002"]
        engine.index(file)
        engine.rebuild(session=file)
        ask(engine, file, "funds")
    assert second.texts == ["funds"]


def test_an_append_is_embedded_before_the_next_answer(tmp_path: Path, file: Path) -> None:
    port = Recorder()
    with opened(tmp_path, port) as engine:
        ask(engine, file, "a garden")
        write(file, [header(), *conversation([*TEXTS, "The yard is wet."])])
        port.calls.clear()
        found = ask(engine, file, "a garden")
        assert ids(found) == ["e0000010"]
        assert port.texts == ["The yard is wet."]


def test_indexing_makes_vectors(tmp_path: Path, file: Path) -> None:
    port = Recorder()
    steps: list[tuple[int, int]] = []
    with opened(tmp_path, port) as engine:
        engine.index(file, progress=lambda done, total: steps.append((done, total)))
        assert sorted(port.texts) == sorted(TEXTS)
        assert steps[-1] == (len(TEXTS), len(TEXTS))
        assert [(one.model, one.vectors) for one in engine.status().vectors] == [("meanings", len(TEXTS))]


def test_a_model_switch_leaves_the_old_profile_whole(tmp_path: Path, file: Path) -> None:
    with opened(tmp_path) as engine:
        ask(engine, file, "funds")
    other = Recorder(dimensions=32)
    with opened(tmp_path, other) as engine:
        ask(engine, file, "funds")
        assert [(one.dimensions, one.vectors) for one in engine.status().vectors] == [(32, 10), (64, 10)]
    back = Recorder()
    with opened(tmp_path, back) as engine:
        ask(engine, file, "funds")
    assert back.texts == ["funds"]


def test_a_deleted_store_is_made_again_with_its_vectors(tmp_path: Path, file: Path) -> None:
    import shutil

    with opened(tmp_path) as engine:
        before = ask(engine, file, "funds")
    shutil.rmtree(tmp_path / "store")
    with opened(tmp_path) as engine:
        after = ask(engine, file, "funds")
        assert [hit.message for hit in after.hits] == [hit.message for hit in before.hits]


def test_forgetting_takes_the_vectors_too(tmp_path: Path, file: Path) -> None:
    port = Recorder()
    with opened(tmp_path, port) as engine:
        assert ids(ask(engine, file, "funds")) == ["e0000002"]
        vector = array("f", port.vector(TEXTS[2])).tobytes()
        folder = tmp_path / "store" / "vectors"
        assert any(vector in path.read_bytes() for path in folder.iterdir())
        report = engine.forget(text="The cash is in the blue box", verify=True)
        assert report.verification is not None
        assert report.verification.leftovers == ()
        assert not any(vector in path.read_bytes() for path in folder.iterdir())
        port.calls.clear()
        assert ids(ask(engine, file, "funds")) == []
        assert port.texts == []  # what was left has its vectors still
        engine.rebuild(session=file)
        assert ids(ask(engine, file, "funds")) == []
        engine.forget(session=file)
        assert [path.name for path in folder.glob("*.db")] == ["calibration.db"]


def test_only_the_latest_entries_get_vectors(tmp_path: Path, file: Path) -> None:
    with opened(tmp_path, retrieval__embedding__maxSources=4) as engine:
        found = ask(engine, file, "the automobile of mine")
        assert told(found).sources == 4
        assert ids(found) == ["e0000008"]


def test_a_vector_of_another_text_is_not_used(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path) as engine:
        ask(engine, file, "funds")
        path = vectors_of_the_session(tmp_path)
        database = open_writable(str(path), 50)
        database.connection.execute("UPDATE block SET hashes = zeroblob(length(hashes))")
        database.connection.execute("UPDATE profile SET version = version + 1")
        database.close()
        for ranking in ("documented", "contextual"):
            engine.config = type(engine.config).load(settings=settings(Recorder(), retrieval__ranking=ranking))
            found = ask(engine, file, "funds and the blue box")
            assert ids(found) == ["e0000002"]
            assert found.hits[0].matched.terms
            assert "semantic" not in found.hits[0].score_parts
            assert told(found).stale >= 1
            assert ids(ask(engine, file, "funds")) == []


def test_the_rest_is_made_beside_the_requests(tmp_path: Path) -> None:
    texts = [f"A line about subject{number}." for number in range(300)]
    file = write(tmp_path / "s.jsonl", [header(), *conversation([TEXTS[2], *texts])])
    port = Recorder()
    with opened(tmp_path, port) as engine:
        engine.vector_seconds = 0.0
        found = ask(engine, file, "funds")
        assert told(found).coverage == "partial"
        assert found.status == "complete"
        end = monotonic() + 60
        while told(ask(engine, file, "funds")).coverage != "complete" and monotonic() < end:
            sleep(0.02)
        assert ids(ask(engine, file, "funds")) == ["e0000000"]
        assert len(port.texts) == 302
        assert engine.status().vectors[0].vectors == 301


def test_an_engine_that_closes_does_not_wait_for_all_vectors(tmp_path: Path) -> None:
    texts = [f"A line about subject{number}." for number in range(2000)]
    file = write(tmp_path / "s.jsonl", [header(), *conversation(texts)])

    class Slow(Recorder):
        def embed(self, texts: Any, purpose: Any) -> Any:
            sleep(0.05)
            return super().embed(texts, purpose)

    port = Slow()
    with opened(tmp_path, port) as engine:
        engine.vector_seconds = 0.0
        ask(engine, file, "funds")
        started = monotonic()
    assert monotonic() - started < 10
    assert len(port.texts) < 2000


def test_a_session_without_a_file_has_vectors_in_memory() -> None:
    import json

    port = Recorder()
    with Engine.in_memory(type(Engine.in_memory().config).load(settings=settings(port)), embedding=port) as engine:
        rows = [header(), *conversation(TEXTS)]
        engine.hold("held", b"".join(json.dumps(row).encode() + b"\n" for row in rows))
        assert ids(engine.retrieve(session="held", query="funds", context_entries=())) == ["e0000002"]
        assert sorted(port.texts) == sorted([*TEXTS, "funds"])
        engine.drop("held")


# --- the memory of requests -----------------------------------------------------------------------------------------


def test_a_repeated_request_asks_no_model(tmp_path: Path, file: Path) -> None:
    port = Recorder()
    with opened(tmp_path, port, retrieval__embedding__queryCacheSize=2) as engine:
        caches = [
            told(ask(engine, file, query)).cache for query in ("funds", "funds", "automobile", "dwelling", "funds")
        ]
        assert caches == ["miss", "hit", "miss", "miss", "miss"]
        assert port.queries == ["funds", "automobile", "dwelling", "funds"]
        similarity = engine._vectors()
        assert similarity is not None
        assert similarity._memory.queries == 2


def test_no_request_and_no_text_is_written_with_the_vectors(tmp_path: Path, file: Path) -> None:
    with opened(tmp_path) as engine:
        ask(engine, file, "funds zeppelin")
    for path in (tmp_path / "store" / "vectors").iterdir():
        data = path.read_bytes()
        assert b"zeppelin" not in data
        assert b"blue box" not in data


# --- what it never does ---------------------------------------------------------------------------------------------


def forked(siblings: int) -> list[dict[str, Any]]:
    """A short branch, and siblings that are more similar to anything about cars."""
    rows = [message("root0000", None, "Start here.")]
    rows += [
        message(f"s{number:07}", "root0000", "car vehicle automobile car vehicle", "assistant", number)
        for number in range(siblings)
    ]
    rows += [
        message("mine0000", "root0000", "A vehicle that is mine, with a garden.", "user", 900),
        message("leaf0000", "mine0000", "The end.", "assistant", 901),
    ]
    return [header(), *rows]


@RANKINGS
def test_siblings_do_not_displace_the_branch(tmp_path: Path, ranking: str) -> None:
    file = write(tmp_path / "s.jsonl", forked(300))
    with opened(tmp_path, retrieval__ranking=ranking, retrieval__embedding__candidatePool=1) as engine:
        found = ask(engine, file, "automobile", leaf="leaf0000")
        assert ids(found) == ["mine0000"]
        assert told(found).candidates == 1
        assert found.diagnostics.alternate_branch_candidates == 0


@RANKINGS
def test_withheld_entries_do_not_displace_others(tmp_path: Path, ranking: str) -> None:
    secret = "[aforesaid:local-only]vehicle vehicle car[/aforesaid:local-only]"
    rows = conversation([*[f"{secret} {number}" for number in range(200)], "A vehicle with a garden.", "Fine."])
    file = write(tmp_path / "s.jsonl", [header(), *rows])
    with opened(
        tmp_path, privacy__enabled=True, retrieval__ranking=ranking, retrieval__embedding__candidatePool=1
    ) as engine:
        found = ask(engine, file, "automobile")
        assert ids(found) == ["e0000200"]
        assert told(found).candidates == 1
        # A model on this machine may see all of them.
        local = ask(engine, file, "automobile", provider="ollama")
        assert len(ids(local)) == 1
        assert ids(local) != ["e0000200"]


MEANT_NEAR = ("a car", "the vehicle", "an automobile", "cash", "the funds")
MEANT = st.sampled_from([*MEANT_NEAR, "a boat", "nothing", "Ship"])


@profile(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 30), MEANT), min_size=1, max_size=25),
    st.data(),
    st.sampled_from(["documented", "contextual"]),
    st.integers(1, 5),
)
def test_no_other_branch_and_nothing_visible_ever_returns(
    entries: list[tuple[int, str]], data: st.DataObject, ranking: str, pool: int
) -> None:
    import tempfile
    from pathlib import Path

    rows = [header()]
    for number, (parent, text) in enumerate(entries):
        before = f"e{parent % number:07}" if number else None
        role = "assistant" if parent % 3 == 0 else "user"
        rows.append(message(f"e{number:07}", before, f"{text} number{number}", role, number))
    if len(entries) > 3 and data.draw(st.booleans()):
        rows.append(compaction("c0000000", f"e{len(entries) - 1:07}", f"e{len(entries) - 2:07}", minute=500))
    leaf = data.draw(st.sampled_from([row["id"] for row in rows[1:]]))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        file = write(Path(folder) / "s.jsonl", rows)
        port = Recorder()
        more: dict[str, object] = {"retrieval__ranking": ranking, "retrieval__embedding__candidatePool": pool}
        with Engine.open(Path(folder) / "store", settings=settings(port, **more), embedding=port) as engine:
            branch = {row["id"] for row in path_of(rows, leaf)}
            visible = data.draw(st.sets(st.sampled_from(sorted(branch)), max_size=3))
            found = ask(engine, file, "automobile funds", leaf=leaf, context_entries=sorted(visible))
            assert set(ids(found)) <= branch - visible
            assert found.diagnostics.alternate_branch_candidates == 0
            # Whatever of the branch is most similar is there, whatever stands elsewhere.
            meant = [
                row
                for row in path_of(rows, leaf)
                if row["id"] in branch - visible
                and row["type"] == "message"
                and row["message"]["content"][0]["text"].split(" number")[0] in MEANT_NEAR
            ]
            assert bool(found.hits) == bool(meant)


def test_while_it_is_off_nothing_of_it_is_imported_or_read(tmp_path: Path, file: Path) -> None:
    with opened(tmp_path) as engine:
        ask(engine, file, "funds")
    code = (
        "import os, sys\n"
        "real = os.open\n"
        "from aforesaid.engine import Engine\n"
        f"engine = Engine.open({str(tmp_path / 'store')!r}, settings={{'retrieval.semantic': False}})\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event in ('open', 'os.listdir',"
        " 'os.scandir') else None)\n"
        f"found = engine.retrieve(session={str(file)!r}, query='the blue box', context_entries=())\n"
        "assert found.hits and found.diagnostics.semantic is None\n"
        "names = [name for name in sys.modules if name.startswith('aforesaid.')]\n"
        "late = ('embedd', 'semantic', 'fusion', 'passages', 'similarity', 'sqlite.vectors', 'concepts')\n"
        "assert not [name for name in names if any(part in name for part in late)], names\n"
        "assert 'numpy' not in sys.modules\n"
        "assert not [name for name in opened if '/store/vectors' in name.replace(os.sep, '/')], opened\n"
        "engine.close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr


# --- how it fails ---------------------------------------------------------------------------------------------------

ONE = [1.0] + [0.0] * 63


def hang(texts: Any) -> Any:
    threading.Event().wait(60)
    return [ONE] * len(texts)


def explode(error: BaseException) -> Any:
    def fault(texts: Any) -> Any:
        raise error

    return fault


FAULTS: dict[str, tuple[Any, str]] = {
    "raises": (explode(RuntimeError("boom")), "embedding-failed"),
    "raises a timeout": (explode(TimeoutError()), "embedding-failed"),
    "raises an OS error": (explode(OSError(5, "io")), "embedding-failed"),
    "exits": (explode(SystemExit(1)), "embedding-failed"),
    "interrupts": (explode(KeyboardInterrupt()), "embedding-failed"),
    "runs out of memory": (explode(MemoryError()), "embedding-failed"),
    "raises Unicode errors": (explode(UnicodeEncodeError("utf-8", "\ud800", 0, 1, "no")), "embedding-failed"),
    "hangs": (hang, "embedding-timeout"),
    "nothing": (lambda texts: None, "embedding-failed"),
    "a number": (lambda texts: 7, "embedding-failed"),
    "too few": (lambda texts: [ONE] * (len(texts) - 1), "embedding-count"),
    "too many": (lambda texts: [ONE] * (len(texts) + 1), "embedding-count"),
    "short vectors": (lambda texts: [ONE[:-1]] * len(texts), "invalid-dimensions"),
    "long vectors": (lambda texts: [[*ONE, 0.0]] * len(texts), "invalid-dimensions"),
    "empty vectors": (lambda texts: [[]] * len(texts), "invalid-dimensions"),
    "not a number": (lambda texts: [[float("nan")] * 64] * len(texts), "embedding-invalid"),
    "infinite": (lambda texts: [[float("-inf"), *ONE[1:]]] * len(texts), "embedding-invalid"),
    "zero": (lambda texts: [[0.0] * 64] * len(texts), "embedding-invalid"),
    "beyond float32": (lambda texts: [[1e200] * 64] * len(texts), "embedding-invalid"),
    "texts for numbers": (lambda texts: [["x"] * 64] * len(texts), "embedding-failed"),
    "nested lists": (lambda texts: [[[1.0]] * 64] * len(texts), "embedding-failed"),
}


@pytest.mark.parametrize("when", ["sources", "request"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_port_that_fails_costs_nothing_but_its_vectors(tmp_path: Path, file: Path, fault: str, when: str) -> None:
    answer, reason = FAULTS[fault]
    good = Recorder()
    if when == "request":
        with opened(tmp_path, good) as engine:
            engine.index(file)
    with Engine.open(tmp_path / "plain") as engine:
        lexical = ask(engine, file, "the blue box of the vehicle")
    port = Recorder(fault=answer)
    timeout = 30 if fault == "hangs" else 20_000
    with opened(tmp_path, port, retrieval__embedding__timeoutMs=timeout) as engine:
        found = ask(engine, file, "the blue box of the vehicle")
        assert found.status == "complete"
        assert [hit.message for hit in found.hits] == [hit.message for hit in lexical.hits]
        assert told(found).used is False
        assert told(found).reason == reason
        plan = engine.plan(session=file, context_window=100_000, query="the blue box of the vehicle")
        assert plan.status == "planned"
        assert len(port.calls) == 1


def test_a_port_that_is_not_what_was_configured_is_not_asked(tmp_path: Path, file: Path) -> None:
    port = Recorder()
    named = settings(Recorder(model="another"))
    with Engine.open(tmp_path / "store", settings=named, embedding=port) as engine:
        found = ask(engine, file, "the blue box")
        assert told(found).reason == "port-mismatch"
        assert ids(found) == ["e0000002"]
        assert port.calls == []


class Silent(Recorder):
    """Raises when it is asked who it is."""

    @property
    def profile(self) -> Any:
        raise RuntimeError("who?")

    @profile.setter
    def profile(self, value: object) -> None:
        pass


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"retrieval.embedding.provider": "somebody"}, "port-missing"),
        ({"retrieval.embedding.model": "no-such-model"}, "model-unknown"),
        ({"retrieval.embedding.model": "all-minilm-l6-v2-int8", "retrieval.embedding.dimensions": 100},
         "invalid-dimensions"),
        ({"retrieval.embedding.model": "wordllama-l2-supercat", "retrieval.embedding.dimensions": 512},
         "invalid-dimensions"),
    ],
)  # fmt: skip
def test_a_model_that_is_not_there_is_named(
    tmp_path: Path, file: Path, changed: dict[str, object], reason: str
) -> None:
    with Engine.open(tmp_path / "store", settings={"retrieval.semantic": True} | changed) as engine:
        found = ask(engine, file, "the blue box")
        assert told(found).reason == reason
        assert ids(found) == ["e0000002"]


def test_a_model_that_cannot_say_who_it_is_is_not_asked(tmp_path: Path, file: Path) -> None:
    with Engine.open(tmp_path / "store", settings=settings(Recorder()), embedding=Silent()) as engine:
        assert told(ask(engine, file, "the blue box")).reason == "port-mismatch"


def test_a_missing_extra_is_named(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wordllama", None)
    given_settings = {
        "retrieval.semantic": True,
        "retrieval.embedding.model": "wordllama-l2-supercat",
        "retrieval.embedding.timeoutMs": 20_000,
    }
    with Engine.open(tmp_path / "store", settings=given_settings) as engine:
        found = ask(engine, file, "the blue box")
        assert told(found).reason == "model-unavailable"
        assert ids(found) == ["e0000002"]


def test_damaged_vectors_cost_one_answer_its_vectors(tmp_path: Path, file: Path) -> None:
    with opened(tmp_path) as engine:
        ask(engine, file, "funds")
    path = vectors_of_the_session(tmp_path)
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    with opened(tmp_path) as engine:
        found = ask(engine, file, "the blue box")
        assert told(found).reason == "vector-store-failed"
        assert ids(found) == ["e0000002"]
        assert ids(ask(engine, file, "funds")) == ["e0000002"]


def test_vectors_that_are_no_numbers_cost_the_vectors(tmp_path: Path, file: Path) -> None:
    with opened(tmp_path) as engine:
        ask(engine, file, "funds")
        path = vectors_of_the_session(tmp_path)
        database = open_writable(str(path), 50)
        database.connection.execute("UPDATE block SET vectors = x'00'")
        database.connection.execute("UPDATE profile SET version = version + 1")
        database.close()
        found = ask(engine, file, "the blue box")
        assert told(found).reason == "vector-store-failed"
        assert ids(found) == ["e0000002"]


def test_a_search_that_breaks_costs_the_vectors(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aforesaid.semantic import channel

    def broken(*_: object) -> Any:
        raise ZeroDivisionError

    with opened(tmp_path) as engine:
        ask(engine, file, "funds")
        monkeypatch.setattr(channel.Memory, "matrix", broken)
        found = ask(engine, file, "the blue box")
        assert told(found).reason == "vector-search-failed"
        assert ids(found) == ["e0000002"]


def test_a_run_that_breaks_costs_the_vectors(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aforesaid.engine import similarity

    def broken(*_: object, **__: object) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(similarity, "make_vectors", broken)
    with opened(tmp_path) as engine:
        found = ask(engine, file, "the blue box")
        assert told(found).reason == "embedding-failed"
        assert ids(found) == ["e0000002"]


def test_a_store_that_cannot_be_written_is_searched_by_the_vectors_that_it_has(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as engine:
        ask(engine, file, "funds")
    port = Recorder()
    with opened(tmp_path, port) as engine:
        monkeypatch.setattr(SqliteStore, "writable", property(lambda _: False, lambda *_: None), raising=False)
        found = ask(engine, file, "funds")
        assert ids(found) == ["e0000002"]
        assert port.texts == ["funds"]
        assert told(found).coverage == "none"


def test_a_changed_configuration_counts_at_once(tmp_path: Path, file: Path) -> None:
    port = Recorder()
    with opened(tmp_path, port) as engine:
        assert ids(ask(engine, file, "funds")) == ["e0000002"]
        engine.config = type(engine.config).load(settings={"retrieval.semantic": False})
        found = ask(engine, file, "funds")
        assert ids(found) == []
        assert found.diagnostics.semantic is None
