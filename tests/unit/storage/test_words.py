"""The file with the index of words: what its contract tests over whole stores do not reach."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aforesaid.errors import StoreTooNew
from aforesaid.inquiry import Clue
from aforesaid.storage.sqlite import annex, words
from aforesaid.storage.sqlite.words import WordIndex

WALNUT = ((Clue(kind="is", token="walnut"),),)


def make(folder: Path, *, writable: bool = True) -> WordIndex:
    return WordIndex(str(folder / "words.db"), str(folder / "lock"), writable=writable, timeout_ms=1000)


def learn(index: WordIndex, key: str, *found: str) -> None:
    index.learn(key, lambda: (b"i", 1, found, True))


def holding(token: str) -> Clue:
    return Clue(kind="holds", token=token)


def test_the_words_of_a_session_are_told_only_as_it_is_known(tmp_path: Path) -> None:
    index = make(tmp_path)
    learn(index, "a", "walnut", "chestnut", "oak")
    index.learn("cut", lambda: (b"i", 1, ["nux" * 2000], True))
    index.learn("older", lambda: (b"i", 1, None, False))
    assert index.fitting("a", b"i", 1, holding("nut")) is not None
    assert set(index.fitting("a", b"i", 1, holding("tnut")) or ()) == {"chestnut"}
    assert index.fitting("a", b"i", 1, Clue(kind="ends", token="oak")) == ("oak",)
    assert index.fitting("a", b"i", 1, holding("birch")) == ()
    for key, incarnation, generation in (("b", b"i", 1), ("a", b"j", 1), ("a", b"i", 2), ("cut", b"i", 1)):
        assert index.fitting(key, incarnation, generation, holding("nut")) is None
    assert index.fitting("older", b"i", 1, holding("nut")) is None
    assert {key: (state.long, state.fed) for key, state in index.known().items()} == {
        "a": (False, True), "cut": (True, True), "older": (True, False),
    }  # fmt: skip
    index.close()


@pytest.mark.parametrize("listed", [words.LISTED, 20, 0])
def test_a_list_that_grows_is_read_on_and_one_that_is_too_large_is_read_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: int
) -> None:
    monkeypatch.setattr(words, "LISTED", listed)
    monkeypatch.setattr(words, "_BLOCKS", 3)
    monkeypatch.setattr(words, "ENOUGH", 0)
    index, other = make(tmp_path), make(tmp_path)
    for number in range(12):
        learn(other if number % 3 else index, f"k{number}", f"x{number}walnut", f"oak{number}")
        assert index.find(((holding("wal"),),)) == frozenset(range(1, number + 2))
        if number % 2:
            assert index.find(((Clue(kind="ends", token="nut"),),)) == frozenset(range(1, number + 2))
        assert index.find(((holding(f"x{number}w"),),)) == frozenset({number + 1})
        assert len(index._blocks) <= 3
    other.close()
    index.close()


def test_what_another_process_discarded_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "ENOUGH", 0)
    index, other = make(tmp_path), make(tmp_path)
    learn(index, "a", "walnut")
    assert index.find(((holding("alnu"),),)) == frozenset({1})
    for refused in (False, True):
        with monkeypatch.context() as held:
            if refused:  # as on Windows, where the file is emptied and stays the same
                held.setattr(annex, "remove_database", lambda _: (_ for _ in ()).throw(PermissionError))
            other.discard()
        learn(other, "b", "oak", "chestnut")
        assert index.find(((holding("alnu"),),)) == frozenset()
        assert index.fitting("a", b"i", 1, holding("alnu")) is None
        assert index.fitting("b", b"i", 1, holding("tnu")) == ("chestnut",)
        learn(index, "a", "walnut", "oak")
        assert index.find(((holding("alnu"),),)) == frozenset({2})
        assert index.find(((holding("oak"),),)) == frozenset({1, 2})
    other.close()
    index.close()


def test_few_sessions_are_not_narrowed_down_by_looking_through_the_list(tmp_path: Path) -> None:
    index = make(tmp_path)
    for number in range(words.ENOUGH + 1):
        learn(index, f"k{number}", "oak", "sevenfold" if number else "walnut")
    clues = (holding("alnu"), Clue(kind="begins", token="seven"))
    assert len(index.find((clues,)) or ()) == words.ENOUGH
    assert index._blocks == []
    assert index.find(((holding("alnu"), Clue(kind="is", token="oak")),)) == frozenset({1})
    index.close()


def test_an_index_of_an_older_version_says_nothing_where_it_cannot_be_written(tmp_path: Path) -> None:
    index = make(tmp_path)
    learn(index, "a", "walnut")
    database = index._annex.open()
    assert database is not None
    database.connection.pragma("user_version", 1)
    index.close()
    frozen = make(tmp_path, writable=False)
    assert frozen.find(WALNUT) is None
    frozen.close()
    again = make(tmp_path)
    assert again.known() == {}
    again.close()


def test_what_cannot_be_written_is_read_as_it_is(tmp_path: Path) -> None:
    index = make(tmp_path)
    learn(index, "a", "walnut")
    index.close()
    frozen = make(tmp_path, writable=False)
    learn(frozen, "b", "walnut")
    assert list(frozen.known()) == ["a"]
    assert frozen.find(WALNUT) == frozenset({frozen.known()["a"].number})
    frozen.discard()
    frozen.close()
    assert make(tmp_path, writable=False).known()


def test_what_is_not_there_or_damaged_and_cannot_be_written_says_nothing(tmp_path: Path) -> None:
    assert make(tmp_path, writable=False).find(WALNUT) is None
    (tmp_path / "words.db").write_bytes(b"no database" * 1000)
    frozen = make(tmp_path, writable=False)
    assert frozen.find(WALNUT) is None
    assert frozen.known() == {}


def test_a_file_that_the_system_does_not_let_go_is_emptied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = make(tmp_path)
    learn(index, "a", "unforgettable")

    def refuse(_: str) -> None:
        raise PermissionError

    with monkeypatch.context() as held:
        held.setattr(annex, "remove_database", refuse)
        index.discard()
    assert index.known() == {}
    index.close()
    assert b"unforgettable" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())
    learn(index, "a", "walnut")
    assert len(index.find(WALNUT) or ()) == 1
    index.close()


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    index = make(tmp_path)
    learn(index, "a", "walnut")

    def fail() -> tuple[bytes, int, tuple[str, ...] | None, bool]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.learn("a", fail)
    assert len(index.find(WALNUT) or ()) == 1
    index.close()


def test_a_newer_programs_file_is_not_touched(tmp_path: Path) -> None:
    index = make(tmp_path)
    learn(index, "a", "walnut")
    database = index._annex.open()
    assert database is not None
    database.connection.pragma("user_version", 99)
    index.close()
    with pytest.raises(StoreTooNew):
        make(tmp_path).known()


def test_a_clue_that_many_words_fit_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "MOST_WORDS", 3)
    index = make(tmp_path)
    for number in range(3):
        learn(index, f"k{number}", f"walnut{number}")
    holds = Clue(kind="holds", token="wal")
    assert index.find(((holds,),)) == frozenset({1, 2, 3})
    learn(index, "k3", "walnut3")
    assert index.find(((holds,),)) is None
    one = Clue(kind="is", token="walnut1")
    assert index.find(((holds, one),)) == frozenset({2})
    short = Clue(kind="begins", token="w")
    assert index.find(((short,),)) is None
    index.close()


@settings(max_examples=60)
@given(
    st.lists(st.text(alphabet="ab数据é9", min_size=1, max_size=5), min_size=1, max_size=12, unique=True),
    st.text(alphabet="ab数据é9", min_size=1, max_size=3),
)
def test_the_list_of_words_answers_as_the_table_does(found: list[str], token: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        index = make(Path(folder))
        for number, word in enumerate(found):
            learn(index, f"k{number}", word)
        tests = {"ends": str.endswith, "holds": str.__contains__}
        for kind, fits in tests.items():
            expected = {number for number, word in enumerate(found, 1) if fits(word, token)}
            clue = Clue(kind=kind, token=token)  # type: ignore[arg-type]
            for _ in range(3):
                assert index.find(((clue,),)) == frozenset(expected)
        learn(index, "more", token)
        assert len(found) + 1 in (index.find(((Clue(kind="ends", token=token),),)) or ())
        other = make(Path(folder))
        learn(other, "yet", f"x{token}")
        assert len(found) + 2 in (index.find(((Clue(kind="ends", token=token),),)) or ())
        other.close()
        index.close()
