"""Scopes of many sessions against an oracle: a made-up host with forks, clones, rewrites and deletions."""

from __future__ import annotations

import json
import os
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from tests import pi

from aforesaid import Caller, Engine
from aforesaid.engine import recalling
from aforesaid.errors import BadArgument, ScopeNotAllowed, SessionNotFound, StaleCursor
from aforesaid.recall import scopes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.pi import Row

    from aforesaid import Found, RecallPage

SESSIONS = 200
WORDS = ("proxy", "timeout", "gateway", "PG_PORT", "src/db.py", "walnut", "数据库", "perché")
ALLOWED = {"historyTools.allowProjectScope": True}


class Host:
    """Transcripts of three projects, and what is in them."""

    def __init__(self, folder: Path, seed: int, count: int = SESSIONS) -> None:
        self.random = Random(seed)
        self.folder = folder
        self.rows: dict[Path, list[Row]] = {}
        self.parents: dict[Path, Path | None] = {}
        self.made = 0
        for number in range(count):
            file = folder / f"s{number:03}.jsonl"
            others = list(self.rows)
            origin = self.random.choice(others) if others and self.random.random() < 0.45 else None
            entries = self.copy(origin) if origin else []
            project = self.rows[origin][0]["cwd"] if origin else f"/home/dev/p{number % 3}"
            if not origin or self.random.random() < 0.8:
                self.grow(entries, self.random.randint(1, 10))
            more: dict[str, Any] = {"parentSession": str(origin)} if origin else {}
            self.rows[file] = [pi.header(f"id-{number}", cwd=project, **more), *entries]
            self.parents[file] = origin
            pi.write(file, self.rows[file])

    def copy(self, origin: Path) -> list[Row]:
        """A clone of a session, or a fork: one of its branches up to an entry, line by line."""
        rows = self.rows[origin][1:]
        if self.random.random() < 0.3:
            return list(rows)
        return list(pi.path_of(rows, self.random.choice(rows)["id"]))

    def grow(self, entries: list[Row], count: int) -> None:
        for _ in range(count):
            self.made += 1
            parent = None
            if entries:
                parent = entries[-1]["id"] if self.random.random() < 0.8 else self.random.choice(entries)["id"]
            text = " ".join(self.random.choices(WORDS, k=self.random.randint(1, 4)))
            text += f" number {self.made}" if self.random.random() < 0.7 else ""
            role = self.random.choice(["user", "assistant", "toolResult"])
            entries.append(pi.message(f"{self.made:08x}", parent, text, role, self.made % 1440))

    def rewrite(self, file: Path) -> None:
        """One text in the middle becomes another one, of the same length or not."""
        rows = self.rows[file]
        place = self.random.randrange(1, len(rows))
        changed = json.loads(json.dumps(rows[place]))
        changed["message"]["content"][0]["text"] = f"rewritten {self.random.choice(WORDS)} of {place}"
        self.rows[file] = [*rows[:place], changed, *rows[place + 1 :]]
        pi.write(file, self.rows[file])

    def lineage(self, file: Path) -> list[Path]:
        """A session and those that it was forked from, as far as copies prove it."""
        chain = [file]
        while (parent := self.parents[chain[-1]]) is not None and parent in self.rows:
            mine, theirs = ({json.dumps(row) for row in self.rows[one][1:]} for one in (chain[-1], parent))
            if not mine & theirs:
                break
            chain.append(parent)
        return chain

    def matches(self, files: list[Path], word: str) -> set[tuple[str, str]]:
        """Id and text of what holds a word; copies are one."""
        rows = (row for file in files for row in self.rows[file][1:])
        return {(row["id"], pi.text_of(row)) for row in rows if word in pi.text_of(row)}


def walk(engine: Engine, word: str, limit: int, **asked: Any) -> Iterator[RecallPage]:
    cursor = None
    while True:
        page = engine.recall(word, limit=limit, cursor=cursor, **asked)
        assert len(page.hits) <= limit
        yield page
        cursor = page.next
        if cursor is None:
            return


def told(hits: list[Found]) -> list[tuple[str, str]]:
    return [(hit.entry_id, hit.snippet) for hit in hits]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    return Host(tmp_path_factory.mktemp("host"), 5)


@pytest.fixture(scope="module")
def folder(host: Host, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("store")
    with Engine.open(made) as opened:
        opened.index(host.folder)
        for file in host.random.sample(list(host.rows), 30):
            host.rewrite(file)
        opened.index(host.folder)
    return made


@pytest.fixture(scope="module", params=["contextual", "documented"])
def engine(folder: Path, request: pytest.FixtureRequest) -> Iterator[Engine]:
    with Engine.open(folder, settings={**ALLOWED, "retrieval.ranking": request.param}) as opened:
        yield opened


@pytest.mark.parametrize("word", ["PG_PORT", "walnut", "number 17", "rewritten", "port", "nothing of this kind", ""])
@pytest.mark.parametrize("scope", ["current-lineage", "project", "host-wide"])
def test_every_match_of_the_scope_comes_exactly_once_and_no_other(
    host: Host, engine: Engine, scope: Any, word: str
) -> None:
    files = list(host.rows)
    for file in (files[0], files[77], files[150]) if scope != "host-wide" else (files[3], None):
        in_scope = files
        if scope == "current-lineage":
            in_scope = host.lineage(file or files[0])
        elif scope == "project":
            in_scope = [one for one in files if host.rows[one][0]["cwd"] == host.rows[file or files[0]][0]["cwd"]]
        limit = 40 if word else 200
        pages = list(walk(engine, word, limit, session=file, scope=scope, mode="phrase"))
        hits = [hit for page in pages for hit in page.hits]
        found = told(hits)
        assert len(found) == len(set(found)), "an entry came twice"
        assert set(found) == host.matches(in_scope, word)
        ids = {host.rows[one][0]["id"] for one in in_scope}
        assert {hit.session_id for hit in hits} <= ids
        # Rewritten copies are no copies any more, so that the lines do not prove all ancestors.
        last = pages[-1].coverage
        if scope == "current-lineage" and "ancestor-unverified" in last.reasons:
            assert not last.complete
        else:
            assert last.complete, last.reasons
        assert (last.indexed_sessions, last.stale_sessions) == (len(in_scope), 0)
        assert all(
            page.coverage.complete or page.coverage.reasons in {("sessions-not-opened",), ("ancestor-unverified",)}
            for page in pages
        )


@pytest.mark.parametrize("scope", ["current-branch", "current-session"])
def test_one_session_of_many_is_searched_alone_and_on_its_branch(host: Host, engine: Engine, scope: Any) -> None:
    random = Random(17)
    queries: tuple[tuple[str, Any], ...] = (
        ("", "all"), ("PG_PORT", "all"), ("walnut proxy", "any"), ("walnut proxy", "all"), ("nowhere", "any"),
    )  # fmt: skip
    for file in random.sample(list(host.rows), 25):
        rows = host.rows[file][1:]
        leaf = random.choice(rows)["id"]
        branch = pi.path_of(rows, leaf)
        query, match = random.choice(queries)
        role: Any = random.choice([None, "user", "assistant"])
        agree = any if match == "any" and query else all
        expected = {
            row["id"]
            for row in (branch if scope == "current-branch" else rows)
            if agree(term in pi.text_of(row) for term in query.split()) and role in {None, row["message"]["role"]}
        }
        asked = {"session": file, "leaf": leaf, "scope": scope, "match": match, "roles": [role] if role else []}
        pages = list(walk(engine, query, 2, **asked))
        hits = [hit for page in pages for hit in page.hits]
        assert [hit.entry_id for hit in hits] == list(dict.fromkeys(hit.entry_id for hit in hits))
        assert {hit.entry_id for hit in hits} == expected
        on_branch = {row["id"] for row in branch}
        assert all((hit.branch == "active") == (hit.entry_id in on_branch) for hit in hits)
        assert {hit.session_id for hit in hits} <= {host.rows[file][0]["id"]}
        assert all(page.coverage.complete for page in pages)


def test_deleted_grown_and_new_transcripts_are_told_apart_and_what_was_known_is_still_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recalling, "LEARNING", 60.0)  # what is told depends on what is known, not on a busy machine
    folder = tmp_path / "host"
    folder.mkdir()
    host = Host(folder, 11)
    files = list(host.rows)
    new, rest = files[-20:], files[:-20]
    with Engine.open(tmp_path / "store", settings=ALLOWED) as engine:
        engine.index(*rest)
        stored = {file: host.rows[file] for file in rest}
        deleted, rewritten = host.random.sample(rest[1:], 30), []
        for file in deleted:
            file.unlink()
        for file in host.random.sample([file for file in rest[1:] if file not in deleted], 30):
            host.rewrite(file)
            rewritten.append(file)

        forgotten: set[tuple[str, str]] = set()

        def compare(known: dict[Path, list[Row]], reasons: set[str], eligible: int, stale: int) -> None:
            for scope, session in (("host-wide", None), ("project", rest[0])):
                allowed = [
                    file for file in known
                    if session is None or known[file][0]["cwd"] == known[session][0]["cwd"]
                ]  # fmt: skip
                for word in ("rewritten", "number 9", ""):
                    pages = list(walk(engine, word, 200, session=session, scope=scope, mode="phrase"))
                    rows = [row for file in allowed for row in known[file][1:] if word in pi.text_of(row)]
                    found = told([hit for page in pages for hit in page.hits])
                    assert sorted(found) == sorted({(row["id"], pi.text_of(row)) for row in rows} - forgotten)
                    coverage = pages[-1].coverage
                    assert coverage.complete == (not coverage.reasons)
                    assert coverage.indexed_sessions == len(allowed)
                    if session is None:
                        assert set(coverage.reasons) == reasons
                        assert (coverage.eligible_sessions, coverage.stale_sessions) == (eligible, stale)

        compare(stored, {"not-indexed", "stale", "source-missing"}, len(files), len(rewritten))
        engine.index(folder)
        compare({**host.rows}, {"source-missing"}, len(files), 0)
        for file in deleted[:5]:
            engine.forget(session=file)
            forgotten |= {(row["id"], pi.text_of(row)) for row in host.rows[file][1:]}  # copies elsewhere as well
        left = [file for file in files if file not in deleted[:5]]
        compare({file: host.rows[file] for file in left}, {"source-missing"}, len(left), 0)
    assert set(new) <= set(host.rows)


def test_the_own_session_comes_first_and_its_labels_are_its_own(host: Host, engine: Engine) -> None:
    file = next(one for one in host.rows if host.parents[one] and len(host.lineage(one)) > 2)
    pages = list(walk(engine, "", 200, session=file, scope="current-lineage"))
    hits = [hit for page in pages for hit in page.hits]
    own = host.rows[file][0]["id"]
    on_branch = {row["id"] for row in pi.path_of(host.rows[file][1:], host.rows[file][-1]["id"])}
    assert {hit.entry_id for hit in hits if hit.session_id == own} == {row["id"] for row in host.rows[file][1:]}
    for hit in hits:
        assert (hit.branch == "active") == (hit.session_id == own and hit.entry_id in on_branch)
        assert hit.in_context == (hit.branch == "active")


def test_a_ref_of_another_session_is_expanded_there(host: Host, engine: Engine) -> None:
    page = engine.recall("number 17", scope="host-wide", limit=3)
    for hit in page.hits:
        (passage,) = [one for one in engine.expand(hit.ref).entries if one.entry_id == hit.entry_id]
        assert (passage.session_id, passage.text, passage.verified) == (hit.session_id, hit.snippet, True)


def test_what_is_known_to_be_missing_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "host"
    folder.mkdir()
    host = Host(folder, 6, 12)
    files = list(host.rows)
    with Engine.open(tmp_path / "store", settings=ALLOWED) as engine:
        engine.index(*files[:9])

        def reach(scope: Any = "host-wide", session: Path | None = None, **more: Any) -> tuple[Any, ...]:
            coverage = list(walk(engine, "", 200, scope=scope, session=session, **more))[-1].coverage
            return (
                coverage.complete, set(coverage.reasons), coverage.indexed_sessions, coverage.eligible_sessions,
                coverage.stale_sessions,
            )  # fmt: skip

        assert reach() == (False, {"not-indexed"}, 9, 12, 0)
        assert reach("project", files[0])[1] == {"not-indexed"}
        (folder / "notes.jsonl").write_text("no transcript\n")
        (folder / "folder.jsonl").mkdir()
        if hasattr(os, "mkfifo"):
            os.mkfifo(folder / "pipe.jsonl")  # nobody ever writes into it
        engine.index(folder)
        assert reach() == (True, set(), 12, 12, 0)
        with files[3].open("ab") as target:
            target.write(b'{"type":"session_info","id":"x","parentId":null}\n')
        assert reach() == (False, {"stale"}, 12, 12, 1)
        files[4].unlink()
        assert reach() == (False, {"stale", "source-missing"}, 12, 12, 1)
        elsewhere = tmp_path / "elsewhere" / "deep"
        elsewhere.mkdir(parents=True)
        pi.write(elsewhere / "new.jsonl", [pi.header("new"), *pi.conversation(["new"])])
        assert reach()[3] == 12
        assert reach(folders=[tmp_path / "elsewhere"])[3] == 13
        assert "not-indexed" in reach(folders=[tmp_path / "elsewhere"])[1]


def test_a_damaged_session_is_said_to_be_missing(tmp_path: Path) -> None:
    host = Host(tmp_path, 7, 6)
    files = list(host.rows)
    with Engine.open(tmp_path / "store") as engine:
        engine.index(*files)
    shards = sorted((tmp_path / "store" / "sessions").glob("*.db"))
    shards[2].write_bytes(b"no database at all" * 1000)
    with Engine.open(tmp_path / "store") as engine:
        coverage = engine.recall("", scope="host-wide", limit=200).coverage
        assert not coverage.complete
        assert "store-corrupt" in coverage.reasons
        assert coverage.indexed_sessions == 5
        assert coverage.eligible_sessions == 6


@pytest.mark.parametrize("mended_after", [1, 3, 99])
def test_what_one_page_could_not_read_all_that_follow_say_and_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mended_after: int
) -> None:
    monkeypatch.setattr(scopes, "SESSIONS", 6)
    (tmp_path / "p").mkdir()
    for number in range(8):
        rows = pi.conversation([f"walnut {number}", f"walnut again {number}"], prefix=f"{number:x}")
        pi.write(tmp_path / "p" / f"s{number:02}.jsonl", [pi.header(f"id-{number}"), *rows])
    with Engine.open(tmp_path / "store") as engine:
        engine.index(tmp_path / "p")
        keys = [session.key for session in engine.sessions()]
    shards = list((tmp_path / "store" / "sessions").glob("*.db"))
    # One of those that are searched together first, and one of the others.
    damaged = {shard: shard.read_bytes() for shard in shards if keys[1] in shard.name or keys[-1] in shard.name}
    assert len(damaged) == 2
    for shard in damaged:
        shard.write_bytes(b"no database at all" * 1000)
    told: list[tuple[bool, int, bool]] = []
    found: list[tuple[str, str]] = []
    cursor = None
    while not told or cursor is not None:
        # As the command line does it; an open store keeps what it knows of a damaged file.
        with Engine.open(tmp_path / "store") as engine:
            page = engine.recall("walnut", scope="host-wide", limit=2, cursor=cursor)
        reach = page.coverage
        told.append((reach.complete, reach.indexed_sessions, "store-corrupt" in reach.reasons))
        found += [(hit.session_id, hit.entry_id) for hit in page.hits]
        cursor = page.next
        if len(told) == mended_after:
            for shard, data in damaged.items():
                shard.write_bytes(data)
            for marker in (tmp_path / "store" / "sessions").glob("*.damaged"):
                marker.unlink()
    assert len(found) == len(set(found)) == (12 if mended_after == 99 else len(found)) < 16
    assert {(complete, said) for complete, _, said in told} == {(False, True)}
    counts = [count for _, count, _ in told]
    assert counts == sorted(counts, reverse=True)
    assert counts[:3] == [7, 7, 7], "each session that was not read counts once"
    assert counts[-1] == (6 if mended_after == 99 else 7)


def test_a_parent_that_cannot_be_found_or_proven_is_said_to_be_missing(tmp_path: Path) -> None:
    rows = pi.conversation(["one", "two"])
    origin = pi.write(tmp_path / "origin.jsonl", [pi.header("origin"), *pi.conversation(["three"], prefix="f")])
    other = pi.write(tmp_path / "other.jsonl", [pi.header("other", parentSession=str(origin)), *rows])
    gone = pi.write(tmp_path / "gone.jsonl", [pi.header("gone", parentSession="/nowhere/x.jsonl"), *rows])
    circle = pi.write(tmp_path / "circle.jsonl", [pi.header("circle", parentSession="circle"), *rows])
    with Engine.open(tmp_path / "store") as engine:
        engine.index(tmp_path)
        for file, reason in ((other, "ancestor-unverified"), (gone, "ancestor-missing"), (circle, "ancestor-missing")):
            page = engine.recall("", session=file, scope="current-lineage")
            assert [hit.session_id for hit in page.hits] == [file.stem] * 2
            assert page.coverage.reasons == (reason,)


def test_a_cursor_is_stale_once_another_session_of_the_scope_has_changed(tmp_path: Path) -> None:
    host = Host(tmp_path, 8, 6)
    files = list(host.rows)
    with Engine.open(tmp_path / "store", settings=ALLOWED) as engine:
        engine.index(*files)
        page = engine.recall("", session=files[0], scope="host-wide", limit=2)
        host.grow(host.rows[files[0]], 1)
        pi.write(files[0], host.rows[files[0]])
        engine.index(files[0])
        rest = engine.recall("", session=files[0], scope="host-wide", limit=200, cursor=page.next)
        assert rest.hits, "the own session may grow"
        host.rewrite(files[1])
        engine.index(files[1])
        with pytest.raises(StaleCursor):
            engine.recall("", session=files[0], scope="host-wide", limit=2, cursor=page.next)


def test_scopes_are_allowed_to_whom_they_are_meant_for(tmp_path: Path) -> None:
    file = pi.write(tmp_path / "one.jsonl", [pi.header("one"), *pi.conversation(["a"])])
    bare = pi.write(tmp_path / "bare.jsonl", [pi.header("bare", cwd=None), *pi.conversation(["a"])])
    model = Caller(name="m", model=True)
    with Engine.open(tmp_path / "store") as engine:
        engine.index(tmp_path)
        for caller in (model, Caller()):
            with pytest.raises(ScopeNotAllowed):
                engine.recall("a", session=file, scope="project", caller=caller)
        with pytest.raises(ScopeNotAllowed):
            engine.recall("a", scope="host-wide", caller=model)
        for scope in ("current-branch", "current-session", "current-lineage"):
            with pytest.raises(BadArgument):
                engine.recall("a", scope=scope)
    with Engine.open(tmp_path / "store", settings=ALLOWED) as engine:
        assert len(engine.recall("a", session=file, scope="project").hits) == 1
        with pytest.raises(ScopeNotAllowed):
            engine.recall("a", session=file, scope="project", caller=model)
        assert engine.recall("a", session=file, scope="project", caller=Caller(model=True, trusted=True)).hits
        with pytest.raises(BadArgument, match="folder"):
            engine.recall("a", session=bare, scope="project")
        with pytest.raises(SessionNotFound):
            engine.recall("a", session="nowhere", scope="project")


def test_wider_scopes_bring_nothing_up_to_date(tmp_path: Path) -> None:
    file = pi.write(tmp_path / "one.jsonl", [pi.header("one"), *pi.conversation(["a"])])
    with Engine.open(tmp_path / "store", settings=ALLOWED) as engine:
        engine.index(file)
        pi.write(file, [pi.header("one"), *pi.conversation(["a", "a new one"])])
        for scope in ("project", "host-wide"):
            page = engine.recall("a", session=file, scope=scope)
            assert len(page.hits) == 1
            assert page.coverage.reasons == ("stale",)
        assert len(engine.recall("a", session=file, scope="current-lineage").hits) == 2


def test_a_store_of_before_there_were_families_knows_copies_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = Host(tmp_path, 9, 12)
    with monkeypatch.context() as before:
        before.setattr("aforesaid.storage.sqlite.writer.family_of_line", lambda *_: "")
        with Engine.open(tmp_path / "store") as engine:
            engine.index(*host.rows)
    with Engine.open(tmp_path / "store") as engine:
        found = told([hit for page in walk(engine, "", 200, scope="host-wide") for hit in page.hits])
    assert sorted(found) == sorted(host.matches(list(host.rows), ""))


def bytes_of(store: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(store.rglob("*")) if file.is_file())


def test_a_search_opens_only_sessions_that_may_hold_what_it_looks_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        rows = pi.conversation([f"session {number}", "the unforgettable walnut" if number == 7 else "nothing"])
        pi.write(tmp_path / f"{number}.jsonl", [pi.header(f"id-{number}"), *rows])
    with Engine.open(tmp_path / "store") as engine:
        engine.index(tmp_path)
        opened: list[str] = []
        read = type(engine._store).read

        def watched(store: Any, key: str) -> Any:
            opened.append(key)
            return read(store, key)

        monkeypatch.setattr(type(engine._store), "read", watched)
        for query, hits in (("forgettable", 1), ("walnut unforg", 1), ("nowhere", 0), ("session", 20)):
            opened.clear()
            page = engine.recall(query, scope="host-wide", limit=200)
            rest = engine.recall(query, scope="host-wide", limit=200, cursor=page.next) if page.next else page
            assert len({hit.session_id for hit in (*page.hits, *rest.hits)}) == hits
            assert len(set(opened)) == hits
            assert rest.coverage.complete
            assert rest.coverage.indexed_sessions == 20


def test_what_is_forgotten_is_forgotten_by_the_index_of_words_too(tmp_path: Path) -> None:
    for number in range(10):
        rows = pi.conversation([f"session {number}", "the unforgettable walnut" if number == 7 else "nothing"])
        pi.write(tmp_path / f"{number}.jsonl", [pi.header(f"id-{number}"), *rows])
    store = tmp_path / "store"
    with Engine.open(store) as engine, Engine.open(store) as other:
        engine.index(tmp_path)
        assert len(other.recall("unforgettable", scope="host-wide").hits) == 1
        assert b"unforgettable" in (store / "words.db").read_bytes() + (store / "words.db-wal").read_bytes()
        engine.forget(text="unforgettable")
        assert b"unforgettable" not in bytes_of(store)
        page = other.recall("unforgettable", scope="host-wide")
        assert page.hits == ()
        assert b"unforgettable" not in bytes_of(store)
        assert len(other.recall("session", scope="host-wide", limit=20).hits) == 10


def test_a_change_of_what_counts_as_a_secret_leaves_no_words_behind(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    for number in range(10):
        rows = pi.conversation([f"token {secret} here" if number == 3 else f"session {number}"])
        pi.write(tmp_path / f"{number}.jsonl", [pi.header(f"id-{number}"), *rows])
    store = tmp_path / "store"
    with Engine.open(store, settings={"privacy.redactIndex": False}) as engine:
        engine.index(tmp_path)
    word = secret.split("_")[1].lower().encode()
    assert word in bytes_of(store)
    with Engine.open(store) as engine:
        engine.index(tmp_path)
        assert engine.recall(secret, scope="host-wide").hits == ()
    assert word not in (store / "words.db").read_bytes()
