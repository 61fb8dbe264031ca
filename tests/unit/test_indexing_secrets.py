"""`indexing`: secrets are replaced before anything is stored."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from msgspec.structs import replace
from tests.fakes.entries import trees
from tests.fakes.store import FakeStore

from aforesaid.errors import PathMissing
from aforesaid.indexing import intake, sync_all
from aforesaid.indexing.stored import clear_stored
from aforesaid.language.secret_formats import VERSION
from aforesaid.model import Entry, Header, Session, Source

if TYPE_CHECKING:
    from pathlib import Path

    from aforesaid.ports import StorePort
from tests.unit.syncing import LINES, READER, append, file, run, store, write

__all__ = ["file", "store"]


SECRET = "hunt" + "er2-and&9-More"


def texts(store: StorePort, file: Path) -> list[str]:
    session = store.by_file(str(file))
    assert session is not None
    with store.read(session.key) as snapshot:
        return [entry.text for entry in snapshot.entries(range(1, session.entries + 1))]


def test_secrets_are_replaced_before_anything_is_stored(store: StorePort, file: Path) -> None:
    write(file, "#s\t", f"a\t-\tpassword={SECRET}\tsecond part", "b\ta\tnothing to hide")
    run(store, file)
    assert texts(store, file) == ["password=[redacted:password:16+]\nsecond part", "nothing to hide"]
    session = store.by_file(str(file))
    assert session is not None
    with store.read(session.key) as snapshot:
        first, second = snapshot.entries([1, 2])
    assert (first.redacted, second.redacted) == (1, 0)
    assert first.parts == (len("password=[redacted:password:16+]"), len("second part"))
    line = file.read_bytes().split(b"\n")[1]
    assert first.source.sha256 == hashlib.sha256(line).digest()


def test_what_is_kept_beside_the_text_is_redacted_too() -> None:
    entry = Entry(
        id="a",
        parent=None,
        kind="label",
        role="custom",
        timestamp=None,
        parts=(),
        source=Source(line=1, offset=0, length=1, sha256=bytes(32)),
        tools=("bash",),
        calls=("call_" + "0123456789abcdefABCDEF",),
        files=(f"/tmp/token={SECRET}",),
        label=f"the password is {SECRET}",
    )
    done = intake.clear(entry)
    assert done.label == "the password is [redacted:password:16+]"
    assert done.files == ("/tmp/token=[redacted:token:16+]",)
    assert (done.tools, done.calls, done.redacted) == (entry.tools, entry.calls, 0)
    clean = replace(entry, files=(), label="a name")
    assert intake.clear(clean) is clean


@pytest.mark.parametrize("first", [True, False])
def test_a_change_of_the_option_reads_the_session_anew(store: StorePort, file: Path, first: bool) -> None:
    write(file, "#s\t", f"a\t-\tpassword={SECRET}")
    run(store, file, redacting=first)
    assert (SECRET in texts(store, file)[0]) is not first
    assert run(store, file, redacting=first).status == "unchanged"
    assert run(store, file, redacting=not first).status == "rebuilt"
    assert (SECRET in texts(store, file)[0]) is first


def test_a_change_of_the_rules_reads_the_session_anew(
    store: StorePort, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(file, "#s\t", f"a\t-\tpassword={SECRET}")
    run(store, file)
    monkeypatch.setattr("aforesaid.indexing.VERSION", VERSION + 1)
    assert run(store, file).status == "rebuilt"
    assert run(store, file).status == "unchanged"


def test_what_is_appended_later_is_redacted_as_well(store: StorePort, file: Path) -> None:
    write(file, *LINES)
    run(store, file)
    append(file, f"d\tc\tsecret: {SECRET}x7Q")
    assert run(store, file).status == "updated"
    assert texts(store, file)[-1] == "secret: [redacted:secret:16+]"


def test_what_is_stored_of_a_vanished_transcript_is_searched_where_it_stands(store: StorePort, file: Path) -> None:
    lines = ("#s\t", "a\t-\tone\tpart two", f"b\ta\tpassword={SECRET}\tand more", "c\ta\tside", f"d\tb\t{SECRET[:3]}")
    write(file, *lines)
    run(store, file, redacting=False)
    before = store.by_file(str(file))
    assert before is not None
    with store.read(before.key) as snapshot:
        tree, raw = snapshot.tree(), snapshot.entries(range(1, 5))
    file.unlink()
    assert sync_all(store, [(READER, str(file))], redacting=False).sessions[0].error_code == PathMissing.code
    assert store.by_file(str(file)) == before
    assert sync_all(store, [(READER, str(file))]).sessions[0].error_code == PathMissing.code
    after = store.by_file(str(file))
    assert after is not None
    assert after.checkpoint.redaction == VERSION
    assert after.generation == before.generation + 1
    with store.read(after.key) as snapshot:
        assert snapshot.tree() == tree
        cleared = snapshot.entries(range(1, 5))
    assert [entry.text for entry in cleared] == [
        *("one\npart two", "password=[redacted:password:16+]\nand more", "side", SECRET[:3]),
    ]
    assert [entry.redacted for entry in cleared] == [0, 1, 0, 0]
    kept = {"text": "", "parts": (), "digest": b"", "tokens": 0, "redacted": 0}
    assert [replace(entry, **kept) for entry in cleared] == [replace(entry, **kept) for entry in raw]
    assert clear_stored(store, after, redacting=True) is after


@settings(max_examples=40, deadline=None)
@given(made=trees())
def test_clearing_what_is_stored_changes_nothing_else(made: tuple[Entry, ...]) -> None:
    store = FakeStore()
    with store.write("/f") as writer:
        writer.append(made)
        before = writer.commit(Session(key="", file="/f", header=Header(host="plain", session_id="s")))
    with store.read(before.key) as snapshot:
        tree = snapshot.tree()
        raw = snapshot.entries(range(1, before.entries + 1))
    after = clear_stored(store, before, redacting=True)
    with store.read(after.key) as snapshot:
        assert snapshot.tree() == tree
        cleared = snapshot.entries(range(1, after.entries + 1))
    assert [(entry.id, entry.kind, entry.source, entry.label) for entry in cleared] == [
        (entry.id, entry.kind, entry.source, entry.label) for entry in raw
    ]
    assert (after.name, after.requests, after.updated) == (before.name, before.requests, before.updated)
