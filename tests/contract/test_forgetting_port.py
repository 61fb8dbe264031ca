"""`ports.ForgettingPort` and `forgetting.forget`, over every store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.fakes.entries import chain, described, entry, trees
from tests.fakes.store import FakeStore

from aforesaid.errors import BadArgument, EntryUnknown, SessionForgotten
from aforesaid.forgetting import SAMPLES, Selector, forget, select
from aforesaid.model import Header, Source
from aforesaid.reports import Erased
from aforesaid.storage.sqlite import open_store
from aforesaid.tombstones import Burial, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from aforesaid.model import Entry, Session, StoredEntry
    from aforesaid.ports import StorePort

NOW = "2026-12-24T00:00:00.000Z"
EVERYTHING = ((1, 10**6),)
A, B, C, D = (f"/sessions/{name}.jsonl" for name in "abcd")


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StorePort]:
    opened: StorePort = FakeStore() if request.param == "memory" else open_store(str(tmp_path / "store"))
    yield opened
    opened.close()


def put(store: StorePort, file: str, entries: Sequence[Entry], session_id: str = "", **header: object) -> Session:
    """Stores a session anew, as a rebuild does."""
    with store.write(file) as writer:
        writer.clear()
        writer.append(entries)
        made = Header(host="pi", session_id=session_id or file, **{"cwd": "/p", **header})  # type: ignore[arg-type]
        return writer.commit(described(file, header=made))


def stored(store: StorePort, file: str) -> tuple[StoredEntry, ...]:
    session = store.by_file(file)
    assert session is not None
    with store.read(session.key) as snapshot:
        return snapshot.entries(range(1, session.entries + 1))


def texts(store: StorePort, file: str) -> list[str]:
    return [found.text for found in stored(store, file)]


def go(store: StorePort, selector: Selector) -> tuple[Erased, ...]:
    """Forgets, after a dry run that changes nothing and says the same."""
    before = [store.by_file(file) for file in (A, B, C)]
    dry = forget(store, selector, now=NOW, dry_run=True)
    assert dry.dry_run
    assert [store.by_file(file) for file in (A, B, C)] == before
    assert not store.forgetting.pending
    done = forget(store, selector, now=NOW, verify=True)
    assert done.sessions == dry.sessions
    assert done.verification is not None
    assert done.verification.leftovers == ()
    assert not store.forgetting.pending
    return done.sessions


def erased(file: str, entries: int, *, whole: bool = False) -> Erased:
    return Erased(file=file, session_id=file, whole=whole, entries=entries)


def test_a_forgotten_entry_keeps_its_place_and_nothing_else(store: StorePort) -> None:
    rows = chain("alpha one", "beta two", "gamma three")
    rows[1] = replace(rows[1], tools=("bash",), calls=("c1",), files=("beta.py",), request=True, timestamp=NOW)
    generation = put(store, A, rows).generation
    before = stored(store, A)
    assert go(store, Selector(sessions=store.sessions(), entries=("e2",))) == (erased(A, 1),)
    first, second, third = stored(store, A)
    assert (first, third) == (before[0], before[2])
    assert second == replace(
        before[1], text="", parts=(), tokens=0, tools=(), calls=(), files=(), automatic=False,
        digest=second.digest, source=replace(before[1].source, sha256=bytes(32)),
    )  # fmt: skip
    assert second.digest != before[1].digest
    assert (second.forgotten, second.request, second.id, second.timestamp) == (True, True, "e2", NOW)
    assert not first.forgotten
    session = store.by_file(A)
    assert session is not None
    assert session.generation == generation + 1, "what others remember of it does not hold any more"
    with store.read(session.key) as snapshot:
        assert [(run.first, run.last) for run in snapshot.tree().runs] == [(1, 3)]
        assert snapshot.find_terms(["beta", "two"], EVERYTHING, 10) == ()
        assert snapshot.find_literals(["beta"], EVERYTHING, 10) == ((),)
        assert len(snapshot.find_terms(["gamma"], EVERYTHING, 10)) == 1
        assert snapshot.digests([before[1].digest], EVERYTHING) == frozenset()


def test_it_stays_out_of_a_rebuild_and_of_what_is_appended(store: StorePort) -> None:
    rows = chain("alpha one", "beta two")
    put(store, A, rows)
    go(store, Selector(sessions=store.sessions(), entries=("e2",)))
    put(store, A, rows)
    assert texts(store, A) == ["alpha one", ""]
    edited = replace(rows[1], parts=("beta edited",), source=replace(rows[1].source, sha256=b"x" * 32))
    put(store, A, [rows[0], edited])
    assert texts(store, A) == ["alpha one", ""]
    put(store, B, [replace(edited, id="e2")])
    assert texts(store, B) == ["beta edited"]  # another session's entry of the same id


def test_copies_in_other_sessions_go_and_stay_out_too(store: StorePort) -> None:
    rows = [replace(row, timestamp=NOW) for row in chain("alpha one", "beta two", "gamma three")]
    anew = replace(rows[1], id="f2", source=Source(line=2, offset=2, length=2, sha256=b"y" * 32))
    said_again = replace(anew, timestamp=None)
    put(store, A, rows)
    put(store, B, [rows[0], anew])
    put(store, C, [rows[0], said_again])
    chosen = Selector(sessions=tuple(s for s in store.sessions() if s.file == A), entries=("e2", "e3"))
    assert go(store, chosen) == (erased(A, 2), erased(B, 1))
    assert texts(store, B) == ["alpha one", ""]
    assert texts(store, C) == ["alpha one", "beta two"]
    put(store, D, rows)
    assert texts(store, D) == ["alpha one", "", ""]


def test_an_entry_that_is_not_there_is_a_wrong_argument_and_nothing_happens(store: StorePort) -> None:
    put(store, A, chain("alpha"))
    with pytest.raises(EntryUnknown, match="e9"):
        forget(store, Selector(sessions=store.sessions(), entries=("e1", "e9")), now=NOW)
    assert texts(store, A) == ["alpha"]
    assert not store.forgetting.pending


def test_a_session_goes_with_its_copies_and_never_returns(store: StorePort) -> None:
    rows = chain("alpha one", "beta two")
    put(store, A, rows, "first")
    put(store, B, [*rows, entry("x1", "e2", "gamma three")])
    (chosen,) = [session for session in store.sessions() if session.file == A]
    done = go(store, Selector(sessions=(chosen,)))
    assert done == (Erased(file=A, session_id="first", whole=True, entries=2), erased(B, 2))
    assert store.by_file(A) is None
    assert [session.file for session in store.sessions()] == [B]
    assert texts(store, B) == ["", "", "gamma three"]
    with pytest.raises(SessionForgotten):
        put(store, A, rows, "first")
    with pytest.raises(SessionForgotten):
        put(store, C, rows, "first")  # the same session, moved
    assert store.by_file(C) is None
    assert store.forgetting.refuses(A)
    assert not store.forgetting.refuses(B)


def test_a_file_that_was_never_stored_is_kept_out(store: StorePort) -> None:
    assert go(store, Selector(file=A)) == ()
    with pytest.raises(SessionForgotten):
        put(store, A, chain("alpha"))


def test_a_project_goes_with_sessions_that_began_before_and_not_with_later_ones(store: StorePort) -> None:
    put(store, A, chain("alpha", prefix="a"), cwd="/p")
    put(store, B, chain("beta", prefix="b"), cwd="/q")
    assert go(store, select(store, project="/p")) == (erased(A, 1, whole=True),)
    with pytest.raises(SessionForgotten):
        put(store, C, chain("gamma", prefix="c"), cwd="/p", started="2026-12-23T00:00:00.000Z")
    put(store, D, chain("gamma", prefix="c"), cwd="/p", started="2026-12-25T00:00:00.000Z")
    assert [session.file for session in store.sessions()] == [B, D]


def test_a_text_goes_wherever_it_stands_and_stays_out_of_lines_to_come(store: StorePort) -> None:
    put(store, A, chain("the password is Hunter2", "myhunter2x", "nothing", prefix="a"))
    put(store, B, [entry("b1", None, "log\nHUNTER2 twice"), entry("b2", "b1", label="hunter2 plan", kind="label")])
    assert go(store, Selector(text="hunter2")) == (erased(A, 2), erased(B, 2))
    assert texts(store, A) == ["", "", "nothing"]
    session = store.by_file(B)
    assert session is not None
    assert session.name is None
    later = ["again hunter2", "again myhunter2x", "myhunter2x"]
    put(store, C, chain(*later, prefix="c"))
    assert texts(store, C) == ["", "again myhunter2x", ""]
    # Within a word it came in; now it is there, it can be forgotten too.
    assert go(store, Selector(text="hunter2")) == (erased(C, 1),)


@pytest.mark.parametrize("text", ["🎉", "->", "x", "密", "écru", "a\ud800b", "two\nlines"])
def test_a_text_of_any_kind_goes(store: StorePort, text: str) -> None:
    put(store, A, chain("one", f"before {text} after", "three", prefix="e"))
    assert go(store, Selector(text=text)) == (erased(A, 1),)
    put(store, A, chain("one", f"before {text} after", "three", prefix="e"))
    assert texts(store, A) == ["one", "", "three"]


def test_dates_cover_every_session_and_what_comes_in_later(store: StorePort) -> None:
    stamps = [f"2026-11-{day:02}T00:00:00.000Z" for day in (1, 2, 3)]
    rows = [replace(row, timestamp=stamp) for row, stamp in zip(chain("one", "two", "three"), stamps, strict=True)]
    put(store, A, [*rows, entry("n", "e3", "timeless")])
    assert go(store, Selector(after=stamps[1], before=stamps[2])) == (erased(A, 1),)
    assert texts(store, A) == ["one", "", "three", "timeless"]
    put(store, B, [replace(row, id=f"f{row.id}", parts=("other words",)) for row in rows])
    assert texts(store, B) == ["other words", "", "other words"]
    go(store, Selector(after=stamps[2]))
    put(store, C, [entry("c1", None, "tomorrow", timestamp="2027-01-01T00:00:00.000Z")])
    assert texts(store, C) == ["tomorrow"]  # a rule ends when it was made


def test_dates_of_one_session_leave_the_others_alone(store: StorePort) -> None:
    rows = [replace(row, timestamp="2026-11-01T00:00:00.000Z") for row in chain("one", "two")]
    put(store, A, rows)
    others = chain("other words", "other words", prefix="f")
    put(store, B, [replace(row, timestamp="2026-11-01T00:00:00.000Z") for row in others])
    chosen = tuple(session for session in store.sessions() if session.file == A)
    assert go(store, Selector(sessions=chosen, before="2026-11-02T00:00:00.000Z")) == (erased(A, 2),)
    put(store, A, rows)
    assert texts(store, A) == ["", ""]
    assert texts(store, B) == ["other words", "other words"]


def test_what_was_begun_is_finished_by_the_next_call(store: StorePort) -> None:
    (session,) = [put(store, A, chain("alpha", "beta"))]
    marker = store.forgetting.marker(lasting=True)
    store.forgetting.bury(Burial(marks=frozenset({marker.line(stored(store, A)[0])})))
    assert store.forgetting.pending
    assert texts(store, A) == ["alpha", "beta"]
    left = forget(store, Selector(), now=NOW, dry_run=True, verify=True)
    assert not left.resumed
    assert left.verification is not None
    assert [found.where for found in left.verification.leftovers] == ["entry"]
    done = forget(store, Selector(), now=NOW, verify=True)
    assert (done.resumed, done.sessions) == (True, (replace(erased(A, 1), session_id=session.header.session_id),))
    assert done.verification is not None
    assert done.verification.leftovers == ()
    again = forget(store, Selector(), now=NOW, verify=True)
    assert (again.resumed, again.sessions) == (False, ())


def test_forgetting_twice_is_no_error(store: StorePort) -> None:
    put(store, A, chain("alpha", "beta"))
    assert go(store, Selector(text="alpha")) == (erased(A, 1),)
    assert go(store, Selector(text="alpha")) == ()


def test_the_name_of_a_session_is_that_of_the_last_label_that_is_left(store: StorePort) -> None:
    rows = [
        entry("l1", None, label="first name", kind="label"),
        entry("l2", "l1", label="second name", kind="label"),
        entry("l3", "l2", label="about an entry", kind="label", target="l1"),
        entry("m", "l3", "words"),
    ]
    put(store, A, rows)
    go(store, Selector(text="words"))
    assert (session := store.by_file(A)) is not None
    assert session.name == "second name"
    go(store, Selector(text="about an entry"))
    assert stored(store, A)[2].target == "l1"
    go(store, Selector(text="second"))
    assert (session := store.by_file(A)) is not None
    assert session.name is None
    put(store, A, rows)
    assert (session := store.by_file(A)) is not None
    assert session.name is None


@given(tree=trees(), chosen=st.sets(st.integers(0, 13)), dated=st.booleans())
def test_an_erasure_leaves_what_a_rebuild_would_give(
    tmp_path_factory: pytest.TempPathFactory, tree: tuple[Entry, ...], chosen: set[int], dated: bool
) -> None:
    ids = tuple(found.id for place, found in enumerate(tree) if place in chosen)
    fake, real = FakeStore(), open_store(str(tmp_path_factory.mktemp("store")))
    try:
        seen: list[object] = []
        for store in (fake, real):
            session = put(store, A, tree)
            selector = Selector(sessions=(session,), entries=ids) if ids else Selector(text="alpha")
            if dated:
                selector = Selector(before="2026-11-30T00:03:00.000Z")
            forget(store, selector, now=NOW, verify=True)
            for _ in range(2):
                found = store.by_file(A)
                assert found is not None
                with store.read(found.key) as snapshot:
                    terms = snapshot.find_terms(["alpha", "beta gamma"], EVERYTHING, 50)
                    seen.append((stored(store, A), snapshot.tree(), terms, found.name, found.requests))
                put(store, A, tree)
        assert all(other == seen[0] for other in seen[1:])
    finally:
        real.close()


@pytest.mark.parametrize("id_", ["L1", "e1"])
def test_sessions_are_no_family_because_their_first_entries_were_forgotten(store: StorePort, id_: str) -> None:
    for file, text in ((A, "alpha one"), (B, "alpha two")):
        line = Source(line=1, offset=0, length=9, sha256=text.encode().ljust(32))
        put(store, file, [entry(id_, None, text, source=line)])
    families = {file: session.family for file in (A, B) if (session := store.by_file(file))}
    go(store, Selector(text="alpha"))
    for _ in range(2):
        for file, text in ((A, "alpha one"), (B, "alpha two")):
            session = store.by_file(file)
            assert session is not None
            assert session.family == ("" if id_ == "L1" else families[file])
            line = Source(line=1, offset=0, length=9, sha256=text.encode().ljust(32))
            put(store, file, [entry(id_, None, text, source=line)])


def test_an_entry_that_comes_in_meanwhile_is_found_by_the_next_round(
    store: StorePort, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, A, chain("myhunter2x", prefix="a"))
    kind: Any = type(store.forgetting)
    erase = kind.erase
    files = iter((B, C, D))

    def erase_and_be_disturbed(self: object, progress: object = None) -> object:
        done = erase(self, progress)
        file = next(files)
        put(store, file, chain(f"yourhunter2x {file}", prefix=f"{file[-7]}"))
        return done

    with monkeypatch.context() as patched:
        patched.setattr(kind, "erase", erase_and_be_disturbed)
        done = forget(store, Selector(text="hunter2"), now=NOW, verify=True)
    assert [one.file for one in done.sessions] == [A, B, C]
    assert done.verification is not None
    assert done.verification.leftovers, "the rounds end at last, and the check says so"
    assert go(store, Selector(text="hunter2")) == (erased(D, 1),)


def test_samples_are_spread_over_all_that_was_forgotten(store: StorePort, monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, A, chain(*(f"text number {n:04}" for n in range(1000))))
    asked: list[Sequence[str]] = []
    kind: Any = type(store.forgetting)
    verify = kind.verify

    def spy(self: object, text: str | None, samples: Sequence[str]) -> object:
        asked.append(samples)
        return verify(self, text, samples)

    monkeypatch.setattr(kind, "verify", spy)
    forget(store, Selector(sessions=store.sessions()), now=NOW, verify=True)
    numbers = [int(sample.split()[2]) for sample in asked[0]]
    assert SAMPLES / 2 <= len(numbers) <= SAMPLES
    assert numbers == sorted(numbers)
    assert max(numbers) > 900
    assert min(numbers) < 100


def test_words_of_an_entry_in_the_store_are_those_of_the_entry(store: StorePort) -> None:
    rows = [entry("e1", None, "one", "two", label="l", files=("f", "g"), tools=("t",), calls=("c",))]
    put(store, A, rows)
    assert words_of(stored(store, A)[0]) == words_of(rows[0]) == "one\ntwo\nl\nf\ng\nt"


@pytest.mark.parametrize(
    ("named", "what"),
    [
        ({"text": "x", "project": "/p"}, "everywhere"),
        ({"text": "x", "named": True}, "everywhere"),
        ({"text": "x", "entries": ("e1",)}, "everywhere"),
        ({"text": "x", "before": NOW}, "everywhere"),
        ({"text": ""}, "empty"),
        ({"text": " \n\u200d"}, "empty"),
        ({"named": True, "project": "/p"}, "exclude"),
        ({"entries": ("e1",)}, "one session"),
        ({"named": True, "entries": ("e1",), "after": NOW}, "one session"),
        ({"after": NOW, "before": NOW}, "range"),
        ({"named": True, "file": "/x", "entries": ("e1",)}, "does not have"),
        ({"named": True, "file": "/x", "after": NOW}, "does not have"),
        ({"project": "/nowhere", "after": NOW}, "no session"),
    ],
)
def test_what_does_not_fit_together_is_refused(store: StorePort, named: dict[str, object], what: str) -> None:
    with pytest.raises(BadArgument, match=what):
        select(store, **named)  # type: ignore[arg-type]


def test_what_names_nothing_is_empty(store: StorePort) -> None:
    assert select(store).empty
    assert not select(store, project="/p").empty
    assert not select(store, text="x").empty
    assert not select(store, before=NOW).empty
    assert not select(store, named=True, file="/x").empty
