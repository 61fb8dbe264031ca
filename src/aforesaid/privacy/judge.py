"""Floor 4: whether a text may go to the provider that is called, and why not.

`engine` makes a judge for one session and one provider. A text is judged as a whole, before anything is cut out of it;
it may go only if the provider may see the class of every stretch in it. Whoever asks gets verdicts, and `Cleared` for
what may go. `Readings` remembers by content what texts say, across judges and calls. Pure but for that memory.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from aforesaid.model import SEAL, Cleared
from aforesaid.privacy.markers import HIGHEST, UNMARKED, highest, read_marks
from aforesaid.privacy.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeVar

    from aforesaid.model import Level, StoredEntry
    from aforesaid.privacy.markers import Marks
    from aforesaid.privacy.policy import Policy

    Value = TypeVar("Value")

REASONS: Final = (
    *("privacy-default", "privacy-project", "privacy-path", "privacy-marker", "privacy-markers-broken"),
    "privacy-source",
)
"""What gave a text its class: the default, a rule, a marker; markers that do not match; its line in the transcript."""


class Verdict(Struct, frozen=True, kw_only=True):
    """What a judge says of one text.

    Attributes:
        allowed: whether the provider may see all of it.
        classification: the highest class in it.
        reason: one of `REASONS`: what gave it that class.
    """

    allowed: bool
    classification: Level
    reason: str


class Reading(Struct, frozen=True, kw_only=True):
    """What a text says of its own class, whoever asks: its marks, and the level of the paths that it names."""

    marks: Marks = UNMARKED
    named: Level = "normal"


_PLAIN: Final = Reading()


class Readings:
    """Readings by content, bounded; the longest unused are forgotten.

    The texts themselves are the keys, so that no two texts can be taken for each other.
    """

    def __init__(self, most: int = 16_000_000) -> None:
        """Takes the most characters of texts that are kept."""
        self._most = most // 2
        self._size = 0
        self._young: dict[tuple[Rules, str], Reading] = {}
        self._old: dict[tuple[Rules, str], Reading] = {}

    def get(self, rules: Rules, text: str) -> Reading | None:
        """What a text said under these rules, or None if that is not known."""
        key = (rules, text)
        found = self._young.get(key)
        if found is None:
            found = self._old.get(key)
            if found is not None:
                self.put(rules, text, found)
        return found

    def put(self, rules: Rules, text: str, reading: Reading) -> None:
        """Remembers what a text says."""
        if len(text) > self._most:
            return
        self._size += len(text)
        if self._size > self._most:
            self._old, self._young, self._size = self._young, {}, len(text)
        self._young[rules, text] = reading


class Judge:
    """Says which texts of one session one provider may see.

    Attributes:
        policy: what holds.
        provider: for whom; empty for one that nobody named.
        rules: those that may concern the session.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        provider: str = "",
        project: str | None = None,
        rules: Rules | None = None,
        readings: Readings | None = None,
    ) -> None:
        """Sits for one session and one provider.

        Args:
            policy: what holds.
            provider: who is called; empty for one that nobody named.
            project: folder that the session worked in; None if it is not known.
            rules: those of an earlier judge of the same policy and project; None compiles them.
            readings: what is remembered of texts; None begins anew.
        """
        self.policy = policy
        self.provider = provider
        self.rules = rules or Rules(policy.rules if policy.enabled else (), project=project, home=policy.home)
        self._readings = readings if readings is not None else Readings()
        self._allowed = policy.providers.allowed(provider)
        self._open = not policy.enabled or policy.providers.is_local(provider)
        self._floor = highest(policy.default, self.rules.floor)
        self._of_plain = self._weigh(UNMARKED, "normal")

    @property
    def open(self) -> bool:
        """Whether the provider may see everything, so that nothing need be judged."""
        return self._open

    def judge(self, text: str, *, named: Level = "normal") -> Verdict:
        """The verdict on a whole text.

        Args:
            text: all of it, never an excerpt.
            named: level that it has already, for example by the file that it was read from.
        """
        reading = self._read(text)
        if reading is _PLAIN and named == "normal":
            return self._of_plain
        return self._weigh(reading.marks, highest(named, reading.named))

    def find_prohibited(self, text: str, *, named: Level = "normal") -> tuple[tuple[int, int, Level], ...]:
        """The stretches of a host's own text that somebody named and the provider may not see, with their levels.

        Named is what stands between markers, and all of a text whose class a rule by path gave. What only the default
        or the project gives every text of a session does not count: the user has that session with this provider.

        Args:
            text: all of it.
            named: level of all of it by what it was read from (`name_result`); `normal` if nothing names it.
        """
        marks = UNMARKED if self._open else self._read(text).marks
        if self._open or (marks is UNMARKED and named == "normal"):
            return ()
        if marks.broken:
            levels = {highest(named, level) for level in marks.broken}
            return () if levels <= self._allowed else ((0, len(text), highest(*levels)),)
        stretches: list[tuple[int, int, Level]] = []
        done = 0
        for start, end, level in marks.spans:
            stretches += ((done, start, named), (start, end, highest(named, level)))
            done = end
        stretches.append((done, len(text), named))
        marked = {start for start, _, _ in marks.spans}
        return tuple(
            (start, end, level)
            for start, end, level in stretches
            if start < end and level not in self._allowed and (start in marked or named != "normal")
        )

    def name_result(self, text: str, call: Sequence[str] | None) -> Level:
        """The level that rules by path give to what a tool answered.

        Args:
            text: the answer.
            call: the arguments of the call; None if the call is not known, and then every path may be in them.
        """
        if not self.rules.by_path:
            return "normal"
        if call is None:
            return self.rules.unknown
        return highest(self._read(text).named, self.rules.of(call, acts=True), self._of_files(call))

    def judge_entry(self, entry: StoredEntry, answered: StoredEntry | None = None) -> Verdict:
        """The verdict on an entry as it is stored.

        Args:
            entry: its whole text counts, and the files that it names.
            answered: for a tool's result, the entry that called the tool. Results whose call is not known count as if
                they named every path that a rule names.
        """
        named: Level = "normal"
        if self.rules.by_path:
            if answered is None and entry.role == "tool_result":
                named = self.rules.unknown
            else:
                named = self._of_files(entry.files)
                if answered is not None:
                    named = highest(named, self._of_files(answered.files), self.rules.of([answered.text], acts=True))
            if entry.role == "shell" or (entry.calls and entry.role != "tool_result"):
                named = highest(named, self.rules.of([entry.text], acts=True))
        return self.judge(entry.text, named=named)

    def judge_line(self, line: bytes, before: Verdict) -> Verdict:
        """The verdict on an entry once its line in the transcript was read again.

        Args:
            line: the raw line, a JSON object.
            before: the verdict on what is stored of it; the line can only raise it.
        """
        if self.open or (line.isascii() and b"\\u" not in line and b"aforesaid" not in line.lower()):
            return before
        try:
            for text in _strings(json.loads(line)):
                found = self._weigh(read_marks(text), before.classification)
                if before.allowed and not found.allowed:
                    return replace(found, reason="privacy-source")
        except (ValueError, RecursionError):
            return Verdict(allowed=False, classification=HIGHEST, reason="privacy-source")
        return before

    def clear(self, values: Sequence[Value], verdicts: Iterable[Verdict]) -> Cleared[Value]:
        """Those of the values that the provider may see; the verdicts are parallel to them."""
        allowed = tuple(value for value, verdict in zip(values, verdicts, strict=True) if verdict.allowed)
        return Cleared(values=allowed, provider=self.provider, seal=SEAL)

    def clear_all(self, values: Sequence[Value]) -> Cleared[Value]:
        """All of the values.

        Raises:
            ValueError: the policy lets the provider not see everything.
        """
        if not self.open:
            raise ValueError("a policy is in force: every value needs a verdict")
        return Cleared(values=tuple(values), provider=self.provider, seal=SEAL)

    def _read(self, text: str) -> Reading:
        found = self._readings.get(self.rules, text)
        if found is None:
            marks = read_marks(text)
            named = self.rules.of([text]) if self.rules.by_path else "normal"
            found = _PLAIN if marks is UNMARKED and named == "normal" else Reading(marks=marks, named=named)
            self._readings.put(self.rules, text, found)
        return found

    def _weigh(self, marks: Marks, named: Level) -> Verdict:
        base = highest(self._floor, named)
        marked = {highest(base, level) for level in (*(level for _, _, level in marks.spans), *marks.broken)}
        levels = marked | {base} if marks.outside else marked
        top = highest(*levels)
        return Verdict(
            allowed=self._open or levels <= self._allowed, classification=top, reason=self._reason(top, named, marks)
        )

    def _of_files(self, files: Sequence[str]) -> Level:
        if not files:
            return "normal"
        return self.rules.of([*files, *(path for file in files for path in self.rules.resolve(file))], acts=True)

    def _reason(self, top: Level, named: Level, marks: Marks) -> str:
        if top == self.policy.default:
            return "privacy-default"
        if top == self.rules.floor:
            return "privacy-project"
        if top == named:
            return "privacy-path"
        return "privacy-markers-broken" if marks.broken else "privacy-marker"


def _strings(value: object) -> Iterator[str]:
    """Every text in what JSON held, names of members included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
