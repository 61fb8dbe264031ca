"""Floor 7: every option, once.

Validation, defaults, the JSON Schema, `config show` and the table in `docs/configuration.md` all derive from `OPTIONS`.
Options whose feature this version does not have are marked `later`: they are checked like all others, so that a
configuration written today stays valid, and setting one to anything but its default is reported, never ignored.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from aforesaid.model import LEVELS

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["boolean", "integer", "number", "text", "texts", "texts-by-name", "rules"]
Value = object
"""What JSON can hold, frozen: lists as tuples, objects as read-only mappings."""

CLASSIFICATIONS = LEVELS
SCOPES = ("current-branch", "current-session", "current-lineage", "project", "host-wide")

EXACT_NAME = r"[^\s/*?\[\]]+/[^\s*?\[\]]+"
"""An exact `provider/model`."""


class Option(Struct, frozen=True, kw_only=True):
    """One option.

    Attributes:
        key: dotted name.
        kind: what a value is; `texts-by-name` is an object whose values are lists of texts, `rules` a list of objects
            as `privacy.rules` reads them.
        default: the value that counts where no layer sets it.
        meaning: what it does, one line.
        low, high: inclusive bounds of a number, None for none.
        above: exclusive lower bound of a number, None for none.
        choices: the allowed texts (of a text, or of the items of lists); empty for any.
        aliases: other spellings of a text and what they stand for.
        shape: regular expression that each item of a list matches as a whole; empty for any.
        later: whether the option's feature is not in this version.
        later_choices: those of the choices that are not in this version.
    """

    key: str
    kind: Kind
    default: Value
    meaning: str
    low: float | None = None
    high: float | None = None
    above: float | None = None
    choices: tuple[str, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    shape: str = ""
    later: bool = False
    later_choices: tuple[str, ...] = ()

    def accept(self, found: object) -> Value | None:
        """The frozen value for what JSON gave, or None if it is not allowed."""
        value: Value | None = None
        if self.kind == "boolean":
            value = found if isinstance(found, bool) else None
        elif self.kind in {"integer", "number"}:
            value = self._number(found)
        elif self.kind == "text":
            value = self._text(found)
        elif self.kind == "texts":
            value = self._texts(found)
        elif self.kind == "texts-by-name" and isinstance(found, dict | MappingProxyType):
            lists = {str(name): self._texts(items) for name, items in found.items()}
            value = MappingProxyType(lists) if None not in lists.values() else None
        elif self.kind == "rules" and isinstance(found, list | tuple):
            from aforesaid.privacy.rules import read_rule  # late: few configurations have rules

            value = freeze(found) if all(isinstance(item, dict) and read_rule(item) for item in found) else None
        return value

    def _text(self, found: object) -> str | None:
        if not isinstance(found, str):
            return None
        text = dict(self.aliases).get(found, found)
        return text if not self.choices or text in self.choices else None

    def _number(self, found: object) -> int | float | None:
        if isinstance(found, bool) or not isinstance(found, int | float):
            return None
        if self.kind == "integer":
            # JSON Schema counts 12.0 as an integer, and so does this.
            if found != found // 1:
                return None
            found = int(found)
        fits = (
            (self.low is None or found >= self.low)
            and (self.high is None or found <= self.high)
            and (self.above is None or found > self.above)
        )
        return found if fits else None

    def _texts(self, found: object) -> tuple[str, ...] | None:
        if not isinstance(found, list | tuple):
            return None
        texts = tuple(item for item in found if isinstance(item, str) and (not self.choices or item in self.choices))
        if self.shape and texts:
            import re  # late: hardly any configuration names one

            texts = tuple(item for item in texts if re.fullmatch(self.shape, item))
        return texts if len(texts) == len(found) else None

    @property
    def allowed(self) -> str:
        """What a value may be, in words."""
        choice = f"one of {', '.join(self.choices)}" if self.choices else "any text"
        if self.shape:
            choice = "an exact provider/model without wildcards"
        return {
            "boolean": "true or false",
            "integer": f"a whole number{self._range}",
            "number": f"a number{self._range}",
            "text": choice,
            "texts": f"a list, each item {choice}",
            "texts-by-name": f"an object, each value a list, each item {choice}",
            "rules": f"a list of objects, each with path, project or both, and classification, {choice}",
        }[self.kind]

    @property
    def _range(self) -> str:
        words = []
        if self.above is not None:
            words.append(f"above {self.above:g}")
        if self.low is not None and self.high is not None:
            return f" from {int(self.low)} to {int(self.high)}"
        if self.low is not None:
            words.append(f"of at least {int(self.low)}")
        if self.high is not None:
            words.append(f"at most {self.high:g}")
        return " " + ", ".join(words) if words else ""


def freeze(value: object) -> Value:
    """The same value, unchangeable."""
    if isinstance(value, list | tuple):
        return tuple(freeze(item) for item in value)
    if isinstance(value, dict):
        return MappingProxyType({name: freeze(item) for name, item in value.items()})
    return value


def _switch(key: str, default: bool, meaning: str, *, later: bool = False) -> Option:
    return Option(key=key, kind="boolean", default=default, meaning=meaning, later=later)


def _count(key: str, default: int, low: int | None, high: int | None, meaning: str, *, later: bool = False) -> Option:
    return Option(key=key, kind="integer", default=default, low=low, high=high, meaning=meaning, later=later)


def _ratio(key: str, default: float, meaning: str) -> Option:
    return Option(key=key, kind="number", default=default, above=0, high=1, meaning=meaning)


def _choice(
    key: str,
    default: str,
    choices: tuple[str, ...],
    meaning: str,
    *,
    later: bool = False,
    unbuilt: tuple[str, ...] = (),
) -> Option:
    return Option(
        key=key, kind="text", default=default, choices=choices, meaning=meaning, later=later, later_choices=unbuilt
    )


def _text(key: str, default: str, meaning: str, aliases: tuple[tuple[str, str], ...] = ()) -> Option:
    return Option(key=key, kind="text", default=default, meaning=meaning, aliases=aliases)


def _texts(
    key: str, default: tuple[str, ...], meaning: str, choices: tuple[str, ...] = (), *, later: bool = True
) -> Option:
    return Option(key=key, kind="texts", default=default, meaning=meaning, choices=choices, later=later)


_RETRIEVAL = (
    _switch("retrieval.exact", True, "search identifiers and quoted phrases literally"),
    _switch("retrieval.fts", True, "search topics in the full-text index"),
    _switch("retrieval.semantic", False, "search by vectors as well"),
    _choice(
        "retrieval.ranking", "contextual", ("documented", "contextual"), "which ranking orders the hits",
    ),
    _count("retrieval.maxResults", 12, 1, 100, "most hits of one retrieval"),
    _choice(
        "retrieval.query", "latest", ("latest", "working"), "read the latest request only, or the work around it too",
    ),
    _switch("retrieval.sparing", True, "spend less on evidence the more of the session the model sees"),
    _choice("retrieval.embedding.mode", "local", ("local", "remote"), "where vectors are made"),
    _text(
        "retrieval.embedding.provider", "aforesaid-local", "who makes the vectors",
        aliases=(("ds4-local", "aforesaid-local"),),
    ),
    _text("retrieval.embedding.model", "feature-hash-v1", "which model makes the vectors"),
    _count("retrieval.embedding.dimensions", 256, 16, 4096, "numbers of a vector"),
    _count("retrieval.embedding.maxSources", 50_000, 1, 1_000_000, "most entries that get vectors"),
    _count("retrieval.embedding.candidatePool", 80, 1, 500, "most entries that the vector search finds"),
    _count("retrieval.embedding.batchSize", 64, 1, 512, "texts of one embedding call"),
    _count("retrieval.embedding.queryCacheSize", 64, 1, 1000, "query vectors that stay in memory"),
    _count("retrieval.embedding.timeoutMs", 2000, 1, 120_000, "milliseconds that a call may take"),
    Option(
        key="retrieval.embedding.remoteProfiles", kind="texts", default=(), shape=EXACT_NAME,
        meaning="remote models with consent, as provider/model, no wildcards",
    ),
)  # fmt: skip

_CONTEXT = (
    _choice("context.mode", "managed", ("managed", "observer"), "plan the model's context, or only watch it"),
    _count("context.maxRetrievedHistoryTokens", 16_000, 0, 200_000, "most estimated tokens of one retrieval"),
    _ratio("context.targetFillRatio", 0.7, "part of the model's window that a plan fills"),
    _ratio("context.softLimitRatio", 0.8, "part of the window at which optional content is left out"),
    _ratio("context.hardLimitRatio", 0.9, "part of the window that a plan never exceeds"),
    _count("context.recentTailTokens", 64_000, 0, None, "tokens of recent conversation that a plan keeps"),
    _count("context.maxProjectTokens", 20_000, 0, None, "most tokens of project passages"),
    _count("context.maxSummaryTokens", 12_000, 0, None, "most tokens of summaries"),
    _choice(
        "context.supplementalPlacement", "latest-user", ("latest-user", "stable-prefix", "hybrid"),
        "where a plan puts evidence",
    ),
)  # fmt: skip

_HISTORY = (
    _switch("historyTools.enabled", True, "offer the history tools to models"),
    _count("historyTools.maxResults", 6, 1, 12, "hits of one page of explicit search where no limit is given"),
    _count(
        "historyTools.maxOutputTokens",
        3000,
        256,
        6000,
        "most tokens that `history_recall` and `history_expand` answer; but one hit or line is shown, with up to 700",
    ),
    _choice("historyTools.defaultScope", "current-branch", SCOPES, "where history tools search"),
    _switch("historyTools.allowProjectScope", False, "let explicit search reach all sessions of a project"),
    _switch(
        "historyTools.includeSummaries", False, "whether history tools search summaries where a call does not say it"
    ),
)

_PROJECT = (
    _switch("project.enabled", True, "search the files of a trusted project", later=True),
    _count("project.maxFiles", 10_000, 0, None, "most files that are indexed", later=True),
    _count("project.maxFileBytes", 512_000, 0, None, "longest file that is indexed", later=True),
    _count("project.maxTotalBytes", 50_000_000, 0, None, "most bytes that are indexed", later=True),
    _count("project.snippetLines", 80, 1, None, "most lines of one passage", later=True),
    _count("project.maxResults", 8, 1, 100, "most passages of one retrieval", later=True),
)

_PRIVACY = (
    _switch("privacy.enabled", False, "apply the privacy policy"),
    _choice("privacy.defaultClassification", "normal", CLASSIFICATIONS, "class of text that nothing raises"),
    _texts(
        "privacy.localProviders", ("faux", "ollama", "llama-cpp", "lmstudio"), "providers on this machine", later=False
    ),
    _texts(
        "privacy.remoteDefaultAllowed", ("normal", "internal"), "classes that any remote provider gets",
        CLASSIFICATIONS, later=False,
    ),
    Option(
        key="privacy.remoteProviders", kind="texts-by-name", default=MappingProxyType({}), choices=CLASSIFICATIONS,
        meaning="classes that a named remote provider gets instead",
    ),
    _switch("privacy.redactSecrets", True, "replace secrets in what is handed out"),
    _switch("privacy.redactIndex", True, "replace secrets in what is stored"),
    Option(
        key="privacy.rules", kind="rules", default=(), choices=CLASSIFICATIONS,
        meaning="rules that raise the class of text by project and path",
    ),
    _switch("privacy.shortenPaths", False, "shorten paths in quoted text too"),
)  # fmt: skip

_MEMORY = (
    _switch("memory.enabled", True, "allow the extractive history view"),
    _switch("memory.extractive.enabled", False, "add a view of the lost history to the first call of a run"),
    _text("memory.extractive.provider", "typesafe", "provider of the classifier"),
    _text("memory.extractive.model", "jev-latest", "the classifier"),
    _count("memory.extractive.maxViewBytes", 8192, 1024, 32_768, "longest view, in bytes of UTF-8"),
    _count("memory.extractive.maxCandidates", 128, 1, 256, "most bundles that are considered"),
    _count("memory.extractive.maxSourceChars", 24_000, 256, 100_000, "most text that a classifier is sent"),
    _count("memory.extractive.maxEvaluationsPerTurn", 1, 0, 1, "classifier calls a turn; 0 for none"),
    _count("memory.extractive.timeoutMs", 3000, 100, 10_000, "milliseconds that a classifier may take"),
)  # fmt: skip

_REST = (
    _count("host.timeoutMs", 250, 10, 10_000, "milliseconds that a host waits for an answer"),
    _count("host.firstCallTimeoutMs", 1500, 10, 10_000, "the same for the first call of a session"),
    _count("storage.busyTimeoutMs", 5000, 0, 600_000, "milliseconds to wait for another process's write"),
    _count("storage.maxBytes", 0, 0, None, "most bytes that a store may take; 0 for no limit"),
    _choice("diagnostics.logLevel", "info", ("debug", "info", "warning", "error", "off"), "what is logged", later=True),
    _count("diagnostics.storeManifests", 128, 0, None, "manifests that a store keeps"),
)

OPTIONS: tuple[Option, ...] = (*_RETRIEVAL, *_CONTEXT, *_HISTORY, *_PROJECT, *_PRIVACY, *_MEMORY, *_REST)
"""All options, grouped by section."""

BY_KEY: Mapping[str, Option] = MappingProxyType({option.key: option for option in OPTIONS})
SECTIONS: frozenset[str] = frozenset(
    ".".join(names[:depth]) for names in (key.split(".") for key in BY_KEY) for depth in range(1, len(names))
)
"""Dotted names of the objects that hold options."""

ASCENDING = ("context.targetFillRatio", "context.softLimitRatio", "context.hardLimitRatio")
"""Options of which none may be greater than the next."""


def nearest(name: str) -> str | None:
    """The option or section whose name is most like a wrong one, or None if none is.

    A name without its section stands for all options that end in it.
    """
    from difflib import get_close_matches  # late: only a wrong name needs it

    if "." not in name:
        same = [option.key for option in OPTIONS if option.key.rpartition(".")[2] == name]
        if same:
            return " or ".join(same)
    names = {known.lower(): known for known in (*SECTIONS, *BY_KEY)}
    found = get_close_matches(name.lower(), sorted(names), 1, 0.6)
    if found:
        return names[found[0]]
    last = {option.key.rpartition(".")[2].lower(): option.key for option in reversed(OPTIONS)}
    found = get_close_matches(name.rpartition(".")[2].lower(), sorted(last), 1, 0.7)
    return last[found[0]] if found else None
