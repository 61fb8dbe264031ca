"""Golden ranking cases: every score is written out as the sum that it is."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from aforesaid import ranking
from aforesaid.answers import PART_NAMES, Candidate, Matched, Query, Ranked
from aforesaid.model import Role, Source, StoredEntry

SOURCE = Source(line=1, offset=0, length=1, sha256=bytes(32))


def candidate(
    id_: str,
    *,
    role: Role = "tool_result",
    at: str | None = "2026-11-30T02:00:00.000Z",
    position: int = 0,
    order: int | None = 0,
    tokens: int = 0,
    digest: bytes | None = None,
) -> Candidate:
    entry = StoredEntry(
        row=position + 1,
        id=id_,
        kind="message",
        role=role,
        timestamp=at,
        text="",
        parts=(),
        source=SOURCE,
        digest=digest or id_.encode(),
        tokens=tokens,
    )
    return Candidate(entry=entry, position=position, order=order)


QUERY = Query(
    identifiers=("src/app.py", "parse_port", "E1234", "`odd`"),
    phrases=("connection refused",),
    files=("src/app.py",),
    symbols=("parse_port",),
    errors=("E1234",),
    keywords=("port", "proxy", "timeout", "retry"),
    terms=("src/app.py", "parse_port", "E1234", "connection refused", "port", "proxy", "timeout", "retry"),
)


def matched(*, identifiers: str = "", phrases: str = "", terms: str = "") -> Matched:
    return Matched(
        identifiers=tuple(filter(None, identifiers.split("|"))),
        phrases=tuple(filter(None, phrases.split("|"))),
        terms=tuple(filter(None, terms.split("|"))),
    )


@pytest.mark.parametrize(
    ("given", "found", "length", "tier", "total", "reason"),
    [
        pytest.param(
            candidate("a"), matched(terms="port"), 11, "other",
            (60 + 11) + 15,
            "terms:1", id="one topic, first in the full-text order",
        ),
        pytest.param(
            candidate("a", order=10), matched(terms="port"), 11, "other",
            (60 + 5.5) + 15,
            "terms:1", id="half of the order is left at the eleventh place",
        ),
        pytest.param(
            candidate("a", role="user", position=10), matched(terms="port|proxy"), 11, "other",
            (60 + 11) + 40 + 15 + 8 + 8,
            "terms:2;user", id="second topic, the user's words, the leaf's place",
        ),
        pytest.param(
            candidate("a", role="assistant", position=5, tokens=2000),
            matched(terms="port|proxy|timeout|retry"), 11, "other",
            (60 + 11) + 80 + 15 + 5 + 4 - 6,
            "terms:4;assistant", id="extra topics stop at 80, half way to the leaf, half of the length penalty",
        ),
        pytest.param(
            candidate("a", tokens=1_000_000), matched(terms="port"), 11, "other",
            (60 + 11) + 15 - 12,
            "terms:1", id="the length penalty stops at 12",
        ),
        pytest.param(
            candidate("a"), matched(phrases="connection refused", terms="connection refused"), 11, "phrase",
            85 + 15,
            "phrase:1;terms:1", id="a phrase that is also a term is one topic",
        ),
        pytest.param(
            candidate("a"), matched(identifiers="src/app.py", terms="src/app.py|port"), 11, "identifier",
            100 + 40 + 15 + 12,
            "identifier:1;terms:2;same-file:1", id="an identifier that is a file, and a keyword",
        ),
        pytest.param(
            candidate("a", role="user"),
            matched(identifiers="src/app.py|parse_port|E1234", phrases="connection refused"), 11, "identifier",
            100 + 80 + 15 + 12 + 10 + 12 + 8,
            "identifier:3;phrase:1;same-file:1;same-symbol:1;same-error:1;user", id="only the highest base counts",
        ),
        pytest.param(
            candidate("a", order=None), matched(identifiers="`odd`"), 1, "identifier",
            100 + 15,
            "identifier:1", id="an identifier without tokens, on a branch of one entry",
        ),
    ],
)  # fmt: skip
def test_the_score_is_this_sum(
    given: Candidate, found: Matched, length: int, tier: str, total: float, reason: str
) -> None:
    row = ranking.score(given, found, QUERY, length)
    assert row.tier == tier
    assert row.score == pytest.approx(total, abs=1e-9)
    assert sum(part.value for part in row.parts) == pytest.approx(row.score, abs=1e-6)
    assert row.reason == reason
    assert all(part.value for part in row.parts)


def test_an_extra_match_outweighs_source_order_recency_and_length_together() -> None:
    two_topics = candidate("two", role="tool_result", position=0, order=149, tokens=1_000_000)
    one_topic = candidate("one", role="user", position=999, order=0, tokens=0)
    rows = ranking.rank([(one_topic, matched(terms="port")), (two_topics, matched(terms="port|proxy"))], QUERY, 1000)
    assert [row.candidate.entry.id for row in rows] == ["two", "one"]
    assert ranking.ORDER + ranking.RECENCY + ranking.TOKENS + max(ranking.AUTHORITY.values()) < ranking.EXTRA_TERM


def test_literal_identifiers_precede_literal_phrases_whatever_the_score() -> None:
    strong_phrase = candidate("phrase", role="user", position=9)
    weak_identifier = candidate("identifier", tokens=4000)
    strong_terms = candidate("terms", role="user", position=9)
    rows = ranking.rank(
        [
            (strong_terms, matched(terms="port|proxy|timeout")),
            (strong_phrase, matched(phrases="connection refused", terms="port|proxy|timeout")),
            (weak_identifier, matched(identifiers="`odd`")),
        ],
        QUERY,
        10,
    )
    assert [row.candidate.entry.id for row in rows] == ["identifier", "phrase", "terms"]
    assert rows[0].score < rows[1].score


def test_equal_scores_go_by_time_then_by_id() -> None:
    rows = [
        candidate("b", at="2026-11-30T02:00:00.000Z"),
        candidate("a", at="2026-11-30T02:00:00.000Z"),
        candidate("d", at=None),
        candidate("c", at="2026-11-30T03:00:00.000Z"),
    ]
    ranked = ranking.rank([(row, matched(terms="port")) for row in rows], QUERY, 1)
    assert [row.candidate.entry.id for row in ranked] == ["c", "a", "b", "d"]


def test_the_order_of_the_candidates_changes_nothing() -> None:
    dice = random.Random(7)
    rows = [
        (
            candidate(f"e{number:02}", role=dice.choice(["user", "assistant", "shell"]), position=number % 5,
                      order=number % 7, tokens=number * 10, at=f"2026-11-30T0{number % 3}:00:00.000Z"),
            matched(terms="|".join(QUERY.terms[4 : 5 + number % 4])),
        )
        for number in range(40)
    ]  # fmt: skip
    expected = ranking.rank(rows, QUERY, 5)
    for _ in range(20):
        dice.shuffle(rows)
        assert ranking.rank(rows, QUERY, 5) == expected


def test_a_row_without_a_verified_match_is_no_candidate() -> None:
    best_otherwise = candidate("a", role="user", position=9, order=0)
    assert ranking.rank([(best_otherwise, Matched())], QUERY, 10) == ()


def test_of_equal_texts_the_higher_ranked_and_newer_one_stays() -> None:
    same = b"same text"
    rows = [
        candidate("old", at="2026-11-30T01:00:00.000Z", digest=same),
        candidate("new", at="2026-11-30T02:00:00.000Z", digest=same),
        candidate("other", at="2026-11-30T00:00:00.000Z"),
    ]
    ranked = ranking.rank([(row, matched(terms="port")) for row in rows], QUERY, 1)
    assert [row.candidate.entry.id for row in ranking.deduplicate(ranked)] == ["new", "other"]


def repeats(role: Role, *texts: str, asked: str = "port") -> list[Ranked]:
    """Rows of one normalised text, the best first; each stands later on the branch than the one before."""
    rows = [
        replace(made, entry=replace(made.entry, text=text))
        for place, text in enumerate(texts)
        for made in [candidate(f"e{place}", role=role, position=place, order=place, digest=b"same")]
    ]
    return [ranking.score(row, matched(terms=asked), QUERY, 9) for row in rows]


@pytest.mark.parametrize("role", ["tool_call", "tool_result", "shell"])
def test_what_was_printed_again_shows_the_newest_at_the_place_and_with_the_score_of_the_best(role: Role) -> None:
    rows = repeats(role, "port 80", "port 80", "Port  80")
    other = ranking.score(candidate("other"), matched(terms="port"), QUERY, 9)
    first, second = ranking.deduplicate([rows[0], rows[2], other, rows[1]])
    assert (first.candidate.entry.id, second.candidate.entry.id) == ("e2", "other")
    assert (first.addends, first.score, first.tier) == (rows[0].addends, rows[0].score, rows[0].tier)


def test_what_people_said_again_stays_the_best_one() -> None:
    for role in ("user", "assistant", "custom"):
        (kept,) = ranking.deduplicate(repeats(role, "port 80", "port 80"))
        assert kept.candidate.entry.id == "e0"
    best, later = repeats("tool_result", "port 80")[0], repeats("user", "port 80", "port 80")[1]
    assert ranking.deduplicate([best, later]) == (best,)


def test_an_older_repeat_and_one_in_which_something_else_was_verified_do_not_take_the_place() -> None:
    best, later = repeats("tool_result", "port 80", "PORT 80")
    assert ranking.deduplicate([later, best]) == (later,)
    assert ranking.deduplicate([best, replace(later, matched=matched(terms="proxy"))]) == (best,)
    assert ranking.deduplicate([best, replace(later, working=True)]) == (best,)
    (same,) = ranking.deduplicate([best, replace(repeats("tool_result", "", "port 80")[1], working=True)])
    assert (same.candidate.entry.id, same.working) == ("e1", False)


def test_a_text_in_which_another_spelling_was_verified_is_no_repetition() -> None:
    upper, lower, again, more = repeats("tool_result", "export FOO=1", "export foo=1", "EXPORT FOO=1", "export  foo=1")
    upper, lower = (
        replace(upper, matched=matched(identifiers="FOO")),
        replace(lower, matched=matched(identifiers="foo")),
    )
    again, more = replace(again, matched=matched(identifiers="FOO")), replace(more, matched=matched(terms="foo"))
    kept = ranking.deduplicate([upper, lower, again, more])
    assert [row.candidate.entry.id for row in kept] == ["e2", "e1"], "each spelling once, the newest of its repeats"
    assert ranking.deduplicate([upper, more]) == (upper,), "what was verified in no other way is a repetition"
    same = replace(lower, candidate=replace(lower.candidate, entry=upper.candidate.entry))
    assert len(ranking.deduplicate([upper, same])) == 1, "whatever was looked for in it, it is the same text"


def test_a_repeat_does_not_take_the_place_of_one_of_the_day_that_was_asked_about() -> None:
    best, later = repeats("tool_result", "port 80", "port 80")
    dated = [9.0 if name == "date" else value for name, value in zip(PART_NAMES, best.addends, strict=True)]
    kept = replace(best, addends=tuple(dated))
    assert ranking.deduplicate([kept, later]) == (kept,)
