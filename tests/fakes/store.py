"""A store in memory that does everything by brute force, from the words of `ports` alone.

The contract tests run over it and over SQLite; tests of the floors above use it where files would only be in the way.
"""

from __future__ import annotations

import math
import re
from array import array
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec.structs import replace

from aforesaid.answers import TermRow, Weights
from aforesaid.embedding import Held
from aforesaid.errors import SessionForgotten, StoreError
from aforesaid.inquiry import ROLES, Outline
from aforesaid.lineage import family_of_line, trace
from aforesaid.matching import Literal, Term
from aforesaid.model import Mark, Run, Session, StoredEntry, Tally, Tree
from aforesaid.projects import spellings
from aforesaid.reports import Erased, Leftover, StoreStatus, Unreadable, Verification
from aforesaid.text import digest, feed
from aforesaid.tokens import estimate
from aforesaid.tombstones import KEY_BYTES, Burial, Contained, Marker, made_of, strike, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from aforesaid.embedding import Covered, Passage, Profile
    from aforesaid.inquiry import Alternatives, Clue, Filter, Standing
    from aforesaid.model import Entry, Header, Level, Span
    from aforesaid.tombstones import Tombstones

_TOKEN = re.compile("[0-9a-z\u0080-\U0010ffff]+")
_UPPER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
K1, B = 1.2, 0.75


class _Data:
    """One session; never changed once it is stored."""

    def __init__(self, session: Session, entries: tuple[Entry, ...], tail: int | None) -> None:
        self.session = session
        self.entries = entries
        self.tail = tail


class FakeVectors:
    """`VectorPort` in memory."""

    def __init__(self) -> None:
        self._held: dict[Profile, list[tuple[Passage, bytes]]] = {}
        self._covered: dict[Profile, Covered] = {}
        self._changes = 0

    def _change(self, profile: Profile, held: list[tuple[Passage, bytes]]) -> None:
        self._held[profile] = sorted(held, key=lambda one: (one[0].row, one[0].start))
        self._changes += 1

    def version(self, profile: Profile) -> bytes:
        return str(self._changes).encode() if profile in self._covered else b""

    def load(self, profile: Profile, *, vectors: bool = True) -> Held:
        held = self._held.get(profile, [])
        return Held(
            rows=array("I", [passage.row for passage, _ in held]),
            starts=array("I", [passage.start for passage, _ in held]),
            ends=array("I", [passage.end for passage, _ in held]),
            hashes=b"".join(passage.hash for passage, _ in held),
            vectors=b"".join(vector for _, vector in held) if vectors else b"",
        )

    def covered(self, profile: Profile) -> Covered | None:
        return self._covered.get(profile)

    def add(self, profile: Profile, passages: Sequence[Passage], vectors: Sequence[bytes], covered: Covered) -> None:
        self._covered[profile] = covered
        self._change(profile, [*self._held.get(profile, []), *zip(passages, vectors, strict=True)])

    def keep(self, profile: Profile, passages: Sequence[Passage], covered: Covered) -> int:
        held = self._held.get(profile, [])
        known = {passage.hash: vector for passage, vector in held}
        kept = [(passage, known[passage.hash]) for passage in passages if passage.hash in known]
        self._covered[profile] = covered
        self._change(profile, kept)
        return len(held) - len(kept)

    def trim(self, profile: Profile, low: int) -> None:
        if profile in self._covered:
            self._change(profile, [one for one in self._held[profile] if one[0].row >= low])

    def profiles(self) -> tuple[tuple[Profile, int], ...]:
        found = [(profile, len(held)) for profile, held in self._held.items() if held]
        return tuple(sorted(found, key=lambda one: (one[0].provider, one[0].model, one[0].dimensions)))

    def forget(self, rows: Sequence[int]) -> None:
        for profile, held in self._held.items():
            self._change(profile, [one for one in held if one[0].row not in rows])

    def discard(self) -> None:
        self._held.clear()
        self._covered.clear()


class FakeStore:
    """`StorePort` in memory."""

    def __init__(self) -> None:
        self._sessions: dict[str, _Data] = {}
        self.writable = True
        self.forgetting = FakeForgetting(self._sessions)
        self.manifests = FakeManifests()
        self._withheld: dict[tuple[str, Level], int] = {}
        self._issued: dict[str, int] = {}
        self._vectors: dict[str, FakeVectors] = {}

    def vectors(self, key: str) -> FakeVectors:
        return self._vectors.setdefault(key, FakeVectors())

    def sessions(self, *, host: str | None = None) -> tuple[Session, ...]:
        found = [data.session for data in self._sessions.values() if host in (None, data.session.header.host)]
        found.sort(key=lambda session: session.file)
        found.sort(key=lambda session: session.updated or "", reverse=True)
        return tuple(found)

    def unreadable(self) -> tuple[Unreadable, ...]:
        return ()

    def count_withheld(self, tallies: Iterable[Tally]) -> None:
        for tally in tallies:
            key = (tally.reason, tally.classification)
            self._withheld[key] = self._withheld.get(key, 0) + tally.count

    def withheld(self) -> tuple[Tally, ...]:
        return tuple(
            Tally(reason=reason, classification=classification, count=count)
            for (reason, classification), count in sorted(self._withheld.items())
        )

    def learn_words(self, sessions: Sequence[Session], seconds: float | None = None) -> int:
        return len(sessions)

    def may_hold(self, sessions: Sequence[Session], alternatives: Alternatives) -> frozenset[str]:
        def holds(words: set[str], clue: Clue) -> bool:
            return any(_FITS[clue.kind](word, clue.token) for word in words)

        found: set[str] = set()
        for session in sessions:
            words: set[str] = set()
            for entry in self._sessions[session.key].entries:
                words.update(*map(_split, feed(entry.text)))
            if any(all(holds(words, clue) for clue in clues) for clues in alternatives):
                found.add(session.key)
        return frozenset(found)

    def secret(self) -> bytes:
        return b"a secret of thirty-two bytes ...."[:32]

    def count_refs(self, issuer: str, more: int = 0) -> int:
        before = self._issued.get(issuer, 0)
        self._issued[issuer] = before + more
        return before

    def by_key(self, key: str) -> Session | None:
        data = self._sessions.get(key)
        return data.session if data else None

    def by_file(self, file: str) -> Session | None:
        data = self._sessions.get(f"key:{file}")
        return data.session if data else None

    def recent(self, file: str) -> Session | None:
        return self.by_file(file)

    def by_id(self, session_id: str) -> tuple[Session, ...]:
        found = (data.session for data in self._sessions.values() if data.session.header.session_id == session_id)
        return tuple(sorted(found, key=lambda session: session.file))

    @contextmanager
    def read(self, key: str) -> Iterator[FakeSnapshot]:
        if key not in self._sessions:
            raise StoreError(f"no session {key}", "index it")
        yield FakeSnapshot(self._sessions[key])

    @contextmanager
    def write(self, file: str, *, searched: bool = False) -> Iterator[FakeWriter]:
        del searched
        if self.forgetting.refuses(file):
            raise SessionForgotten(f"{file} was forgotten", "nothing is kept")
        yield FakeWriter(self._sessions, f"key:{file}", file, self.forgetting)

    def tend(self, file: str) -> bool:
        """Nothing is put off."""
        del file
        return False

    def remove(self, key: str) -> None:
        self._sessions.pop(key, None)
        self.manifests.kept = [kept for kept in self.manifests.kept if kept[0] != key]

    def status(self) -> StoreStatus:
        return StoreStatus(
            location="memory",
            writable=True,
            schema=1,
            projection=1,
            sessions=len(self._sessions),
            entries=sum(len(data.entries) for data in self._sessions.values()),
            bytes=0,
        )

    def close(self) -> None:
        self._sessions.clear()


class FakeManifests:
    """`ManifestPort` in memory; its bytes are not bounded."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, float, str]] = []

    def keep(self, session: str, record: str, *, at: float, most: int) -> bool:
        self.kept = [(session, at, record), *self.kept][: max(0, most)]
        return True

    def amend(self, session: str, old: str, new: str) -> bool:
        for place, (key, at, record) in enumerate(self.kept):
            if key == session:
                if record == old:
                    self.kept[place] = (key, at, new)
                return record == old
        return False

    def latest(self, session: str | None, limit: int) -> tuple[tuple[float, str], ...]:
        found = [(at, record) for key, at, record in self.kept if session in (None, key)]
        return tuple(found[: max(0, limit)])


class FakeWriter:
    """`SessionWriter` in memory."""

    def __init__(self, sessions: dict[str, _Data], key: str, file: str, forgetting: FakeForgetting) -> None:
        self._sessions, self._key, self._file, self._forgetting = sessions, key, file, forgetting
        before = sessions.get(key)
        self.session = before.session if before else None
        self._entries = list(before.entries) if before else []
        self._tail = before.tail if before else None
        self._changed = before is None

    def clear(self) -> int:
        removed = len(self._entries)
        self._entries, self._tail, self._changed = [], None, True
        return removed

    def known(self, ids: Sequence[str]) -> frozenset[str]:
        return frozenset(ids) & {entry.id for entry in self._entries}

    def lines(self, ids: Sequence[str]) -> tuple[bytes | None, ...]:
        found = {entry.id: entry.source.sha256 for entry in self._entries}
        return tuple(found.get(id_) for id_ in ids)

    def append(self, entries: Sequence[Entry]) -> None:
        self._entries += self._forgetting.struck(self._key, entries)
        if entries:
            self._tail, self._changed = len(self._entries), True

    def commit(self, session: Session, *, tail: str | None = None) -> Session:
        if self._forgetting.refuses(self._file, session.header):
            raise SessionForgotten(f"{self._file} was forgotten", "nothing is kept")
        before = self.session
        ids = [entry.id for entry in self._entries]
        if tail is not None:
            self._tail = ids.index(tail) + 1
        changed = self._changed or before is None or _facts(before) != _facts(session)
        done = self._counted(session, (before.generation if before else 0) + changed)
        self._sessions[self._key] = _Data(done, tuple(self._entries), self._tail)
        return done

    @contextmanager
    def preview(self) -> Iterator[FakeSnapshot]:
        if self.session is None:
            raise StoreError("there is no session", "index it")
        ahead = self._counted(self.session, self.session.generation + 1)
        yield FakeSnapshot(_Data(ahead, tuple(self._entries), self._tail))

    def _counted(self, session: Session, generation: int) -> Session:
        names = [entry.label for entry in self._entries if entry.kind == "label" and entry.target is None]
        return replace(
            session,
            key=self._key,
            file=self._file,
            name=names[-1] if names else None,
            entries=len(self._entries),
            requests=sum(entry.request for entry in self._entries),
            updated=max((entry.timestamp for entry in self._entries if entry.timestamp), default=None),
            family=family_of_line(self._entries[0].id, self._entries[0].source.sha256) if self._entries else "",
            generation=generation,
        )


class FakeForgetting:
    """`ForgettingPort` in memory."""

    def __init__(self, sessions: dict[str, _Data]) -> None:
        self._sessions = sessions
        self._marker = Marker(b"k" * KEY_BYTES)
        self._burial = Burial()
        self.pending = False

    @property
    def tombstones(self) -> Tombstones:
        return made_of(self._marker, self._burial, spellings)

    def marker(self, *, lasting: bool) -> Marker:
        return self._marker

    def refuses(self, file: str, header: Header | None = None) -> bool:
        return self.tombstones.refuses(file, header)

    def struck(self, key: str, entries: Sequence[Entry]) -> list[Entry]:
        covered = self.tombstones.covered(key, entries)
        return [strike(entry) if place in covered else entry for place, entry in enumerate(entries)]

    def bury(self, burial: Burial) -> None:
        was = self._burial
        self._burial = Burial(
            marks=was.marks | burial.marks, grams=was.grams | burial.grams, rules=was.rules | burial.rules
        )
        self.pending = True

    def erase(self, progress: Callable[[int, int], None] | None = None) -> tuple[tuple[Erased, ...], int]:
        erased: list[Erased] = []
        for key, data in sorted(self._sessions.items()):
            session = data.session
            whole = self.refuses(session.file, session.header)
            covered = self.tombstones.covered(key, data.entries)
            if whole:
                del self._sessions[key]
                count = sum(bool(words_of(entry)) for entry in data.entries)
            elif covered:
                entries = tuple(self.struck(key, data.entries))
                names = [entry.label for entry in entries if entry.kind == "label" and entry.target is None]
                first = entries[0]
                changed = replace(
                    session,
                    generation=session.generation + 1,
                    name=names[-1] if names else None,
                    family=family_of_line(first.id, first.source.sha256),
                )
                self._sessions[key] = _Data(changed, entries, data.tail)
                count = len(covered)
            else:
                continue
            erased.append(Erased(file=session.file, session_id=session.header.session_id, whole=whole, entries=count))
        self.pending = False
        return tuple(sorted(erased, key=lambda one: one.file)), 0

    def verify(self, text: str | None, samples: Sequence[str]) -> Verification:
        found = 0
        for key, data in self._sessions.items():
            covered = self.tombstones.covered(key, data.entries)
            for place, entry in enumerate(data.entries):
                told = text is not None and Contained(text).found_in(words_of(entry))
                found += place in covered or told
        left = (Leftover(file="memory", where="entry", count=found),) if found else ()
        return Verification(
            files=0, bytes=0, databases=0, values=0, terms=0, texts=len(samples), free_pages=0, leftovers=left
        )


def _facts(session: Session) -> tuple[object, ...]:
    return session.header, session.flaws, session.flaw_count, session.shared


class FakeSnapshot:
    """`Snapshot` in memory."""

    def __init__(self, data: _Data) -> None:
        self._data = data
        self._rows = {entry.id: row for row, entry in enumerate(data.entries, 1)}
        self._fed = {
            row: [_split(column) for column in feed(entry.text)]
            for row, entry in enumerate(data.entries, 1)
            if entry.automatic and entry.text
        }

    @property
    def session(self) -> Session:
        return self._data.session

    def tree(self) -> Tree:
        runs: list[Run] = []
        marks: list[Mark] = []
        for row, entry in enumerate(self._data.entries, 1):
            parent = None if entry.parent is None else self._rows.get(entry.parent)
            if runs and parent == row - 1:
                runs[-1] = replace(runs[-1], last=row)
            else:
                runs.append(Run(first=row, last=row, parent=parent))
            if entry.compaction or entry.edit:
                marks.append(Mark(row=row, compaction=entry.compaction, edit=entry.edit))
        return Tree(runs=tuple(runs), marks=tuple(marks), tail=self._data.tail)

    def trunk(self) -> tuple[Span, ...]:
        tree = self.tree()
        return trace(tree.runs, tree.tail)

    def rows(self, ids: Sequence[str]) -> tuple[int | None, ...]:
        return tuple(self._rows.get(id_) for id_ in ids)

    def entries(self, rows: Sequence[int]) -> tuple[StoredEntry, ...]:
        return tuple(_stored(row, self._data.entries[row - 1]) for row in rows if 1 <= row <= len(self._data.entries))

    def latest_request(self, spans: Sequence[Span]) -> StoredEntry | None:
        for row in self._backwards(spans):
            if self._data.entries[row - 1].request:
                return self.entries([row])[0]
        return None

    def digests(self, wanted: Sequence[bytes], spans: Sequence[Span]) -> frozenset[bytes]:
        return frozenset(wanted) & {digest(self._data.entries[row - 1].text) for row in self._backwards(spans)}

    def count_tokens(self, spans: Sequence[Span]) -> int:
        return sum(estimate(self._data.entries[row - 1].text) for row in self._backwards(spans))

    def find_literals(self, needles: Sequence[str], spans: Sequence[Span], limit: int) -> tuple[tuple[int, ...], ...]:
        return tuple(self._find_literal(needle, spans, limit) for needle in needles)

    def _find_literal(self, needle: str, spans: Sequence[Span], limit: int) -> tuple[int, ...]:
        if not needle:
            return ()
        literal = Literal(needle)
        rows = [row for row in self._backwards(spans) if row in self._fed]
        return tuple(row for row in rows if literal.found_in(self._data.entries[row - 1].text))[: max(0, limit)]

    def find_terms(self, terms: Sequence[str], spans: Sequence[Span], limit: int) -> tuple[TermRow, ...]:
        scores = self._scores(terms)
        found = [
            TermRow(row=row, score=round(scores[row], 9)) for row in sorted(self._backwards(spans)) if row in scores
        ]
        found.sort(key=lambda item: self._data.entries[item.row - 1].id)
        found.sort(key=lambda item: self._data.entries[item.row - 1].timestamp or "", reverse=True)
        found.sort(key=lambda item: item.score)
        return tuple(found[: max(0, limit)])

    def weigh_terms(
        self,
        terms: Sequence[str],
        roots: Sequence[str],
        spans: Sequence[Span],
        near: Sequence[tuple[str, str]] = (),
    ) -> Weights:
        scores = self._weigh(terms, roots, near)
        kept = [row for row in sorted(self._backwards(spans)) if row in scores]
        return Weights(
            rows=array("q", kept),
            scores=array("d", [scores[row] for row in kept]),
            roles=bytes([ROLES.index(self._data.entries[row - 1].role) for row in kept]),
            names=ROLES,
        )

    def weigh_all(
        self, terms: Sequence[str], roots: Sequence[str], near: Sequence[tuple[str, str]] = (), *, last: int
    ) -> Mapping[int, float]:
        before = FakeSnapshot(_Data(self._data.session, self._data.entries[:last], None))
        return dict(sorted(before._weigh(terms, roots, near).items()))

    def unindexed(self, *, derived: bool = True) -> tuple[int, ...]:
        return tuple(row for row, entry in enumerate(self._data.entries, 1) if entry.text and row not in self._fed)

    def _weigh(self, terms: Sequence[str], roots: Sequence[str], near: Sequence[tuple[str, str]]) -> dict[int, float]:
        scores = self._scores(terms, roots, smooth=True)
        for pair in dict.fromkeys(near):
            rows = [row for row, columns in self._fed.items() if any(_stand_near(column, *pair) for column in columns)]
            addend = 0.3 * math.log(1 + (len(self._fed) - len(rows) + 0.5) / (len(rows) + 0.5))
            scores |= {row: scores[row] - addend for row in rows if row in scores}
        return {row: round(-score * 1e9) / 1e9 for row, score in scores.items()}

    def count_terms(self, terms: Sequence[str], spans: Sequence[Span]) -> int:
        scores = self._scores(terms)
        return sum(row in scores for row in self._backwards(spans))

    def standings(
        self, spans: Sequence[Span], wanted: Filter, rows: Sequence[int] | None = None
    ) -> tuple[Standing, ...]:
        return tuple((one.row, one.role, one.tokens) for one in self.outlines(spans, wanted, rows))

    def propose(
        self, alternatives: Alternatives, spans: Sequence[Span], *, derived: bool = True
    ) -> tuple[int, ...] | None:
        if () in alternatives:
            return None
        words = {
            row: set().union(*map(_split, feed(self._data.entries[row - 1].text))) for row in self._backwards(spans)
        }
        return tuple(
            row
            for row in sorted(words)
            if any(
                all(any(_FITS[c.kind](word, c.token) for word in words[row]) for c in clues) for clues in alternatives
            )
        )

    def outlines(self, spans: Sequence[Span], wanted: Filter, rows: Sequence[int] | None = None) -> tuple[Outline, ...]:
        asked = [row for row in sorted(self._backwards(spans)) if rows is None or row in rows]
        listed = [(row, self._data.entries[row - 1]) for row in asked]
        return tuple(
            Outline(
                row=row,
                id=entry.id,
                kind=entry.kind,
                role=entry.role,
                timestamp=entry.timestamp,
                tokens=estimate(entry.text),
                digest=digest(entry.text),
            )
            for row, entry in listed
            if entry.text and _passes(entry, wanted, self._answered(row))
        )

    def _answered(self, row: int) -> tuple[str, ...]:
        """The paths that the calls name which a row answers: the nearest call before it with the id counts."""
        entry, paths = self._data.entries[row - 1], list[str]()
        for call in entry.calls if entry.role not in {"tool_call", "assistant"} else ():
            for other in reversed(self._data.entries[: row - 1]):
                if call and call in other.calls and other.role in {"tool_call", "assistant"}:
                    paths += other.files
                    break
        return tuple(paths)

    def texts(self, rows: Sequence[int]) -> tuple[str, ...]:
        entries = self._data.entries
        return tuple(entries[row - 1].text if 1 <= row <= len(entries) else "" for row in rows)

    def _backwards(self, spans: Sequence[Span]) -> Iterator[int]:
        """The existing rows of the spans, from the end of the branch."""
        for first, last in reversed(spans):
            yield from range(min(last, len(self._data.entries)), first - 1, -1)

    def _scores(self, terms: Sequence[str], roots: Sequence[str] = (), *, smooth: bool = False) -> dict[int, float]:
        """bm25 of the rows that hold a term, as SQLite computes and signs it."""
        phrases = dict.fromkeys(
            (term.tokens, term.open_ended) for term in map(Term, dict.fromkeys(terms)) if term.tokens
        )
        phrases |= dict.fromkeys(((root,), True) for root in roots)
        lengths = {row: sum(map(len, columns)) for row, columns in self._fed.items()}
        average = sum(lengths.values()) / len(lengths) if lengths else 0.0
        scores: dict[int, float] = {}
        for tokens, open_ended in phrases:
            hits = {row: _occurrences(columns, tokens, open_ended) for row, columns in self._fed.items()}
            hits = {row: hit for row, hit in hits.items() if hit}
            idf = math.log((len(lengths) - len(hits) + 0.5) / (len(hits) + 0.5))
            if smooth:
                idf = math.log(1 + (len(lengths) - len(hits) + 0.5) / (len(hits) + 0.5))
            elif idf <= 0:
                idf = 1e-6
            for row, hit in hits.items():
                weight = hit * (K1 + 1) / (hit + K1 * (1 - B + B * lengths[row] / average))
                scores[row] = scores.get(row, 0.0) + idf * weight
        return {row: -score for row, score in scores.items()}


def _stand_near(words: Sequence[str], first: str, second: str) -> bool:
    """Whether words that begin so stand with three others between them at most."""
    places = [[place for place, word in enumerate(words) if word.startswith(root)] for root in (first, second)]
    return any(abs(one - other) <= 4 for one in places[0] for other in places[1])


def _passes(entry: Entry, wanted: Filter, answered: tuple[str, ...]) -> bool:
    derived = entry.role == "summary" or entry.kind in ("compaction", "branch-summary")
    time = entry.timestamp
    return not (
        (derived and not wanted.summaries)
        or (not derived and not entry.automatic and not wanted.withheld)
        or (wanted.roles and entry.role not in wanted.roles)
        or (wanted.kinds and entry.kind not in wanted.kinds)
        or (wanted.tool is not None and wanted.tool not in entry.tools)
        or (wanted.file is not None and not any(_is_file(path, wanted.file) for path in (*entry.files, *answered)))
        or (wanted.after is not None and (time is None or time < wanted.after))
        or (wanted.before is not None and (time is None or time >= wanted.before))
    )


def _is_file(path: str, wanted: str) -> bool:
    """Whether the last parts of a path are the wanted ones; all of it for a path from the root."""
    has, wants = path.replace("\\", "/").split("/"), wanted.replace("\\", "/").removeprefix("./").split("/")
    if wants == [""]:
        return has == [""]
    return has == wants or (wants[0] != "" and len(has) > len(wants) and has[-len(wants) :] == wants)


_FITS: dict[str, Callable[[str, str], bool]] = {
    "is": str.__eq__,
    "begins": str.startswith,
    "ends": str.endswith,
    "holds": str.__contains__,
}


def _split(text: str) -> list[str]:
    return _TOKEN.findall(text.translate(_UPPER))


def _occurrences(columns: Iterable[list[str]], tokens: Sequence[str], open_ended: bool) -> int:
    """How often the tokens stand side by side within a column."""
    *whole, last = tokens
    count = 0
    for column in columns:
        for start in range(len(column) - len(tokens) + 1):
            end = column[start + len(whole)]
            if column[start : start + len(whole)] == whole and (end.startswith(last) if open_ended else end == last):
                count += 1
    return count


def _stored(row: int, entry: Entry) -> StoredEntry:
    return StoredEntry(
        row=row,
        id=entry.id,
        kind=entry.kind,
        role=entry.role,
        timestamp=entry.timestamp,
        text=entry.text,
        parts=tuple(map(len, entry.parts)),
        source=entry.source,
        digest=digest(entry.text),
        tokens=estimate(entry.text) if entry.text else 0,
        tools=entry.tools,
        calls=entry.calls,
        files=entry.files,
        automatic=entry.automatic,
        request=entry.request,
        redacted=entry.redacted,
        label=entry.label,
        target=entry.target,
    )
