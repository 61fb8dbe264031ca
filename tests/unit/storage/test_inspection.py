"""What a verification finds, and where: each kind of remains is planted by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest
from msgspec.structs import replace
from tests.fakes.entries import chain, described, entry

from aforesaid.errors import StoreCorrupt, StoreError
from aforesaid.storage.sqlite import inspection, open_store
from aforesaid.storage.sqlite.inspection import inspect
from aforesaid.storage.sqlite.records import squeeze
from aforesaid.storage.sqlite.store import key_of
from aforesaid.tombstones import KEY_BYTES, Burial, Marker, made_of

if TYPE_CHECKING:
    from pathlib import Path

    from aforesaid.reports import Verification
    from aforesaid.tombstones import Tombstones

LONG = "zqcanary " + " ".join(f"unusual{n * n}" for n in range(80))
FILE = "/sessions/a.jsonl"
NAME = f"sessions/{key_of(FILE)}.db"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    store = open_store(str(tmp_path))
    with store.write(FILE) as writer:
        writer.append([*chain("alpha one", "beta two"), entry("l", "e2", label="a name", kind="label")])
        writer.commit(described(FILE))
    store.close()
    return tmp_path


def look(folder: Path, text: str | None = None, *samples: str, tombstones: Tombstones | None = None) -> Verification:
    return inspect(str(folder), tombstones, text=text, samples=samples, timeout_ms=100)


def found(*arguments: object, **named: object) -> dict[tuple[str, str], int]:
    checked = look(*arguments, **named)  # type: ignore[arg-type]
    return {(left.file, left.where): left.count for left in checked.leftovers}


def shard(folder: Path) -> apsw.Connection:
    return apsw.Connection(str(folder / NAME))


def test_a_clean_store_is_clean_and_everything_in_it_was_read(folder: Path) -> None:
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    checked = look(folder, "zqcanary", LONG)
    assert checked == replace(
        checked, files=len(sizes), bytes=sum(sizes), databases=2, free_pages=0, leftovers=(), texts=3
    )
    assert checked.terms == 4
    assert checked.values > 10


@pytest.mark.parametrize(
    ("text", "where"),
    [("ALPHA", {"entry"}), ("alpha one", {"entry", "entry.text", "bytes"}), ("a name", {"entry", "entry.extra"})],
)
def test_words_of_an_entry_are_found(folder: Path, text: str, where: set[str]) -> None:
    assert where <= {place for file, place in found(folder, text) if file == NAME}


@pytest.mark.parametrize("word", ["classifi", "classification", "incarnation", "CREATE TABLE entry"])
def test_words_of_the_schema_are_no_remains_in_the_bytes_of_a_database(folder: Path, word: str) -> None:
    schema = "".join(sql for (sql,) in shard(folder).execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"))
    catalogue = (folder / "catalogue.db").read_bytes()
    assert word in schema or word.encode() in catalogue
    assert look(folder, None, word).leftovers == ()
    assert found(folder, word) == {}
    (folder / "a.log").write_text(f"a {word}")
    assert found(folder, word) == {("a.log", "bytes"): 1}


def test_words_of_the_schema_are_found_in_a_table(folder: Path) -> None:
    database = shard(folder)
    database.execute("CREATE TABLE noise(a)")
    database.execute("INSERT INTO noise VALUES ('the classification')")
    database.close()
    assert found(folder, "classification") == {(NAME, "noise.a"): 1}


def test_an_entry_that_a_mark_covers_must_not_say_anything(folder: Path) -> None:
    marker = Marker(b"k" * KEY_BYTES)
    tombstones = made_of(marker, Burial(marks=frozenset({marker.words(entry("x", None, "beta two"))})))
    assert found(folder, tombstones=tombstones) == {(NAME, "entry"): 1}


def test_every_row_is_looked_at(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspection, "_ROWS", 1)
    for text in ("alpha", "beta", "a name"):
        assert found(folder, text)[NAME, "entry"] == 1


@pytest.mark.parametrize("sample", ["eight by", "nine bytes", "x" * 200, LONG])
def test_entries_of_any_length_are_looked_for_as_bytes(folder: Path, sample: str) -> None:
    (folder / "a.log").write_text(f"before {sample} after")
    assert found(folder, None, sample)["a.log", "bytes"] >= 1
    assert found(folder, None, sample[:7]) == {}


def test_paths_and_names_of_a_session_are_found(folder: Path) -> None:
    assert (NAME, "session") in found(folder, "a.jsonl")
    assert ("catalogue.db", "session.record") in found(folder, "/sessions/a")


def test_any_table_is_read_and_what_is_packed_is_unpacked(folder: Path) -> None:
    database = shard(folder)
    database.execute('CREATE TABLE "odd ""name"(a, b); CREATE TABLE plain(c)')
    database.execute('INSERT INTO "odd ""name" VALUES (?, 1)', (squeeze(LONG.encode()),))
    database.execute("INSERT INTO plain VALUES (?), (NULL), (7)", ("told zqcanary",))
    database.close()
    left = found(folder, "zqcanary")
    assert left[NAME, 'odd "name.a'] == 1
    assert left[NAME, "plain.c"] == 1


def test_an_index_must_know_no_word_that_no_text_has(folder: Path) -> None:
    database = shard(folder)
    database.execute("INSERT INTO search(rowid, body, parts) VALUES (99, 'zqcanary alpha', '')")
    database.close()
    assert found(folder) == {(NAME, "index"): 1}


def test_remains_in_free_pages_are_found_as_bytes_even_where_they_are_packed(folder: Path) -> None:
    database = shard(folder)
    database.pragma("secure_delete", "OFF")
    database.execute("CREATE TABLE gone(a)")
    rows = [(squeeze(f"{n} {LONG}".encode()),) for n in range(300)]
    database.executemany("INSERT INTO gone VALUES (?)", rows)
    database.execute("DROP TABLE gone")
    assert database.pragma("freelist_count")
    database.close()
    assert set(found(folder, "zqcanary", f"150 {LONG}")) == {(NAME, "bytes")}
    assert look(folder).free_pages > 0


def test_remains_in_a_log_are_found(folder: Path) -> None:
    store = open_store(str(folder))
    with store.write(FILE) as writer:
        writer.append([entry("e3", "e2", "the zqcanary sings")])
        writer.commit(described(FILE))
        assert (f"{NAME}-wal", "bytes") in found(folder, "zqcanary")
    store.close()


def test_what_another_entry_rightly_says_is_no_remains(folder: Path) -> None:
    store = open_store(str(folder))
    with store.write(FILE) as writer:
        writer.append([entry("e3", "e2", f"quoted: {LONG}"), entry("e4", "e3", LONG)])
        writer.commit(described(FILE))
    store.close()
    assert found(folder, None, LONG, "alpha one", "beta two") == {}
    assert look(folder, None, LONG, "alpha one").texts == 0


@pytest.mark.parametrize(("text", "where"), [("zq", False), ("zqca", False), ("zqcan", True), ("é é", True)])
def test_short_texts_are_looked_for_in_every_file_but_not_in_the_binary_parts(
    folder: Path, text: str, where: bool
) -> None:
    (folder / "a.log").write_bytes(text.encode())
    database = shard(folder)
    database.execute("CREATE TABLE noise(a)")
    database.execute("INSERT INTO noise VALUES (?)", (b"\x00\xff" + text.encode() + b"\xfe",))
    database.close()
    left = found(folder, text)
    assert left["a.log", "bytes"] == 1
    assert ((NAME, "bytes") in left) is where
    assert ((NAME, "noise.a") in left) is where


def test_a_text_is_found_as_json_writes_it_and_across_blocks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspection, "_BLOCK", 7)
    text = 'più "vero"\n'
    (folder / "ascii.json").write_text('{"a":"xxxxpi\\u00f9 \\"vero\\"\\nx"}')
    (folder / "raw.json").write_bytes('{"a":"più \\"vero\\"\\nx"}'.encode())
    (folder / "text").write_bytes(f"xxx{text}".encode())
    (folder / "other").write_bytes(b"nothing of it")
    assert found(folder, text) == {(name, "bytes"): 1 for name in ("ascii.json", "raw.json", "text")}


def test_a_file_that_goes_away_meanwhile_is_no_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = inspection._files
    gone = [str(folder / "gone.db"), str(folder / "gone.log")]
    monkeypatch.setattr(inspection, "_files", lambda path: [*real(path), *gone])
    monkeypatch.setattr(inspection, "_is_database", lambda path: path.endswith(".db"))
    assert look(folder).leftovers == ()


def test_what_cannot_be_read_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytearray((folder / NAME).read_bytes())
    data[100:9000] = b"\xff" * 8900
    (folder / NAME).write_bytes(data)
    with pytest.raises(StoreCorrupt):
        look(folder)
    (folder / NAME).unlink()

    def refuse(*_: object) -> None:
        raise apsw.BusyError("locked")

    monkeypatch.setattr(inspection, "_read_tables", refuse)
    with pytest.raises(StoreError, match="locked"):
        look(folder)


def test_a_file_that_may_not_be_read_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins

    real = builtins.open

    def refuse(path: object, *more: object, **named: object) -> object:
        if str(path).endswith("a.log"):
            raise PermissionError(13, "no")
        return real(path, *more, **named)  # type: ignore[call-overload]

    (folder / "a.log").write_text("x")
    monkeypatch.setattr(builtins, "open", refuse)
    with pytest.raises(StoreError, match=r"a\.log"):
        look(folder)
    monkeypatch.setattr(inspection, "_is_database", lambda _: False)
    with pytest.raises(StoreError, match=r"a\.log"):
        look(folder)
