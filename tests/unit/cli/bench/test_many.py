from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from tests.unit.cli.bench.test_run import run

from aforesaid.cli.bench import many
from aforesaid.cli.bench.corpus import Corpus
from aforesaid.engine import Engine
from aforesaid.errors import OperationError, StoreFull

AGAIN = (
    "recall of a rare name / the same shards bare",
    "recall of a common word / the same shards bare",
)
AFTER = (
    "rare name after other questions / the same shards bare",
    "common word after other questions / the same shards bare",
)
TOLD = (
    "name of one session, after other questions",
    "first recall of a rare name by an engine / the same shards bare",
)
MEMORY = "peak memory, searches of all sessions"


def test_searches_of_many_sessions_stand_beside_the_same_shards_opened_bare(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many, "ENTRIES", 60)
    status = run("recall", "--entries", "1380", "--rounds", "1", "--work", str(tmp_path), json=True)
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert tuple(rows) == (*AGAIN, *AFTER, *TOLD, MEMORY)
    for name in (*AGAIN, *AFTER):
        assert rows[name]["bound"] == 3
        assert rows[name]["ratio"] == pytest.approx(rows[name]["figure"] / rows[name]["floor"], rel=0.01)
        assert rows[name]["met"] == (rows[name]["ratio"] <= 3)
    assert rows[AGAIN[0]]["note"].count("(20 shards)") == len(many.RARE)
    assert rows[AGAIN[1]]["note"].count("(23 shards)") == len(many.COMMON)
    for name, start, aim in ((AFTER[0], "20 shards; p95 ", 150), (AFTER[1], "23 shards; p95 ", 400)):
        assert rows[name]["note"].startswith(start)
        assert f" ms (aim {aim})" in rows[name]["note"]
    for name in TOLD:
        assert (rows[name]["met"], rows[name]["bound"]) == (None, None)
        assert rows[name]["figure"] > rows[name]["floor"] > 0
    if rows[MEMORY]["met"] is not None:
        assert 0 < rows[MEMORY]["figure"] < 200
    assert status == int(any(row["met"] is False for row in rows.values()))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("count", "holders"), [(20, 20), (200, 20), (5000, 50)])
def test_names_are_spread_over_the_sessions(count: int, holders: int) -> None:
    places = many._places(count)
    names = Counter(name for names in places.values() for name in names)
    assert names == {many.SINGLE: 1, **dict.fromkeys(many.RARE, holders)}
    assert all(len(set(listed)) == len(listed) for listed in places.values())
    assert set(places) <= set(range(count))


def test_sessions_of_the_corpus_begin_with_entries_of_their_own(tmp_path: Path) -> None:
    corpus = Corpus()
    ids: Counter[str] = Counter()
    for number in (0, 1, 4095, 4096, 8192, 250_000):
        file = corpus.write(str(tmp_path), number, 40).file
        ids.update(json.loads(line)["id"] for line in Path(file).read_text("utf-8").splitlines())
    assert max(ids.values()) == 1


def test_what_cannot_be_measured_stops_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StoreFull, match="sessions need"):
        many.measure(10**14, 1, str(tmp_path), None)
    with Engine.open(tmp_path / "store") as engine, pytest.raises(OperationError, match="was not found"):
        many._Question(engine, str(tmp_path / "store"), "nowhere")
    monkeypatch.setattr(many.subprocess, "run", lambda *_, **__: type("Done", (), {"stdout": "null"}))  # type: ignore[attr-defined]
    assert many._remember("").met is None
