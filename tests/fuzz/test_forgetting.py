"""Whatever is forgotten of whatever session: no byte of the store holds it, and no rebuild brings it back."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.entries import chain, described, entry, trees
from tests.words import any_text

from aforesaid.forgetting import Selector, forget
from aforesaid.storage.sqlite import open_store
from aforesaid.text import normalise
from aforesaid.tombstones import Contained, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.model import Entry
    from aforesaid.ports import StorePort

FILE = "/s"
NOW = "2027-01-01T00:00:00.000Z"


def put(store: StorePort, entries: Sequence[Entry]) -> None:
    with store.write(FILE) as writer:
        writer.clear()
        writer.append(entries)
        writer.commit(described(FILE))


def told(store: StorePort) -> list[str]:
    session = store.by_file(FILE)
    assert session is not None
    with store.read(session.key) as snapshot:
        return [words_of(found) for found in snapshot.entries(range(1, session.entries + 1))]


@given(
    around=st.lists(any_text, max_size=6),
    before=any_text,
    text=st.text(alphabet=st.characters(min_codepoint=0x21), min_size=1, max_size=30) | any_text,
    after=any_text,
    long=st.booleans(),
)
@settings(max_examples=60)
def test_a_text_is_gone_and_stays_out(around: list[str], before: str, text: str, after: str, long: bool) -> None:
    if not normalise(text):
        return
    said = f"{before}{text}{after}" + " walnut filler" * (60 if long else 0)
    entries = [*chain(*around), entry("x", None, said, line=90), entry("y", "x", label=text, kind="label", line=91)]
    wanted = Contained(text)
    folder = tempfile.mkdtemp()
    store = open_store(folder)
    try:
        put(store, entries)
        report = forget(store, Selector(text=text), now=NOW, verify=True)
        assert report.verification is not None
        # The path and the id of a session are no entries; a text may stand there by chance.
        assert {left.where for left in report.verification.leftovers} <= {"session"}
        for _ in range(2):
            left = told(store)
            assert not any(map(wanted.found_in, left))
            assert [words for words in left if words] == [
                words for words in map(words_of, entries) if words and not wanted.found_in(words)
            ]
            put(store, entries)
        store.close()
        data = text.encode("utf-8", "surrogatepass")
        if len(data) >= 5:
            assert not any(data in path.read_bytes() for path in Path(folder).rglob("*") if path.is_file())
    finally:
        store.close()
        shutil.rmtree(folder)


@given(tree=trees(), chosen=st.data())
@settings(max_examples=40)
def test_entries_lose_their_words_and_nothing_else_changes(tree: tuple[Entry, ...], chosen: st.DataObject) -> None:
    if not tree:
        return
    ids = chosen.draw(st.lists(st.sampled_from([found.id for found in tree]), unique=True, min_size=1))
    folder = tempfile.mkdtemp()
    store = open_store(folder)
    try:
        put(store, tree)
        session = store.by_file(FILE)
        assert session is not None
        with store.read(session.key) as snapshot:
            shape, rows = snapshot.tree(), snapshot.rows([found.id for found in tree])
        report = forget(store, Selector(sessions=(session,), entries=tuple(ids)), now=NOW, verify=True)
        assert report.verification is not None
        assert report.verification.leftovers == ()
        with store.read(session.key) as snapshot:
            assert (snapshot.tree(), snapshot.rows([found.id for found in tree])) == (shape, rows)
            for found, before in zip(snapshot.entries([row for row in rows if row is not None]), tree, strict=True):
                assert words_of(found) in {words_of(before), ""}
                assert words_of(found) == "" or found.id not in ids
                assert found.timestamp == before.timestamp
    finally:
        store.close()
        shutil.rmtree(folder)
