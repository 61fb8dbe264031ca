from __future__ import annotations

import io
import os
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from aforesaid.cli.bench import setting
from aforesaid.cli.bench.corpus import Corpus
from aforesaid.cli.bench.start import _start
from aforesaid.cli.bench.worker import Progressed, peak_memory, serve
from aforesaid.engine import Engine
from aforesaid.errors import OperationError, StoreFull

SESSION = 300


@pytest.fixture
def sessions_of_300(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aforesaid.cli.bench.corpus.SESSION_ENTRIES", SESSION)


@pytest.mark.usefixtures("sessions_of_300")
def test_all_sessions_are_stored_and_only_the_first_transcript_is_kept(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    prepared = setting.prepare(2 * SESSION + 100, str(tmp_path), lambda done, total: seen.append((done, total)))
    assert prepared.built.entries == 2 * SESSION + 100
    assert [file.name for file in tmp_path.glob("*.jsonl")] == [Path(prepared.transcript.file).name]
    with Engine.open(prepared.built.folder, setting.default_config()) as engine:
        assert [session.entries for session in engine.sessions()].count(SESSION) == 2
        assert engine.status().entries == 2 * SESSION + 100
    with Engine.open(prepared.single, setting.default_config()) as engine:
        assert [session.file for session in engine.sessions()] == [prepared.transcript.file]
    assert len(seen) == 3
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert prepared.built.store_bytes == setting.folder_size(prepared.built.folder) > prepared.built.text_bytes


def test_a_single_session_needs_only_one_store(tmp_path: Path) -> None:
    prepared = setting.prepare(SESSION, str(tmp_path))
    assert prepared.single == prepared.built.folder
    reference = prepared.reference("reference.db")
    first, last = prepared.transcript.eligible[0][0], prepared.transcript.eligible[-1][1]
    assert {row for (row,) in reference.scan(" ") if isinstance(row, int)} <= set(range(first, last + 1))
    reference.close()


def test_too_little_room_is_said_before_anything_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nearly_full(_: str) -> SimpleNamespace:
        return SimpleNamespace(free=1_000_000)

    monkeypatch.setattr("shutil.disk_usage", nearly_full)
    with pytest.raises(StoreFull, match="1,000 entries"):
        setting.prepare(1000, str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_the_configuration_is_not_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "aforesaid" / "config.json"
    own.parent.mkdir()
    own.write_text('{"retrieval": {"maxResults": 3}}')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert setting.default_config().integer("retrieval.maxResults") == 12


def test_texts_are_numbered_by_their_lines(tmp_path: Path) -> None:
    corpus = Corpus()
    transcript = corpus.write(str(tmp_path), 0, 100)
    texts = list(setting.read_texts(transcript.file))
    assert [text.row for text in texts] == sorted({text.row for text in texts})
    assert texts[0].row == 1, "row 0 says which model was chosen"
    assert texts[-1].row == 99
    added = setting.tail_texts(corpus.tail(transcript, 0, 5), transcript.file, 100)
    assert [text.row for text in added] == [100, 101, 102, 103, 104]


def test_a_transcript_that_cannot_be_indexed_stops_the_run(tmp_path: Path) -> None:
    with setting.Worker(str(tmp_path / "store")) as worker:
        worker.send(str(tmp_path / "missing.jsonl"))
        with pytest.raises(OperationError, match="no file"):
            worker.receive()


def test_a_worker_that_died_stops_the_run(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("no folder")
    with setting.Worker(str(tmp_path / "store")) as worker:
        worker.send(str(tmp_path / "any.jsonl"))
        with pytest.raises(OperationError, match="it died"):
            worker.receive()


def test_the_worker_answers_each_path_with_its_entries_and_its_memory(tmp_path: Path) -> None:
    transcript = Corpus().write(str(tmp_path), 0, 100)
    answers = io.StringIO()
    serve(str(tmp_path / "store"), io.StringIO(f"{transcript.file}\n{tmp_path / 'missing.jsonl'}\n"), answers)
    good, bad = (msgspec.json.decode(line, type=Progressed) for line in answers.getvalue().splitlines())
    assert (good.entries, good.error) == (100, None)
    assert good.peak is None or good.peak >= 0
    assert "missing.jsonl" in (bad.error or "")


def test_the_peak_of_this_process_is_more_than_an_interpreter_takes() -> None:
    peak = peak_memory()
    assert peak is None or 5_000_000 < peak < 100_000_000_000


def test_what_is_discarded_is_gone(tmp_path: Path) -> None:
    folder, database = tmp_path / "folder", tmp_path / "a.db"
    folder.mkdir()
    (folder / "file").write_text("x")
    database.write_text("x")
    Path(f"{database}-wal").write_text("x")
    for path in (folder, database, tmp_path / "never-there"):
        setting.discard(str(path))
    assert list(tmp_path.iterdir()) == []


def test_a_start_that_ends_otherwise_than_expected_is_no_measurement() -> None:
    with pytest.raises(OperationError, match="ended with 3: told why"):
        _start(["-c", "import sys; print('told why', file=sys.stderr); sys.exit(3)"], 77, dict(os.environ))
