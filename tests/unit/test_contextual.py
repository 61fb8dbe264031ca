"""Relevance of rows in their place: who takes from whom, who may come back, and which forms a word has."""

from __future__ import annotations

import sys
from array import array
from math import log
from typing import TYPE_CHECKING

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.values import make_entry
from tests.words import any_text

from aforesaid import contextual, lineage, ranking
from aforesaid.answers import NO_WEIGHTS, Candidate, Matched, Query, Relevance, Weight, Weights
from aforesaid.contextual import (
    ANSWER_NEXT,
    FAR,
    NEXT,
    PREVIOUS,
    _Arrays,
    asides,
    asked_of,
    order,
    order_arrays,
    order_singly,
    pairs_of,
    roots_of,
)
from aforesaid.language.endings import beginning_of, endings_after, is_form, root_of
from aforesaid.matching import Probe
from aforesaid.model import TOOL_ROLES, Source, StoredEntry
from aforesaid.moments import Time, read_time, tells_time

if TYPE_CHECKING:
    from aforesaid.model import Role

BRANCH = ((1, 20),)


def weights(**rows: float) -> Weights:
    """Weights by role initial and row: u3=1.5 is a user's row 3."""
    listed = sorted((int(name[1:]), score, "uat".index(name[0])) for name, score in rows.items())
    return Weights(
        rows=array("q", [row for row, _, _ in listed]),
        scores=array("d", [score for _, score, _ in listed]),
        roles=bytes([role for _, _, role in listed]),
        names=("user", "assistant", "tool_result"),
    )


def ordered(found: Weights, spans: tuple[tuple[int, int], ...] = BRANCH, limit: int = 9) -> dict[int, Relevance]:
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


@pytest.mark.parametrize(
    ("word", "form"),
    [
        ("plan", "planned"),
        ("planning", "plan"),
        ("planned", "planning"),
        ("committed", "commit"),
        ("formatter", "formats"),
        ("migrations", "migrated"),
    ],
)
def test_a_consonant_that_an_ending_doubles_is_the_same_consonant(word: str, form: str) -> None:
    beginning = beginning_of(word) or word
    assert (word == beginning and form.startswith(word)) or (is_form(form, beginning) and is_form(word, beginning))
    assert roots_of([word]).get(word) == beginning_of(word)


@pytest.mark.parametrize(
    ("word", "beginning"),
    [
        ("planning", "plan"),
        ("calling", "call"),  # l is doubled in "call" itself
        ("mapping", "mapp"),  # "map" would begin too much
        ("scritta", "scritt"),  # no English ending
        ("plan", None),
        ("session", "sess"),  # s is none of those consonants
        ("", None),
        ("порты", None),
    ],
)
def test_only_what_english_doubles_is_made_single(word: str, beginning: str | None) -> None:
    assert beginning_of(word) == beginning


def test_what_follows_a_beginning_is_an_ending_nothing_or_a_doubled_consonant() -> None:
    assert {"", "s", "ning", "ned"} <= endings_after("n")
    assert "ding" not in endings_after("n")
    assert "ls" not in endings_after("l")
    assert "led" not in endings_after("l")
    assert endings_after("") == endings_after("a")
    assert not is_form("plans", "plann")
    assert not is_form("planned", "planner")


@pytest.mark.parametrize(("text", "found"), [("we planned it", True), ("a planner", True), ("the planet", False)])
def test_forms_with_a_doubled_consonant_are_found_in_texts(text: str, found: bool) -> None:
    probe = Probe((), (), ("planning",), roots_of(["planning"]), endings_after)
    assert bool(probe.matched(text)[2]) is found
    assert bool(probe.places(text)) is found


USER, ASSISTANT = {"user"}, {"assistant", "tool_call"}


@pytest.mark.parametrize(
    ("request_", "roles"),
    [
        ("When did I say the sprint ends?", USER),
        ("How many sessions have I finished?", USER),
        ("the port that I’ve already mentioned", USER),
        ("which limit had i set", USER),
        ("the value I gave before", USER),
        ("che porta ho detto?", USER),
        ("quale limite avevo già impostato", USER),
        ("How did you recommend splitting the work?", ASSISTANT),
        ("the library you suggested", ASSISTANT),
        ("which flag HAVE YOU used", ASSISTANT),
        ("perché hai scelto la coda?", ASSISTANT),
        ("what did you answer when I asked about the port", USER | ASSISTANT),
        ("can you list the ports", set()),
        ("would you suggest a library", set()),
        ("should I raise the limit?", set()),
        ("I have a bug in the parser", set()),
        ("ho un errore nel parser", set()),
        ("ho questo log", set()),
        ("why did we choose the queue?", set()),
        ("what did they say of wi-fi", set()),
        ("git commit -m 'did it'", set()),
        ("", set()),
        ("Что я сказал? 我说了什么 \ud800", set()),
    ],
)
def test_who_is_asked_about_is_who_the_pronoun_names(request_: str, roles: set[str]) -> None:
    assert asked_of(request_) == roles


def test_only_the_beginning_of_a_long_request_says_who_is_asked_about() -> None:
    assert asked_of("x " * 1000 + "what did I say") == USER
    assert asked_of("x " * 3000 + "what did I say") == set()


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
    probe = Probe((), (), ("migrations",), roots_of(["migrations"]), endings_after)
    assert (probe.matched(text)[2] == ("migrations",)) is found
    assert bool(probe.places(text)) is found


def test_places_of_forms_lead_back_to_the_text() -> None:
    probe = Probe((), (), ("server",), roots_of(["server"]), endings_after)
    text = "Dérivé: SERVERS, server; unserved server"
    assert [text[start:end] for start, end, _ in probe.places(text)] == ["SERVERS", "server", "server"]


@settings(max_examples=200)
@given(any_text, any_text)
def test_no_text_makes_anything_raise(request: str, text: str) -> None:
    roots = roots_of([request])
    asides(request, [text])
    pairs_of(request)
    asked_of(request)
    read_time(request)
    tells_time(text)
    Probe((), (), [request] if request else [], roots, endings_after).matched(text)


def ranked(
    text: str,
    role: Role = "tool_result",
    *,
    terms: tuple[str, ...] = ("Ann", "kayak"),
    matched: Matched | None = None,
    time: Time | None = None,
    at: str | None = None,
    known: frozenset[str] | None = None,
    speakers: frozenset[Role] = frozenset(),
) -> dict[str, float]:
    entry = StoredEntry(
        row=1, id="e", kind="message", role=role, timestamp=at, text=text, parts=(), digest=b"", tokens=0,
        source=Source(line=1, offset=0, length=1, sha256=bytes(32)),
    )  # fmt: skip
    candidate = Candidate(entry=entry, position=0, order=None, relevance=Relevance(own=2.0, neighbours=1.5))
    asked = matched or Matched(terms=("kayak",))
    found = ranking.score(candidate, asked, Query(terms=terms), 1, time, known=known, asked=speakers)
    assert found.score == pytest.approx(sum(part.value for part in found.parts))
    return {part.name: part.value for part in found.parts}


BOTH = {"relevance": 20.0, "neighbours": 15.0}


def test_the_score_of_the_third_tier_is_relevance_neighbours_speaker_and_user() -> None:
    assert ranked("a kayak") == BOTH
    assert ranked("a kayak", "user") == {**BOTH, "authority": 10.5}
    assert ranked("Ann: a kayak", "assistant") == {**BOTH, "speaker": 35.0}
    assert ranked("Bob: a kayak", "assistant") == BOTH


def test_who_is_asked_about_counts_as_a_speaker_by_role_where_no_name_says_who_speaks() -> None:
    assert ranked("a kayak", "user", speakers=frozenset({"user"})) == {**BOTH, "authority": 10.5, "speaker": 35.0}
    assert ranked("a kayak", "assistant", speakers=frozenset({"user"})) == BOTH
    assert ranked("a kayak", "tool_call", speakers=frozenset({"assistant", "tool_call"})) == {**BOTH, "speaker": 35.0}
    assert ranked("Bob: a kayak", "user", speakers=frozenset({"user"})) == BOTH
    assert ranked("Ann: a kayak", "user", speakers=frozenset({"user"})) == {**BOTH, "speaker": 35.0}


@pytest.mark.parametrize("text", ["Bob: a kayak", "Ènea: kayak"])
def test_where_a_name_says_who_speaks_the_role_says_nothing(text: str) -> None:
    assert ranked(text, "user") == BOTH


@pytest.mark.parametrize("text", ["to buy: a kayak", "12: a kayak", "Two words: a kayak", "kayak", ": kayak", ""])
def test_a_text_that_begins_with_no_name_is_a_users_words(text: str) -> None:
    assert ranked(text, "user")["authority"] == 10.5


def test_a_day_that_was_asked_about_weighs_twice_as_much_as_the_words() -> None:
    time = read_time("who bought the kayak on 3 May 2023?")
    assert ranked("a kayak", at="2023-05-03T10:00:00.000Z", time=time) == {**BOTH, "date": 70.0}
    assert ranked("a kayak", at="2023-06-03T10:00:00.000Z", time=time) == BOTH
    assert ranked("a kayak", time=time) == BOTH


def test_a_text_that_says_when_weighs_more_if_that_was_asked() -> None:
    time = read_time("when did Ann buy the kayak?")
    assert ranked("a kayak, last week", time=time) == {**BOTH, "time": 17.5}
    assert ranked("a kayak", time=time) == BOTH
    assert ranked("a kayak, last week") == BOTH


def test_a_figure_that_was_asked_about_weighs_more() -> None:
    assert ranked("port 8443", matched=Matched(terms=("8443",))) == {**BOTH, "figure": 17.5}


def test_names_and_phrases_are_scored_as_documented_and_by_what_else_they_hold() -> None:
    found = ranked("x", "user", matched=Matched(identifiers=("a_b",)))
    assert found == {"identifier": 100.0, "branch": 15.0, "authority": 8.0, "relevance": 2.0}


THREE = "a kayak in src/one.py, by two_names"


NEW: frozenset[str] = frozenset()


def test_by_the_work_a_call_or_result_is_worth_more_the_more_names_it_holds_that_nobody_sees() -> None:
    more = {**BOTH, "names": pytest.approx(1.5 * 35 * log(3), abs=1e-4)}
    assert ranked(THREE, known=NEW) == more == ranked(THREE, "tool_call", known=NEW)
    assert ranked(THREE, "shell", known=NEW) == more == ranked(f"{THREE} {THREE}", known=NEW)
    assert ranked(THREE, known=frozenset({"src/one.py", "other.py"}))["names"] == pytest.approx(52.5 * log(2), abs=1e-4)
    assert ranked(THREE, known=frozenset({"src/one.py", "two_names"})) == BOTH
    assert ranked(THREE, "assistant", known=NEW) == BOTH == ranked(THREE)
    assert ranked(f"a kayak{' ' * 6000}src/one.py", known=NEW) == BOTH, "only the beginning is read"


@pytest.mark.parametrize("found", [Matched(identifiers=("a_b",)), Matched(phrases=("a b",))])
def test_beside_a_name_or_phrase_names_count_up_to_a_bound(found: Matched) -> None:
    assert ranked("a_b", matched=found)["names"] == pytest.approx(3.2 * log(2), abs=1e-4)
    assert ranked("a_b/" * 999, "tool_call", matched=found)["names"] == 19.0
    assert ranked("a_b", matched=found, known=NEW).get("names") is None, "shorter names come up everywhere"
    assert ranked("a_b/c", matched=found, known=NEW)["names"] == pytest.approx(9 * log(2), abs=1e-4)
    assert ranked(" ".join(f"a/{n}" for n in range(1000, 2100)), matched=found, known=NEW)["names"] == 60.0
    assert "names" not in ranked("a_b", "user", matched=found)
    assert ("relevance" in ranked("x", matched=found), "relevance" in ranked("x", matched=found, known=NEW)) == (
        True,
        False,
    )


def test_the_documented_score_knows_nothing_of_names() -> None:
    entry = make_entry("a_b/c", role="tool_result")
    candidate = Candidate(entry=entry, position=0, order=0)
    for known in (None, NEW):
        found = ranking.score(candidate, Matched(identifiers=("a_b",)), Query(), 1, known=known)
        assert {part.name for part in found.parts} <= {"identifier", "branch", "tokens"}


def test_names_length_and_place_together_do_not_outweigh_a_topic() -> None:
    assert TOOL_ROLES.isdisjoint(ranking.AUTHORITY), "a row has either names or authority"
    most = max(ranking.NAMES_BESIDE_LITERALS[1], *ranking.AUTHORITY.values())
    assert most + ranking.RECENCY + ranking.TOKENS < ranking.EXTRA_TERM


def test_the_bounds_of_the_module_are_what_the_documentation_says() -> None:
    assert (NEXT, PREVIOUS, FAR, ANSWER_NEXT) == (0.7, 0.4, 0.2, 0.4)
    assert (ranking.RELEVANCE, ranking.LITERAL_RELEVANCE, ranking.SPEAKER, ranking.USER) == (10.0, 1.0, 1.0, 0.3)
    assert (ranking.DATE, ranking.TIME, ranking.FIGURE) == (2.0, 0.5, 0.5)
    assert (ranking.NAMES, ranking.NAMES_BESIDE_LITERALS, ranking.NAMES_OF_WORK) == (1.5, (3.2, 19.0), (9.0, 60.0))
    assert (contextual.MOST_ASIDES, contextual.MOST_PAIRS, contextual.MOST_ABSENT) == (64, 16, 3)


def test_rows_with_names_keep_their_relevance_beyond_the_limit() -> None:
    found = order(weights(t1=1.0, t9=3.0, t5=2.0), lineage.Places(BRANCH), lineage.Places(BRANCH), 1, literal={1, 7})
    assert set(found) == {9, 1}


def test_pairs_are_words_that_follow_each_other_without_those_that_only_join() -> None:
    assert pairs_of("When did we change the retry budget of the gateway?") == (
        ("chang", "retr"),
        ("retr", "budget"),
        ("budget", "gatewa"),
    )
    assert pairs_of("server servers") == ()
    assert pairs_of("修改数据库 retry") == ()
    assert len(pairs_of(" ".join(f"alpha{n}x beta{n}x" for n in range(40)))) == contextual.MOST_PAIRS


def terms(*found: str) -> Matched:
    return Matched(terms=found)


FOUR = Query(keywords=("a", "b", "c", "d"), terms=("a", "b", "c", "d"))


@pytest.mark.parametrize(
    ("matches", "query", "convinces"),
    [
        ([terms("a")], FOUR, False),
        ([terms("a"), terms("a")], FOUR, False),
        ([terms("a"), terms("b")], FOUR, True),
        ([terms("a"), terms("a", "b")], FOUR, True),
        ([terms("a")], Query(terms=("a", "b", "c")), True),
        ([terms("a")], Query(terms=("a",)), True),
        ([terms("a")], Query(identifiers=("n_x",), terms=("n_x", "a")), False),
        ([terms("a")], Query(phrases=("n x",), terms=("n x", "a")), False),
        ([terms("n_x")], Query(identifiers=("n_x",), terms=("n_x", "a")), True),
        ([Matched(identifiers=("n_x",))], Query(identifiers=("n_x",), terms=("n_x", "a", "b", "c", "d")), True),
        ([Matched(phrases=("n x",))], Query(phrases=("n x",), terms=("n x", "a", "b", "c", "d")), True),
        ([terms("a", "b")], Query(identifiers=("n_x",), terms=("n_x", "a", "b", "c")), True),
        ([], FOUR, False),
        ([terms("a")], Query(identifiers=("b.c",), guessed=("b.c",), terms=("a",)), True),
        ([terms("a")], Query(identifiers=("b.c", "n_x"), guessed=("b.c",), terms=("n_x", "a")), False),
        ([terms("a")], Query(identifiers=("b.c",), guessed=("b.c",), phrases=("n x",), terms=("n x", "a")), False),
        ([Matched(identifiers=("b.c",))], Query(identifiers=("b.c",), guessed=("b.c",)), True),
    ],
)
def test_a_single_topic_convinces_only_where_little_else_was_asked(
    matches: list[Matched], query: Query, convinces: bool
) -> None:
    assert contextual.convinces(matches, query) is convinces


_SCORES = st.sampled_from([0.5, 1.0, 1.0 / 3.0, 2.75]) | st.floats(0.001, 30)
_BRANCHES = ((1, 20),), ((1, 3), (10, 17)), ((10, 12), (2, 4)), ((5, 5),)


@settings(max_examples=300)
@given(
    st.dictionaries(st.integers(1, 20), st.tuples(_SCORES, st.integers(0, 2))),
    st.dictionaries(st.integers(21, 24), st.integers(0, 2)),
    st.dictionaries(st.integers(1, 24), _SCORES, max_size=6),
    st.sampled_from(_BRANCHES),
    st.sampled_from([((1, 24),), ((1, 2), (11, 12)), ()]),
    st.integers(1, 6),
    st.sets(st.integers(1, 24), max_size=4),
)
def test_arrays_give_the_same_rows_in_the_same_order_to_the_last_bit(
    held: dict[int, tuple[float, int]],
    more: dict[int, int],
    semantic: dict[int, float],
    spans: tuple[tuple[int, int], ...],
    eligible: tuple[tuple[int, int], ...],
    limit: int,
    literal: set[int],
) -> None:
    names: tuple[Role, ...] = ("user", "assistant", "tool_result")
    found = weights(**{f"{'uat'[role]}{row}": score for row, (score, role) in held.items()})
    others = [Weight(row=row, score=0.0, role=names[role]) for row, role in more.items()]
    branch, part = lineage.Places(spans), lineage.Places(eligible)
    singly = order_singly((*found, *others), branch, part, limit, semantic=semantic, literal=literal)
    arrays = _Arrays(numpy, found, others, semantic)
    assert list(order_arrays(arrays, branch, part, limit, literal=literal).items()) == list(singly.items())


def test_weights_are_read_singly_too() -> None:
    assert list(weights(u1=1.5, a3=2.0)) == [
        Weight(row=1, score=1.5, role="user"),
        Weight(row=3, score=2.0, role="assistant"),
    ]
    assert len(weights(u1=1.5)) == 1
    assert order(NO_WEIGHTS, lineage.Places(BRANCH), lineage.Places(BRANCH), 3) == {}


def test_without_numpy_rows_are_ordered_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    found = weights(u1=1.0, a2=3.0, t4=0.5)
    quick = ordered(found)
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert list(ordered(found).items()) == list(quick.items())


def test_what_is_left_of_a_request_without_a_topic_are_the_words_that_do_not_only_join_others() -> None:
    query = contextual.read_leftovers("How much progress have we made on the edits, and on the Edits?")
    assert query == Query(keywords=("progress", "made", "edits"), terms=("progress", "made", "edits"))
    assert contextual.read_leftovers("and of the").empty
    assert contextual.read_leftovers("").empty
    long = " ".join(f"word{place}" for place in range(2 * contextual.MOST_ASIDES))
    assert len(contextual.read_leftovers(long).terms) == contextual.MOST_ASIDES


@given(any_text)
def test_what_is_left_of_any_text_are_different_words_of_it(request_: str) -> None:
    left = contextual.read_leftovers(request_)
    assert len(set(left.terms)) == len(left.terms)
    assert left.identifiers == left.phrases == ()


@pytest.mark.parametrize(
    ("relevance", "stays"),
    [
        (Relevance(own=1.0, neighbours=0.0), True),
        (Relevance(own=0.0, neighbours=1.0), True),
        (Relevance(own=0.0, neighbours=0.0, semantic=1.0), True),
        (Relevance(own=0.0, neighbours=0.0), False),
        (None, False),
    ],
)
def test_without_the_match_rule_whatever_is_relevant_stays(relevance: Relevance | None, stays: bool) -> None:
    candidate = Candidate(entry=make_entry("nothing of it"), position=0, order=None, relevance=relevance)
    pairs = [(candidate, Matched())]
    assert ranking.rank(pairs, Query(), 1) == ()
    assert bool(ranking.rank(pairs, Query(), 1, admitting=True)) == stays


def test_without_the_match_rule_a_row_that_was_found_goes_before_one_beside_the_same_answer() -> None:
    found, other = (
        Candidate(
            entry=replace(make_entry(text), row=row, id=str(row)),
            position=row,
            order=None,
            relevance=Relevance(own=own, neighbours=near),
        )
        for text, row, own, near in (("the gateway", 1, 1.0, 3.0), ("nothing of it", 2, 0.0, 5.0))
    )
    pairs = [(other, Matched()), (found, Matched(terms=("gateway",)))]
    ranked = ranking.rank(pairs, Query(keywords=("gateway",), terms=("gateway",)), 3, admitting=True)
    assert [row.candidate.entry.row for row in ranked] == [1, 2]
    assert [row.score for row in ranked] == pytest.approx([40.0, 10.0 * ranking.ADMITTED * 5.0])


def test_where_vectors_were_asked_neighbours_count_in_full_without_the_match_rule() -> None:
    near, similar = (
        Candidate(entry=make_entry("nothing of it"), position=0, order=None, relevance=relevance)
        for relevance in (Relevance(own=0.0, neighbours=5.0), Relevance(own=0.0, neighbours=0.0, semantic=1.0))
    )
    ranked = ranking.rank([(near, Matched()), (similar, Matched())], Query(), 1, admitting=True)
    assert [row.score for row in ranked] == [50.0, 10.0]
