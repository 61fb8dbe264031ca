"""Searches of many sessions against a brute-force scan: what the index of words rules out holds no match.

Texts are hard on tokenizers, needles are cut from them anywhere: within words, between scripts, through marks that melt
with what stands before them, of punctuation alone.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import pi
from tests.words import any_text

from aforesaid import Engine
from aforesaid.engine import recalling, upkeep
from aforesaid.patterns import read_pattern
from aforesaid.recall import scopes
from aforesaid.storage.sqlite import words

if TYPE_CHECKING:
    from collections.abc import Sequence

PLAIN = {"privacy.redactIndex": False, "privacy.redactSecrets": False}
said = any_text.filter(lambda text: bool(text.strip()))
sessions = st.lists(st.lists(said, min_size=1, max_size=4), min_size=2, max_size=5)


def write(folder: Path, number: int, texts: Sequence[str]) -> None:
    rows = pi.conversation(texts, first_minute=20 * number, prefix=f"{number:x}")
    pi.write(folder / f"s{number}.jsonl", [pi.header(f"{number:08}-2222-7333-8444-555555555555"), *rows])


def find_all(engine: Engine, query: str, mode: Any, match: Any, limit: int) -> list[str]:
    found: list[str] = []
    cursor = None
    while True:
        page = engine.recall(query, scope="host-wide", mode=mode, match=match, limit=limit, cursor=cursor)
        assert not set(page.coverage.reasons) - {"sessions-not-opened"}
        assert page.coverage.complete == (not page.coverage.reasons)
        found += [hit.entry_id for hit in page.hits]
        cursor = page.next
        if cursor is None:
            assert page.coverage.complete
            return found
        # What is learned between two pages makes no cursor stale.
        engine._store.learn_words(engine._store.sessions())


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asks the index of words about the smallest store, and puts it to its limits."""
    monkeypatch.setattr(recalling, "FEW", 0)
    monkeypatch.setattr(words, "ENOUGH", 0)


@settings(max_examples=150)
@given(st.data(), sessions, st.sampled_from(["literal", "phrase"]), st.sampled_from(["all", "any"]), st.integers(1, 5))
def test_whatever_is_searched_in_many_sessions_everything_that_holds_it_is_found(
    data: st.DataObject, made: list[list[str]], mode: str, match: str, limit: int
) -> None:
    needles: list[str] = []
    for _ in range(data.draw(st.integers(1, 2))):
        text = data.draw(st.sampled_from([text for texts in made for text in texts]))
        start = data.draw(st.integers(0, len(text) - 1))
        needles.append(text[start : data.draw(st.integers(start + 1, len(text)))])
    query = " ".join(needles)
    together = data.draw(st.sampled_from([1, 2, 48]))
    unlearned = data.draw(st.booleans())
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(scopes, "SESSIONS", together)
        patch.setattr(upkeep, "FEW", 0)
        source = Path(folder) / "source"
        source.mkdir()
        with Engine.open(Path(folder) / "store", settings=PLAIN) as engine:
            for number, texts in enumerate(made):
                write(source, number, texts[:-1] if unlearned and number == 0 and len(texts) > 1 else texts)
            engine.index(source)
            if unlearned:
                # The index of words is behind, and there is no time to bring it up to date.
                write(source, 0, made[0])
                patch.setattr(upkeep, "FEW", 99)
                patch.setattr(recalling, "LEARNING", -1.0)
                engine.index(source)
            found = find_all(engine, query, mode, match, limit)
            again = find_all(engine, query, mode, match, 200)
    pattern = read_pattern(query, mode, match)  # type: ignore[arg-type]
    expected = {
        f"{number:x}{place:07}"
        for number, texts in enumerate(made)
        for place, text in enumerate(texts)
        if pattern is None or pattern.matched(text)
    }
    assert len(found) == len(set(found))
    assert set(found) == expected
    assert set(again) == expected


NEEDLES = (
    "zanzibarRegistry_4711", "barReg", "Registry_47", "registry_4711", "据库", "库",
    "数据库的", "ｶﾞ", "ｶ", "\u3099", "か", "e\u0301", "e", "->", "\ud800", "x\ud800", "ทดสอบ", "สอ", "\u1112\u1161",
    "\u1161\u11ab", "İst", "👩\u200d👩", "\u200d", "לו", "ﬁ", "fi", "nowhere",
)  # fmt: skip


def test_needles_of_every_kind(tmp_path: Path) -> None:
    texts = (
        "the zanzibarRegistry_4711 is", "数据库的端口", "ｶﾞｷﾞ", "か\u3099", "perche\u0301 no", "done -> ok", "x\ud800y",
        "การทดสอบ", "\u1112\u1161\u11ab글", "İstanbul", "👩\u200d👩\u200d👧", "שָׁלוֹם", "ﬁx",
    )  # fmt: skip
    (tmp_path / "source").mkdir()
    for number, text in enumerate(texts):
        write(tmp_path / "source", number, [text])
    hits = 0
    with Engine.open(tmp_path / "store", settings=PLAIN) as engine:
        engine.index(tmp_path / "source")
        for needle in NEEDLES * 2:
            found = find_all(engine, needle, "phrase", "all", 6)
            expected = {number for number, text in enumerate(texts) if needle in text}
            assert {int(id_[0], 16) for id_ in found} == expected, needle
            hits += len(found)
    assert hits > len(NEEDLES)


SECRETS = ("ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "DB_PASSWORD=correcthorse-77", "Bearer abcDEF123456ghiJKL789")


@settings(max_examples=25)
@given(st.data(), sessions, st.booleans())
def test_where_secrets_are_replaced_who_asks_for_one_learns_it_and_other_text_stays_authoritative(
    data: st.DataObject, made: list[list[str]], asks_for_it: bool
) -> None:
    secret = data.draw(st.sampled_from(SECRETS))
    places = [(number, place) for number, texts in enumerate(made) for place in range(len(texts))]
    hidden = data.draw(st.sampled_from(places))
    made[hidden[0]][hidden[1]] = f"Authorization: {secret}"
    places.remove(hidden)
    query = secret
    if not asks_for_it and places:
        number, place = data.draw(st.sampled_from(places))
        text = made[number][place]
        start = data.draw(st.integers(0, len(text) - 1))
        query = text[start : data.draw(st.integers(start + 1, len(text)))]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        source.mkdir()
        with Engine.open(Path(folder) / "store") as engine:
            for number, texts in enumerate(made):
                write(source, number, texts)
            engine.index(source)
            page = engine.recall(query, scope="host-wide", limit=200)
    assert page.next is None
    assert "redacted" in page.coverage.reasons
    found = {hit.entry_id for hit in page.hits}
    if query == secret:
        assert (found, page.coverage.complete) == (set(), False)
        return
    pattern = read_pattern(query, "literal", "all")
    expected = {
        f"{number:x}{place:07}" for number, place in places if pattern is None or pattern.matched(made[number][place])
    }
    assert found - {f"{hidden[0]:x}{hidden[1]:07}"} == expected
    assert page.coverage.complete or "redacted-query" in page.coverage.reasons
