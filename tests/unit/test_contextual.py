"""Relevance of rows in their place: who takes from whom, who may come back, and which forms a word has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from tests.words import any_text

from aforesaid import contextual, lineage, ranking
from aforesaid.contextual import ANSWER_NEXT, FAR, NEXT, PREVIOUS, asides, order, roots_of
from aforesaid.language.endings import ENDINGS, is_form, root_of
from aforesaid.matching import Probe
from aforesaid.model import Candidate, Matched, Query, Relevance, Source, StoredEntry, Weight

if TYPE_CHECKING:
    from aforesaid.model import Role

BRANCH = ((1, 20),)


def weights(**rows: float) -> list[Weight]:
    """Weights by role initial and row: u3=1.5 is a user's row 3."""
    roles: dict[str, Role] = {"u": "user", "a": "assistant", "t": "tool_result"}
    return [Weight(row=int(name[1:]), score=score, role=roles[name[0]]) for name, score in rows.items()]


def ordered(found: list[Weight], spans: tuple[tuple[int, int], ...] = BRANCH, limit: int = 9) -> dict[int, Relevance]:
    return order(found, lineage.Places(BRANCH), lineage.Places(spans), limit)


def test_a_prompt_takes_from_its_reply_and_from_what_precedes_it() -> None:
    found = ordered(weights(a4=2.0, u5=1.0, a6=3.0, u7=4.0, a3=5.0))
    assert found[5].own == 1.0
    assert found[5].neighbours == pytest.approx(NEXT * 3.0 + PREVIOUS * 2.0 + FAR * (4.0 + 5.0))


def test_an_answer_takes_nothing_from_its_prompt() -> None:
    found = ordered(weights(u5=9.0, a6=1.0, t7=2.0))
    assert found[6].neighbours == pytest.approx(ANSWER_NEXT * 2.0)
    assert list(found) == [5, 7, 6]


def test_neighbours_admit_nothing_that_holds_nothing_itself() -> None:
    assert set(ordered(weights(u5=9.0))) == {5}


def test_rows_that_may_not_come_back_still_count_as_neighbours() -> None:
    found = ordered(weights(u5=1.0, a6=3.0), ((1, 5),))
    assert set(found) == {5}
    assert found[5].neighbours == pytest.approx(NEXT * 3.0)


def test_rows_of_other_branches_are_no_neighbours() -> None:
    branch = ((1, 2), (10, 12))
    found = order(weights(u2=1.0, a3=50.0, a10=2.0), lineage.Places(branch), lineage.Places(branch), 9)
    assert set(found) == {2, 10}
    assert found[2].neighbours == pytest.approx(NEXT * 2.0)


def test_of_equal_rows_the_later_one_comes_first_and_the_limit_holds() -> None:
    found = ordered(weights(t1=1.0, t9=1.0, t5=1.0, t17=0.5), limit=3)
    assert list(found) == [9, 5, 1]


@pytest.mark.parametrize(
    ("word", "form"),
    [
        ("migration", "migrations"),
        ("migrate", "migrated"),
        ("restart", "restarting"),
        ("server", "servers"),
        ("servizio", "servizi"),
        ("configurare", "configurato"),
        ("quickly", "quick"),
    ],
)
def test_forms_of_a_word_share_its_root(word: str, form: str) -> None:
    root = root_of(word)
    assert root is not None
    assert is_form(form, root)
    assert is_form(word, root)


@pytest.mark.parametrize(("word", "other"), [("port", "portable"), ("user", "username"), ("session", "sesson")])
def test_a_longer_word_is_no_form(word: str, other: str) -> None:
    root = root_of(word)
    assert root is None or not is_form(other, root)


@pytest.mark.parametrize("word", ["", "bug", "gate", "größe", "порт", "数据", "a1b2c3", "snake_case", "\ud800"])
def test_words_without_known_forms_have_no_root(word: str) -> None:
    assert root_of(word) is None


def test_only_single_words_have_roots() -> None:
    assert roots_of(["migrations", "src/app.py", "retry budget", "порты", "Servers"]) == {
        "migrations": "migr",
        "Servers": "serv",
    }


def test_asides_are_what_is_left_of_a_request_but_for_words_that_only_join() -> None:
    assert asides("When did we first change the retry budget of the gateway?", ("retry", "gateway")) == (
        "first",
        "chang",
        "budget",
    )
    assert asides("", ()) == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the migrations ran", True),
        ("MIGRATED yesterday", True),
        ("runMigration()", True),
        ("migratory birds", False),
        ("emigration", False),
        ("migrat", False),
        ("", False),
    ],
)
def test_a_form_is_found_as_a_whole_word_or_part_of_a_name(text: str, found: bool) -> None:
    probe = Probe((), (), ("migrations",), roots_of(["migrations"]), ENDINGS)
    assert (probe.matched(text)[2] == ("migrations",)) is found
    assert bool(probe.places(text)) is found


def test_places_of_forms_lead_back_to_the_text() -> None:
    probe = Probe((), (), ("server",), roots_of(["server"]), ENDINGS)
    text = "Dérivé: SERVERS, server; unserved server"
    assert [text[start:end] for start, end, _ in probe.places(text)] == ["SERVERS", "server", "server"]


@settings(max_examples=200)
@given(any_text, any_text)
def test_no_text_makes_anything_raise(request: str, text: str) -> None:
    roots = roots_of([request])
    asides(request, [text])
    Probe((), (), [request] if request else [], roots, ENDINGS).matched(text)


def scored(text: str, role: Role, terms: tuple[str, ...] = ("Ann", "kayak")) -> dict[str, float]:
    entry = StoredEntry(
        row=1, id="e", kind="message", role=role, timestamp=None, text=text, parts=(), digest=b"", tokens=400,
        source=Source(line=1, offset=0, length=1, sha256=bytes(32)),
    )  # fmt: skip
    candidate = Candidate(entry=entry, position=3, order=None, relevance=Relevance(own=2.0, neighbours=1.5))
    ranked = ranking.score(candidate, Matched(terms=("kayak",)), Query(terms=terms), 10)
    assert ranked.score == pytest.approx(sum(part.value for part in ranked.parts))
    return {part.name: part.value for part in ranked.parts}


def test_the_score_of_the_third_tier_is_relevance_neighbours_speaker_and_user() -> None:
    assert scored("a kayak", "tool_result") == {"relevance": 20.0, "neighbours": 15.0}
    assert scored("a kayak", "user") == {"relevance": 20.0, "neighbours": 15.0, "authority": 7.0}
    assert scored("Ann: a kayak", "assistant") == {"relevance": 20.0, "neighbours": 15.0, "speaker": 35.0}
    assert scored("Bob: a kayak", "assistant") == {"relevance": 20.0, "neighbours": 15.0}


def test_names_and_phrases_are_scored_as_documented_whatever_their_relevance() -> None:
    entry = StoredEntry(
        row=1, id="e", kind="message", role="user", timestamp=None, text="x", parts=(), digest=b"", tokens=0,
        source=Source(line=1, offset=0, length=1, sha256=bytes(32)),
    )  # fmt: skip
    candidate = Candidate(entry=entry, position=0, order=None, relevance=Relevance(own=2.0, neighbours=1.5))
    ranked = ranking.score(candidate, Matched(identifiers=("a_b",)), Query(identifiers=("a_b",)), 1)
    assert [part.name for part in ranked.parts] == ["identifier", "branch", "authority"]


def test_the_bounds_of_the_module_are_what_the_documentation_says() -> None:
    assert (NEXT, PREVIOUS, FAR, ANSWER_NEXT) == (0.7, 0.4, 0.15, 0.4)
    assert (ranking.RELEVANCE, ranking.SPEAKER, ranking.USER) == (10.0, 1.0, 0.2)
    assert contextual.MOST_ASIDES == 64
