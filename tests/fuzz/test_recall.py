"""Explicit search against a brute-force scan: every match exactly once, nothing outside the scope, in a total order."""

from __future__ import annotations

import json
import re
import string
import tempfile
from pathlib import Path
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import pi
from tests.fuzz.test_branches import NAMES, WORDS, sessions

from aforesaid import Engine, UsageError
from aforesaid.hosts.tools import Origin, consult
from aforesaid.inquiry import Question
from aforesaid.recall.topics import read_topics
from aforesaid.tokens import estimate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aforesaid import Found

QUERIES = st.lists(st.sampled_from([*WORDS, *NAMES, "prox", "way", "time", "o", "ERR", "nowhere"]), max_size=3)


def pages(engine: Engine, query: str, limit: int, **asked: Any) -> Iterator[list[Found]]:
    cursor = None
    while True:
        page = engine.recall(query, limit=limit, cursor=cursor, **asked)
        assert len(page.hits) <= limit
        assert page.coverage.complete
        assert page.status == "complete"
        yield list(page.hits)
        cursor = page.next
        if cursor is None:
            return


def holds(text: str, items: list[str], mode: str, match: str) -> bool:
    if not items:
        return True
    if mode == "phrase":
        return " ".join(items) in text
    if mode == "regex":
        return re.search("|".join(items), text) is not None
    return (all if match == "all" else any)(item in text for item in items)


def tier_of(text: str, query: str, mode: Any) -> int:
    """How a text that matches is found by automatic retrieval: by a name, a phrase, a topic, or not at all."""
    topics = read_topics(Question(text=query, mode=mode))
    if topics is None:
        return 0
    identifiers, phrases, terms = topics.probe.matched(text)
    return 0 if identifiers else 1 if phrases else 2 if terms else 3


@settings(max_examples=200)
@given(
    sessions(),
    QUERIES,
    st.sampled_from(["literal", "phrase", "regex"]),
    st.sampled_from(["all", "any"]),
    st.sampled_from(["current-branch", "current-session"]),
    st.integers(1, 7),
    st.sampled_from(["contextual", "documented"]),
)
def test_following_the_cursor_yields_every_match_exactly_once(
    drawn: tuple[list[pi.Row], str], items: list[str], mode: str, match: str, scope: str, limit: int, ranking: str
) -> None:
    rows, leaf = drawn
    query = ("|" if mode == "regex" else " ").join(items)
    on_branch = {row["id"] for row in pi.path_of(rows, leaf)}
    gone = {row["id"] for row in pi.gone_from_view(rows, leaf)}
    expected = {
        row["id"]
        for row in rows
        if pi.text_of(row)
        and holds(pi.text_of(row), items, mode, match)
        and (scope == "current-session" or row["id"] in on_branch)
    }
    settings_ = {"retrieval.ranking": ranking}
    with tempfile.TemporaryDirectory() as folder, Engine.open(Path(folder) / "store", settings=settings_) as engine:
        file = pi.write(Path(folder) / "session.jsonl", [pi.header(), *rows])
        asked: dict[str, Any] = {"session": file, "leaf": leaf, "scope": scope, "mode": mode, "match": match}
        parts = list(pages(engine, query, limit, **asked))
        hits = [hit for part in parts for hit in part]
        whole = [hit for part in pages(engine, query, 200, **asked) for hit in part]
    assert all(len(part) == limit for part in parts[:-1])
    assert len(hits) == len({hit.entry_id for hit in hits})
    assert {hit.entry_id for hit in hits} == expected
    assert [hit.entry_id for hit in whole] == [hit.entry_id for hit in hits], "the order depends on the page's size"
    for hit in hits:
        assert (hit.branch == "active") == (hit.entry_id in on_branch)
        assert hit.in_context == (hit.entry_id in on_branch and hit.entry_id not in gone)
    if items:
        texts = {row["id"]: pi.text_of(row) for row in rows}
        tiers = [tier_of(texts[hit.entry_id], query, mode) if ranking == "contextual" else 0 for hit in hits]
        order = [(tier, -hit.score) for tier, hit in zip(tiers, hits, strict=True)]
        assert order == sorted(order)
    else:
        times = [hit.timestamp or "" for hit in hits]
        assert times == sorted(times, reverse=True)


def hostile(random: Random) -> str:
    pieces = [
        *string.punctuation, "\x00", "\ud800", "\udfff", "\ufeff", "\u202e", "\u200d", "👨\u200d👩\u200d👧", "数据库",
        "서버", "ทดสอบ", "שלום", "مرحبا", "e\u0301", "\u1112\u1161\u11ab", "NEAR(", "body:", "AND", "NOT", '"', "''",
        "--", "\r\n", "\t", " ", "\u2028", "port", "(a+)+$", "(.*)*", "(?:a+a+)+b", "{1000}", "\x1b[31m", "\U0010ffff",
        "－", "ﬁ", "İ", "ß", "$(x)", "`x`",
    ]  # fmt: skip
    text = "".join(random.choice(pieces) for _ in range(random.randint(1, 12)))
    if random.random() < 0.02:
        text = text * (100_000 // len(text))
    return text


def test_a_thousand_hostile_queries_raise_nothing_and_end_in_time(tmp_path: Path) -> None:
    random = Random(20261130)
    texts = [hostile(random) for _ in range(60)] + ["the port is 5433 " * 200, "a" * 5000 + "!"]
    other = {"retrieval.ranking": "documented"}
    with Engine.open(tmp_path / "store") as one, Engine.open(tmp_path / "store", settings=other) as two:
        file = pi.write(tmp_path / "session.jsonl", [pi.header(), *pi.conversation(texts)])
        stored = {row["id"]: pi.text_of(row) for row in pi.conversation(texts)}
        for number in range(1000):
            query = hostile(random)
            mode = ("literal", "phrase", "regex", "literal")[number % 4]
            match = "any" if number % 3 else "all"
            engine = two if number % 5 == 0 else one
            started = perf_counter()
            try:
                page = engine.recall(query, session=file, mode=mode, match=match, limit=200)  # type: ignore[arg-type]
            except UsageError:
                assert mode == "regex"
                continue
            finally:
                assert perf_counter() - started < 4, query[:80]
            if page.coverage.complete and mode != "regex":
                terms = query.split() if mode == "literal" else [query]
                test = all if match == "all" or mode == "phrase" else any
                expected = {id_ for id_, text in stored.items() if not query.strip() or test(t in text for t in terms)}
                expected = {id_ for id_ in expected if stored[id_].strip()}
                assert {hit.entry_id for hit in page.hits} == expected, query[:80]


def test_a_hostile_call_of_a_tool_gets_a_document_that_is_not_too_long(tmp_path: Path) -> None:
    random = Random(20261201)
    texts = [hostile(random) for _ in range(40)] + ["a" * 5000 + "!", "数据库 " * 2000]
    file = pi.write(tmp_path / "session.jsonl", [pi.header("one"), *pi.conversation(texts)])
    names = ("query", "session", "scope", "role", "type", "tool", "file", "after", "before", "mode", "match", "cursor")
    odd: list[Any] = ["regex", "any", ["user"], ["nobody"], "message", 7, None, True, [], {}, "\ud800", "2026-11-30"]
    answered = 0
    with Engine.open(tmp_path / "store") as engine:
        engine.index(file)
        origin = Origin(session=str(file), session_id="one")
        for number in range(300):
            arguments: dict[str, Any] = {"query": hostile(random)}
            for name in random.sample(names, random.choice((0, 0, 0, 1, 2))):
                arguments[name] = random.choice([*odd, hostile(random)])
            tool = ("history_recall", "history_recall", "history_expand", "history_status")[number % 4]
            if tool != "history_recall":
                arguments = dict.fromkeys(random.sample(("ref", "entry", "range", "x"), 1), arguments["query"])
            started = perf_counter()
            told = consult(engine, origin, tool, arguments, leaf=None, provider=None)
            assert perf_counter() - started < 8, arguments
            document = json.loads(told["text"])
            assert ("error" in document) == told["failed"]
            answered += not told["failed"]
            assert told["failed"] or estimate(told["text"]) <= 3000
    assert answered > 50


@pytest.mark.parametrize("limit", [0, -1, 201])
def test_a_wrong_limit_is_a_wrong_argument(tmp_path: Path, limit: int) -> None:
    file = pi.write(tmp_path / "session.jsonl", [pi.header(), *pi.conversation(["a"])])
    with Engine.open(tmp_path / "store") as engine, pytest.raises(UsageError):
        engine.recall("a", session=file, limit=limit)
