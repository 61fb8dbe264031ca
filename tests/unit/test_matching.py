"""Literals and terms: what is found, where, and what is not."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.words import any_text

from aforesaid import text
from aforesaid.matching import MOST_PLACES, Folded, Inflected, Literal, Probe, Term


def literal(needle: str, given_text: str) -> list[str]:
    return [given_text[start:end] for start, end in Literal(needle).places(given_text)]


def term(wanted: str, given_text: str) -> list[str]:
    return [given_text[start:end] for start, end in Term(wanted).places(Folded(given_text))]


@pytest.mark.parametrize(
    ("needle", "given_text", "count"),
    [
        ("foo", "foo foobar xfoo foo_bar _foo foo1 foo-bar foo.py x/foo (foo)", 5),
        ("foo", "Foo FOO", 0),
        ("parse_port", "my_parse_port parse_port2 parse_port()", 1),
        ("--dry", "--dry-run x--dry ---dry --dry=1", 1),
        ("-v", "--v -vv a-v -v", 1),
        ("src/app.py", "src/app.pyc /home/src/app.py lib_src/app.py", 1),
        ("città", "cittàs città", 1),
        ("cafe", "cafe\u0301 cafe", 1),
        ("修复", "已经修复完成，修复", 2),
        ("itgc", "gen-itgc后 后itgc itgcx", 2),
        ("->", "a->b => c -> d", 2),
        (".env", ".env x.env .envrc", 2),
        ("a b", "a b a  b a\nb", 1),
    ],
)
def test_literals_are_found_as_whole_names_only(needle: str, given_text: str, count: int) -> None:
    assert literal(needle, given_text) == [needle] * count


@pytest.mark.parametrize(
    ("wanted", "given_text", "found"),
    [
        ("user", "getUserById username user_id User", ["User", "user", "User"]),
        ("schermate", "Le SCHERMATE e la schermata", ["SCHERMATE"]),
        ("perche", "Perché perche\u0301", ["Perché", "perche\u0301"]),
        ("Perché", "perche", ["perche"]),
        ("strasse", "Straße", ["Straße"]),
        ("DEC-0054", "dec 0054, DEC-00541 dec-0054x", ["dec 0054"]),
        ("connection refused", "Connection\n  refused; connection was refused", ["Connection\n  refused"]),
        ("配置", "修复配置文件", ["配置"]),
        ("数据", "数据库 据数", ["数据"]),
        ("server", "서버server에서", ["server"]),
        ("port", "report ports port8 port", ["port"]),
        ("html", "HTMLParser innerHTML htmlx", ["HTML", "HTML"]),
        ("🎉", "🎉", []),
        ("", "anything", []),
    ],
)
def test_terms_are_found_folded_and_as_whole_words_or_parts_of_names(
    wanted: str, given_text: str, found: list[str]
) -> None:
    assert term(wanted, given_text) == found


def test_a_prefix_inside_a_larger_word_earns_no_match() -> None:
    assert Probe((), (), ("config",)).matched("configuration reconfig")[2] == ()


def test_latin_accents_are_folded_in_match_accounting_too() -> None:
    assert Probe((), (), ("priorita",)).matched("La PRIORITÀ è alta")[2] == ("priorita",)


def test_a_probe_lists_what_holds_in_the_order_of_the_query() -> None:
    probe = Probe(("E0308", "missing"), ("not found",), ("found", "e0308", "absent"))
    assert probe.matched("rustc: E0308 not found") == (("E0308",), ("not found",), ("found", "e0308"))
    assert probe.places("E0308 not found") == ((0, 5, 0), (0, 5, 4), (6, 15, 2), (10, 15, 3))


@given(any_text, any_text, any_text)
def test_a_needle_between_blanks_is_always_found(before: str, needle: str, after: str) -> None:
    if not needle.strip():
        return
    given_text = f"{before} {needle} {after}"
    places = list(Literal(needle).places(given_text))
    # A flag is not found behind another dash or word, and a needle of blanks could stand elsewhere.
    if needle == needle.strip() and text.compose(f" {needle}")[1] is None:
        assert (len(before) + 1, len(before) + 1 + len(needle)) in places or any(
            start < len(before) + 1 + len(needle) and end > len(before) + 1 for start, end in places
        )


@given(any_text, any_text)
def test_places_lie_in_the_text_and_do_not_overlap(wanted: str, given_text: str) -> None:
    spans = list(Term(wanted).places(Folded(given_text)))
    if wanted:
        spans_of_literal = list(Literal(wanted).places(given_text))
        assert all(given_text[start:end] == wanted for start, end in spans_of_literal)
    for (_, end), (start, _) in pairwise(spans):
        assert end <= start
    assert all(0 <= start < end <= len(given_text) for start, end in spans)


@given(any_text)
def test_a_text_holds_itself_as_a_term_if_it_has_a_word(given_text: str) -> None:
    assert Term(given_text).found_in(Folded(given_text)) == bool(text.words(given_text))


def test_of_very_many_occurrences_the_first_are_looked_at() -> None:
    places = Probe(("step",), (), ("error",)).places("ERROR at step\n" * 10_000)
    assert len(places) == 2 * MOST_PLACES


def test_a_flag_begins_after_anything_but_a_dash_or_a_word() -> None:
    flag = Literal("--dry")
    assert flag.found_in("run --dry")
    assert flag.found_in("[--dry]")
    assert not flag.found_in("run ---dry")
    assert not flag.found_in("x--dry")


def test_needles_of_loose_jamo_are_scanned_for_because_the_index_holds_them_composed() -> None:
    assert Literal("\u1112\u1161\u11ab").tokens == ()
    assert Literal("x\u1161").tokens == ()
    assert Literal("한글").tokens != ()
    assert Literal("plain").tokens == ("plain",)


# --- what is seen at a glance is what is found by looking -----------------------------------------------------------

NAMED = ("port", "src/app.py", "parse_port", "getUserById", "città", "数据库 port", "a-b", "Port Port")
FORMS = ("ports", "porting", "Ports", "portS", "xports", "ports_", "port", "porté", "portata", "ports1", "порты")


@given(any_text, any_text | st.sampled_from(NAMED))
@example("é port-Forward/x", "port-forward/x")
@example("é portForward", "port")
@example("é xport/forward port/forwards", "port/forward")
@example("é port\u0301 xx", "port xx")
@example("数据库端口", "数据库 端口")
def test_a_term_is_found_where_it_has_a_place(given_text: str, item: str) -> None:
    for text_ in (given_text, item + given_text, f"é {given_text} {item}{given_text} {item.upper()}", item):
        found = next(Term(item).places(Folded(text_)), None) is not None
        assert Term(item).found_in(Folded(text_)) == found
        assert Probe((), (), (item,)).matched(text_)[2] == ((item,) if found else ())


@given(any_text, st.lists(st.sampled_from(FORMS)), st.sampled_from(["port", "порт", "portat"]))
@example("é", ["portS"], "port")
@example("é", ["xports", "ports1"], "port")
@example("\u0301", ["ports"], "port")
def test_a_form_is_found_where_it_has_a_place(given_text: str, forms: list[str], root: str) -> None:
    endings = frozenset({"s", "ing", "ы", "a"})
    for text_ in (" ".join((given_text, *forms)), given_text.join(("é ", *forms)), "_".join(forms) + "é"):
        term = Inflected(root, root, endings)
        found = next(term.places(Folded(text_)), None) is not None
        assert term.found_in(Folded(text_)) == found
        asked = Probe((), (), (root,), {root: root}, lambda _: endings)
        assert asked.matched(text_)[2] == ((root,) if found else ())


@given(any_text, any_text.filter(bool) | st.sampled_from(NAMED))
@example("x", "a_b")
@example("\u00adc", "a_b")
@example("--x", "--port")
@example("-", "port")
def test_a_literal_is_found_where_it_has_a_place(given_text: str, item: str) -> None:
    for text_ in (given_text, given_text + item, item + given_text, f"{given_text} {item}{given_text}"):
        assert Literal(item).found_in(text_) == (next(Literal(item).places(text_), None) is not None)
