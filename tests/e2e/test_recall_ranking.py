"""The order of explicit search beside that of automatic retrieval: the same scores, whatever happens meanwhile."""

from __future__ import annotations

from itertools import chain
from math import log
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from tests import pi

from aforesaid import Engine, recall
from aforesaid.answers import PART_NAMES
from aforesaid.errors import RefInvalid, StaleCursor, StoreCorrupt
from aforesaid.recall.topics import TIERS, Weighed
from aforesaid.storage.sqlite.snapshot import ShardSnapshot

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from aforesaid import Found
    from aforesaid.inquiry import Outline
    from aforesaid.recall.topics import Promised

NAMES = ("parse_port", "src/db/pool.py", "E_CONN_4711", "loadConfig", "PG_PORT")
PHRASES = ("the retry budget", "数据库 端口", "porta del server", "запрос к базе")
TOPICS = ("gateway", "latency", "migration", "Ann", "5433", "walnut", "perché", "데이터베이스", "schema", "tuesday")
FILLER = (
    "we", "looked", "at", "it", "again", "and", "then", "the", "other", "one", "was", "slower", "because", "nobody",
    "migrated", "gateways", "of", "3", "on", "2026-11-30", "при", "これ",
)  # fmt: skip
QUESTIONS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("parse_port", {}, "parse_port"),
    ("src/db/pool.py", {}, "src/db/pool.py"),
    ("parse_port E_CONN_4711", {"match": "any"}, "parse_port E_CONN_4711"),
    ("parse_port PG_PORT loadConfig", {"match": "any"}, "parse_port PG_PORT loadConfig"),
    ("parse_port PG_PORT", {}, "parse_port PG_PORT"),
    ("the retry budget", {"mode": "phrase"}, '"the retry budget"'),
    ("数据库 端口", {"mode": "phrase"}, '"数据库 端口"'),
)
TOPICAL: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("gateway", {}, "gateway"),
    ("walnut", {}, "walnut"),
    ("latency gateway schema", {"match": "any"}, "latency gateway schema"),
    ("latency gateway", {}, "latency gateway"),
    ("loadConfig latency", {"match": "any"}, "loadConfig latency"),
    ("Ann migration", {"match": "any"}, "Ann migration"),
    ("5433 perché", {"match": "any"}, "5433 perché"),
    ("when schema tuesday 2026-11-30", {"match": "any"}, "when schema tuesday 2026-11-30"),
    ("데이터베이스", {}, "데이터베이스"),
    ("what did you say about latency", {"match": "any"}, "what did you say about latency"),
    ("what did I tell you of the schema", {"match": "any"}, "what did I tell you of the schema"),
)


def made(seed: int, count: int = 150) -> list[pi.Row]:
    """A session in which no two texts are the same."""
    random = Random(seed)
    rows: list[pi.Row] = []
    for number in range(count):
        words = random.choices(FILLER, k=random.randint(2, 40))
        words += random.choices(TOPICS, k=random.choice((0, 0, 1, 1, 2, 4)))
        words += random.choices(NAMES, k=random.choice((0, 0, 0, 1, 2)))
        words += [random.choice(PHRASES)] if random.random() < 0.15 else []
        random.shuffle(words)
        speaker = random.choice(("", "", "", "Ann: ", "Bob: "))
        text = f"{speaker}{' '.join(words)} ({'xyz'[number % 3]}{number}x)"
        if random.random() < 0.1:
            text += " /very/long_list.of/names.py" * random.randint(1, 60)
        role = random.choice(("user", "assistant", "toolResult"))
        rows.append(pi.message(f"{number:08x}", rows[-1]["id"] if rows else None, text, role, number * 7))
    return rows


def walk(engine: Engine, query: str, limit: int, **asked: Any) -> Iterator[Found]:
    cursor = None
    while True:
        page = engine.recall(query, limit=limit, cursor=cursor, **asked)
        yield from page.hits
        cursor = page.next
        if cursor is None:
            return


@pytest.mark.parametrize("ranking", ["contextual", "documented"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_hits_have_the_scores_and_the_order_of_automatic_retrieval(
    tmp_path: Path, ranking: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts: dict[str, dict[str, float]] = {}
    score = Weighed.score

    def watched(weighed: Weighed, outline: Outline, text: str) -> tuple[int, tuple[float, ...]] | None:
        found = score(weighed, outline, text)
        promised, _ = weighed.promise([(outline.row, outline.role, outline.tokens)])
        if found is not None:
            ((best, most), row) = promised[0]
            assert (best, -most) <= (found[0], -sum(found[1])), "a text would have been read too late"
            if found[0] == TIERS["other"] == best:
                assert {row: most for (_, most), row in weighed.promise_all()}[row] >= sum(found[1])
            parts[outline.id] = {name: value for name, value in zip(PART_NAMES, found[1], strict=True) if value}
        return found

    monkeypatch.setattr(Weighed, "score", watched)
    file = pi.write(tmp_path / "session.jsonl", [pi.header(), *made(seed)])
    settings = {
        "retrieval.ranking": ranking, "retrieval.maxResults": 100, "context.maxRetrievedHistoryTokens": 200_000,
        "retrieval.sparing": False,
    }  # fmt: skip
    compared = 0
    with Engine.open(tmp_path / "store", settings=settings) as engine:
        for query, asked, request in (*QUESTIONS, *(TOPICAL if ranking == "contextual" else ())):
            # Behind the first hits only what is no question is ordered by other things than its score.
            automatic = engine.retrieve(session=file, query=f"{request} ?", context_entries=())
            scores = {hit.entry_id: hit.score for hit in automatic.hits}
            hits = list(walk(engine, query, 7, session=file, **asked))
            assert hits == list(walk(engine, query, 200, session=file, **asked)), query
            both = [hit for hit in hits if hit.entry_id in scores]
            found = {hit.entry_id for hit in both}
            expected = [hit.entry_id for hit in automatic.hits if hit.entry_id in found]
            assert [hit.entry_id for hit in both] == expected, query
            assert {hit.entry_id: hit.score for hit in both} == {id_: scores[id_] for id_ in found}, query
            if ranking == "contextual":
                told = {hit.entry_id: hit.score_parts for hit in automatic.hits if hit.entry_id in found}
                assert {id_: parts[id_] for id_ in found} == told
            for hit in hits:
                if hit.entry_id in parts:  # of what automatic retrieval looks for
                    assert sum(parts[hit.entry_id].values()) == pytest.approx(hit.score, abs=1e-6)
            parts.clear()
            compared += len(both)
    assert compared > (150 if ranking == "contextual" else 100)


def grow(file: Path, rows: list[pi.Row], random: Random) -> None:
    """What a host writes while somebody pages: the call that asks for the next page, and what it gave."""
    words = " ".join(random.choices((*NAMES, *TOPICS, *FILLER), k=random.randint(1, 60)))
    id_ = f"{len(rows):08x}"
    rows.append(pi.message(id_, rows[-1]["id"], words, random.choice(("assistant", "toolResult")), len(rows) * 7))
    pi.write(file, [pi.header(), *rows])


@pytest.mark.parametrize("ranking", ["contextual", "documented"])
@pytest.mark.parametrize("scope", ["current-branch", "host-wide"])
def test_a_session_that_grows_between_two_pages_moves_no_hit(tmp_path: Path, ranking: str, scope: Any) -> None:
    random = Random(9)
    rows = made(4, 120)
    file = tmp_path / "session.jsonl"
    other = pi.write(tmp_path / "other.jsonl", [pi.header("other"), *made(5, 60)])
    settings = {"retrieval.ranking": ranking}
    with Engine.open(tmp_path / "store", settings=settings) as one, Engine.open(tmp_path / "store") as keeper:
        for query, asked, _ in (*QUESTIONS, *TOPICAL):
            pi.write(file, [pi.header(), *rows])
            one.index(file, other)
            whole = list(walk(one, query, 200, session=file, scope=scope, **asked))
            seen: list[Found] = []
            cursor = None
            for page in range(200):
                if page % 2:  # a command begins anew for each page, and a service holds on to what it knows
                    with Engine.open(tmp_path / "store", settings=settings) as engine:
                        found = engine.recall(query, session=file, scope=scope, limit=5, cursor=cursor, **asked)
                else:
                    found = one.recall(query, session=file, scope=scope, limit=5, cursor=cursor, **asked)
                seen += found.hits
                cursor = found.next
                if cursor is None:
                    break
                grow(file, rows, random)
                keeper.index(file)
            assert [(hit.entry_id, hit.score) for hit in seen] == [(hit.entry_id, hit.score) for hit in whole], query
            del rows[120:]


def test_a_text_that_is_not_looked_at_and_changes_makes_the_cursor_stale(tmp_path: Path) -> None:
    rows = made(6, 80)
    file = pi.write(tmp_path / "session.jsonl", [pi.header(), *rows])
    with Engine.open(tmp_path / "store") as engine:
        first = engine.recall("gateway", session=file, roles=["user"], limit=2)
        assert first.next is not None
        changed = next(row for row in rows if row["message"]["role"] == "assistant")
        changed["message"]["content"][0]["text"] = "gateway gateway gateway"
        pi.write(file, [pi.header(), *rows])
        with pytest.raises(StaleCursor):
            engine.recall("gateway", session=file, roles=["user"], limit=2, cursor=first.next)
    with Engine.open(tmp_path / "store", settings={"retrieval.ranking": "documented"}) as engine:
        first = engine.recall("gateway", session=file, roles=["user"], limit=2)
        changed["message"]["content"][0]["text"] = "another one"
        pi.write(file, [pi.header(), *rows])
        assert engine.recall("gateway", session=file, roles=["user"], limit=2, cursor=first.next).hits


def test_a_cursor_belongs_to_the_ranking_that_made_it(tmp_path: Path) -> None:
    file = pi.write(tmp_path / "session.jsonl", [pi.header(), *made(7, 80)])
    with Engine.open(tmp_path / "store") as engine:
        cursor = engine.recall("gateway", session=file, limit=2).next
    with Engine.open(tmp_path / "store", settings={"retrieval.fts": False}) as engine, pytest.raises(RefInvalid):
        engine.recall("gateway", session=file, limit=2, cursor=cursor)


def test_what_automatic_retrieval_would_not_find_comes_last(tmp_path: Path) -> None:
    texts = ["the observers", "a servery", "one server", "E_OBSERVER_7", "Servers", "x" * 30 + "server"]
    rows = [*pi.conversation(texts), pi.compaction("c1", "e0000005", "e0000005", "a server summary", 9)]
    file = pi.write(tmp_path / "session.jsonl", [pi.header(), *rows])
    with Engine.open(tmp_path / "store") as engine:
        hits = list(walk(engine, "server", 2, session=file, summaries=True))
        assert hits[0].entry_id == "e0000002"
        assert {hit.entry_id for hit in hits} == {"e0000000", "e0000001", "e0000002", "e0000005", "c1"}
        # A name stands in the first tier, in whatever entry.
        named = list(walk(engine, "E_OBSERVER_7", 2, session=file, summaries=True))
        assert [hit.entry_id for hit in named] == ["e0000003"]
        # Nothing that automatic retrieval looks for: the documented sum, as for names.
        assert all(hit.score > 100 for hit in walk(engine, "the", 2, session=file))


def test_the_score_is_this_sum(tmp_path: Path) -> None:
    texts = ["PG_PORT is 5433", "and nothing else is here", "it listens"]
    rows = [*pi.conversation(texts), pi.message("r", "e0000002", "see a/b_c.d for PG_PORT", "toolResult", 3)]
    file = pi.write(tmp_path / "session.jsonl", [pi.header(), *rows])

    def relevance(words: int) -> float:
        # Two of four rows hold the name, once each; the rows have 4, 5, 2 and 8 words.
        idf = log(1 + (4 - 2 + 0.5) / (2 + 0.5))
        return round(idf * 2.2 / (1 + 1.2 * (0.25 + 0.75 * words / (19 / 4))), 4)

    sums = {
        # identifier, branch, symbol, recency, tokens, relevance, names: four marks in a result
        "r": 100 + 15 + 10 + 8 - 12 * 9 / 4000 + relevance(8) + round(3.2 * log(5), 4),
        # identifier, branch, symbol, authority, recency, tokens, relevance
        "e0000000": 100 + 15 + 10 + 8 + 0 - 12 * 8 / 4000 + relevance(4),
    }
    for ranking in ("contextual", "documented"):
        if ranking == "documented":
            sums["r"] -= relevance(8) + round(3.2 * log(5), 4)
            sums["e0000000"] -= relevance(4)
        with Engine.open(tmp_path / "store", settings={"retrieval.ranking": ranking}) as engine:
            hits = engine.recall("PG_PORT", session=file).hits
        assert {hit.entry_id: hit.score for hit in hits} == pytest.approx(sums, abs=1e-6)
        assert [hit.entry_id for hit in hits] == sorted(sums, key=lambda id_: -sums[id_])


def fill(folder: Path, sessions: Sequence[Sequence[str]]) -> None:
    """Sessions of which none is a copy of another; the ids of their entries begin with their letter."""
    folder.mkdir()
    for letter, texts in zip("abcdef", sessions, strict=False):
        rows = [pi.header(letter * 8), *pi.conversation(texts, prefix=letter)]
        pi.write(folder / f"{letter}.jsonl", rows)


@pytest.mark.parametrize("limit", [1, 2, 3, 200])
def test_where_the_end_of_a_page_is_guessed_to_be_changes_no_page(
    tmp_path: Path, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(5)
    words = ("server", "port", "proxy", *FILLER)
    sessions = [[" ".join(random.choices(words, k=random.randint(1, 20))) for _ in range(30)] for _ in range(6)]
    for number, texts in enumerate(sessions):
        texts[1] = f"the servers of {number}"
        texts[9] = f"an observer of {number}"  # which automatic retrieval does not look for
    fill(tmp_path / "sessions", sessions)
    asked: list[int] = []
    promise_all = Weighed.promise_all

    def watched(weighed: Weighed, least: float) -> list[Promised]:
        found = promise_all(weighed, least)
        asked.append(len(found))
        return found

    monkeypatch.setattr(Weighed, "promise_all", watched)
    with Engine.open(tmp_path / "store") as engine:
        engine.index(tmp_path / "sessions")

        def pages() -> list[list[tuple[str, float]]]:
            found: list[list[tuple[str, float]]] = []
            cursor = None
            while True:
                page = engine.recall("server", scope="host-wide", limit=limit, cursor=cursor)
                found.append([(hit.entry_id, hit.score) for hit in page.hits])
                cursor = page.next
                if cursor is None:
                    return found

        expected = pages()
        assert len(asked) == 6 * len(expected), "the guess is right"
        everything = list(chain(*expected))
        assert all(len(page) == limit for page in expected[:-1])
        assert len(dict(everything)) == len(everything) == sum("server" in text for text in chain(*sessions))
        assert sum(id_.endswith("09") for id_, _ in everything[-6:]) == 6
        scores = [score for _, score in everything[:-6]]
        assert scores == sorted(scores, reverse=True)
        counts = {}
        for likely in (-1e9, 0.5, 1.0, 1e9):
            monkeypatch.setattr(recall, "_LIKELY", likely)
            asked.clear()
            assert pages() == expected
            counts[likely] = sum(asked[:6])
        if limit < 6:
            assert counts[1e9] < counts[1.0] <= counts[0.5] <= counts[-1e9]


def test_a_session_that_fails_while_its_texts_are_read_is_one_that_could_not_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "sessions", [[f"the server of {number}", "and the port"] for number in range(3)])
    texts_of = ShardSnapshot.texts

    def failing(snapshot: ShardSnapshot, rows: Sequence[int]) -> tuple[str, ...]:
        if snapshot.session.file.endswith("b.jsonl"):
            raise StoreCorrupt("damaged", "index it again")
        return texts_of(snapshot, rows)

    with Engine.open(tmp_path / "store") as engine:
        engine.index(tmp_path / "sessions")
        with monkeypatch.context() as patched:
            patched.setattr(ShardSnapshot, "texts", failing)
            for query in ("server", "the", "the server", "PG_PORT of"):
                page = engine.recall(query, scope="host-wide", match="any")
                assert {hit.entry_id[0] for hit in page.hits} == {"a", "c"}, query
                assert (page.status, page.coverage.reasons) == ("partial", ("store-corrupt",))
                assert page.coverage.indexed_sessions == 2
        assert engine.recall("server", scope="host-wide").coverage.complete
