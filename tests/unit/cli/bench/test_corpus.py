from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from aforesaid.cli.bench.corpus import SESSION_ENTRIES, SMALLEST, Corpus, Transcript, plan
from aforesaid.cli.bench.setting import read_texts
from aforesaid.model import Entry
from aforesaid.transcripts import readers

ENTRIES = 600


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus()


@pytest.fixture(scope="module")
def transcript(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Transcript:
    return corpus.write(str(tmp_path_factory.mktemp("corpus")), 0, ENTRIES)


def lines_of(file: str) -> list[dict[str, object]]:
    return [msgspec.json.decode(line) for line in Path(file).read_bytes().splitlines()]


def size_of(spans: tuple[tuple[int, int], ...]) -> int:
    return sum(last - first + 1 for first, last in spans)


def test_a_session_is_the_same_in_every_run(corpus: Corpus, transcript: Transcript, tmp_path: Path) -> None:
    again = Corpus().write(str(tmp_path), 0, ENTRIES)
    assert Path(again.file).read_bytes() == Path(transcript.file).read_bytes()
    other = corpus.write(str(tmp_path), 1, ENTRIES)
    assert not {text.text for text in read_texts(other.file)} & {text.text for text in read_texts(transcript.file)}


def test_a_session_has_a_header_and_as_many_entries_as_were_asked_for(transcript: Transcript) -> None:
    header, *entries = lines_of(transcript.file)
    assert (header["type"], header["version"]) == ("session", 3)
    assert len(entries) == transcript.entries == ENTRIES
    assert len({entry["id"] for entry in entries}) == ENTRIES
    assert entries[-1]["id"] == transcript.leaf


def test_the_reader_takes_every_line_without_a_flaw(transcript: Transcript) -> None:
    with Path(transcript.file).open("rb") as source:
        items = list(next(readers()).read(source, transcript.file, None))
    assert [item for item in items if not isinstance(item, Entry)] == []
    assert {item.role for item in items if isinstance(item, Entry)} >= {"user", "assistant", "tool_result", "summary"}


def test_the_text_that_was_counted_is_the_searchable_text(transcript: Transcript) -> None:
    read = sum(len(text.text.encode()) for text in read_texts(transcript.file))
    # The reader adds names of tools and arguments; the summary is counted and not read.
    assert transcript.text_bytes <= read * 1.01
    assert read <= transcript.text_bytes * 1.04


def test_messages_have_about_the_mean_length_of_the_design(corpus: Corpus, tmp_path: Path) -> None:
    transcript = corpus.write(str(tmp_path), 3, 3_000)
    lengths = [len(text.text) for text in read_texts(transcript.file)]
    assert 580 < sum(lengths) / len(lengths) < 690
    assert max(lengths) > 4_000


def test_the_active_branch_is_what_leads_from_the_last_line_to_the_root(transcript: Transcript) -> None:
    _, *entries = lines_of(transcript.file)
    places = {entry["id"]: ordinal for ordinal, entry in enumerate(entries)}
    walked: list[int] = []
    place: int | None = ENTRIES - 1
    while place is not None:
        walked.append(place)
        parent = entries[place]["parentId"]
        place = None if parent is None else places[parent]
    told = [row for first, last in transcript.branch for row in range(first, last + 1)]
    assert told == walked[::-1]
    assert len(told) == round(ENTRIES * 5 / 8)
    assert len(transcript.branch) > 1, "there are forks"


def test_a_compaction_near_the_end_hides_most_of_the_branch(transcript: Transcript) -> None:
    _, *entries = lines_of(transcript.file)
    (compaction,) = (entry for entry in entries if entry["type"] == "compaction")
    kept = next(n for n, entry in enumerate(entries) if entry["id"] == compaction["firstKeptEntryId"])
    assert transcript.eligible[-1][1] < kept
    assert size_of(transcript.eligible) > 0.9 * size_of(transcript.branch)


@pytest.mark.parametrize("entries", [SMALLEST, SMALLEST + 1, 100, 319, 320, 641])
def test_small_sessions_have_the_same_shape(corpus: Corpus, tmp_path: Path, entries: int) -> None:
    transcript = corpus.write(str(tmp_path), 5, entries)
    assert len(lines_of(transcript.file)) == entries + 1
    assert 0 < size_of(transcript.eligible) < size_of(transcript.branch) < entries


def test_additions_go_on_from_the_last_entry_and_differ(corpus: Corpus, transcript: Transcript) -> None:
    first, second = (
        [msgspec.json.decode(line) for line in corpus.tail(transcript, number, 4).splitlines()] for number in (0, 1)
    )
    chain = [*first, *second]
    assert [line["parentId"] for line in chain] == [transcript.leaf, *(line["id"] for line in chain[:-1])]
    taken = {entry["id"] for entry in lines_of(transcript.file)[1:]}
    assert len(taken | {line["id"] for line in chain}) == ENTRIES + 8


def test_every_message_but_the_shortest_differs_from_every_other(transcript: Transcript) -> None:
    texts = [text.text for text in read_texts(transcript.file) if len(text.text) > 60]
    assert len(set(texts)) == len(texts)


def test_messages_hold_names_of_the_project_and_words_of_many_scripts(transcript: Transcript) -> None:
    everything = "\n".join(text.text for text in read_texts(transcript.file))
    project = transcript.project
    for names in (project.symbols, project.paths, project.errors):
        assert sum(name in everything for name in names) > len(names) / 4
    for sample in ("数据库", "データベース", "마이그레이션", "การเชื่อมต่อ", "Größe", "Миграция", "perché", " server "):
        assert sample in everything


def test_a_corpus_is_made_of_full_sessions_and_a_rest() -> None:
    assert plan(SESSION_ENTRIES) == (SESSION_ENTRIES,)
    assert plan(200_000) == (SESSION_ENTRIES,) * 25
    assert plan(SESSION_ENTRIES + 123) == (SESSION_ENTRIES, 123)
    assert plan(500) == (500,)


def test_a_session_is_written_into_the_given_folder(corpus: Corpus, tmp_path: Path) -> None:
    transcript = corpus.write(str(tmp_path), 7, SMALLEST)
    assert Path(transcript.file).is_absolute()
    assert Path(transcript.file).parent == tmp_path
