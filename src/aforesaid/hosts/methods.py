"""Floor 8: the commands as methods of the service: parameters by name in, the documents of `--json` out.

`cli/serve` hands the table to `jsonrpc`. A method has the name of its command, and its parameters are the flags of the
command in camelCase; paths are relative to the service's folder. What only a host needs is in `sessions`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from aforesaid import __version__
from aforesaid.config import Config, user_file
from aforesaid.config.layers import parse, unknown
from aforesaid.config.table import BY_KEY
from aforesaid.engine import Caller
from aforesaid.errors import BadArgument
from aforesaid.expansion import read_range
from aforesaid.hosts import HOSTS, folders_with_sessions, wire, wire_upkeep

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aforesaid.engine import Engine
    from aforesaid.hosts.jsonrpc import Call, Method, Params

    Form = TypeVar("Form")


SERVICE = Caller(name="service", model=True, refs_last=86_400)
"""Whoever talks to the service asks for a model. Its refs expire after a day."""


class Retrieve(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Parameters of `retrieve`."""

    session: str
    leaf: str | None = None
    query: str | None = None
    context_entries: tuple[str, ...] | None = None
    provider: str | None = None


class Plan(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Parameters of `plan`."""

    session: str
    context_window: int
    leaf: str | None = None
    query: str | None = None
    model: str | None = None
    output_reserve: int | None = None


class Index(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of `index`."""

    paths: tuple[str, ...] = ()
    all: bool = False
    host: str | None = None


class Sessions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of `sessions`."""

    project: str | None = None
    host: str | None = None


class Rebuild(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of `rebuild`."""

    session: str | None = None


class Forget(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Parameters of `forget`."""

    session: str | None = None
    project: str | None = None
    entry: tuple[str, ...] = ()
    text: str | None = None
    after: str | None = None
    before: str | None = None
    dry_run: bool = False
    verify: bool = False
    yes: bool = False


class Configure(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of `config`. A text is read as on the command line, every other value is taken as it is.

    With an open session, what is shown is what counts for it.
    """

    action: str = "show"
    key: str | None = None
    value: Any = msgspec.UNSET
    session: str | None = None


class Recall(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of `recall`; the engine says what is allowed."""

    session: str | None = None
    query: str = ""
    leaf: str | None = None
    scope: Any = "current-branch"
    role: tuple[Any, ...] = ()
    tool: str | None = None
    file: str | None = None
    type: Any = None
    after: str | None = None
    before: str | None = None
    mode: Any = "literal"
    match: Any = "all"
    summaries: bool = False
    limit: int | None = None
    cursor: str | None = None
    provider: str | None = None
    trusted: bool = False


class Expand(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Parameters of `expand`."""

    ref: str | None = None
    session: str | None = None
    entry: tuple[str, ...] = ()
    range: str | None = None
    leaf: str | None = None
    before: int = 0
    after: int = 0
    start_line: int = 1
    max_lines: int | None = None
    cursor: str | None = None
    provider: str | None = None


class Lost(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of `lost`."""

    session: str
    leaf: str | None = None
    compaction: int | None = None
    provider: str | None = None


class View(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Parameters of `view`."""

    session: str
    leaf: str | None = None
    query: str | None = None
    context_entries: tuple[str, ...] | None = None
    explain: bool = False
    provider: str | None = None


class Nothing(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of methods that take none."""


def read_params(params: Params, form: type[Form]) -> Form:
    """The parameters of a call in their form.

    Raises:
        BadArgument: a name is unknown, a value is missing or of another type.
    """
    try:
        return msgspec.convert(params, form)
    except msgspec.ValidationError as error:
        raise BadArgument(f"the parameters do not fit: {error}", "see docs/serve.md") from error
    except UnicodeError as error:  # a lone surrogate where the parser wants to say what it found
        raise BadArgument("the parameters do not fit: a text where none belongs", "see docs/serve.md") from error


def check_path(path: str) -> str:
    """The same path, or session id.

    Raises:
        BadArgument: no system could have such a file.
    """
    try:
        encoded = os.fsencode(path)
    except UnicodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise BadArgument(f"{path!r} cannot be the name of a file", "check the path")
    return path


class Commands:
    """The commands on one engine.

    Attributes:
        engine: what all methods ask.
    """

    def __init__(self, engine: Engine, reload: Callable[[], Config]) -> None:
        """Takes the engine, and what reads its configuration again after a change of the user's file."""
        self.engine = engine
        self._reload = reload

    def table(self) -> dict[str, Method]:
        """A function a method."""
        return {
            "retrieve": self._retrieve,
            "plan": self._plan,
            "lost": self._lost,
            "view": self._view,
            "recall": self._recall,
            "expand": self._expand,
            "index": self._index,
            "sessions": self._sessions,
            "status": self._status,
            "rebuild": self._rebuild,
            "forget": self._forget,
            "config": self._config,
        }

    def _retrieve(self, params: Params, call: Call) -> object:
        del call
        asked = read_params(params, Retrieve)
        found = self.engine.retrieve(
            session=check_path(asked.session),
            leaf=asked.leaf,
            query=asked.query,
            context_entries=asked.context_entries,
            provider=asked.provider,
        )
        return wire.retrieval(found)

    def _recall(self, params: Params, call: Call) -> object:
        del call
        asked = read_params(params, Recall)
        page = self.engine.recall(
            asked.query,
            session=asked.session and check_path(asked.session),
            leaf=asked.leaf,
            scope=asked.scope,
            mode=asked.mode,
            match=asked.match,
            roles=asked.role,
            types=() if asked.type is None else (asked.type,),
            tool=asked.tool,
            file=asked.file,
            after=asked.after,
            before=asked.before,
            summaries=asked.summaries,
            limit=asked.limit,
            cursor=asked.cursor,
            provider=asked.provider,
            caller=replace(SERVICE, trusted=asked.trusted),
        )
        return wire.recall(page)

    def _expand(self, params: Params, call: Call) -> object:
        del call
        asked = read_params(params, Expand)
        first, last = (None, None) if asked.range is None else read_range(asked.range)
        answer = self.engine.expand(
            asked.ref,
            session=asked.session and check_path(asked.session),
            entries=asked.entry,
            first=first,
            last=last,
            leaf=asked.leaf,
            before=asked.before,
            after=asked.after,
            start_line=asked.start_line,
            max_lines=asked.max_lines,
            cursor=asked.cursor,
            provider=asked.provider,
            caller=SERVICE,
        )
        return wire.expand(answer)

    def _plan(self, params: Params, call: Call) -> object:
        del call
        asked = read_params(params, Plan)
        made = self.engine.plan(
            session=check_path(asked.session),
            context_window=asked.context_window,
            query=asked.query,
            leaf=asked.leaf,
            model=asked.model,
            output_reserve=asked.output_reserve,
        )
        return wire.plan(made)

    def _lost(self, params: Params, call: Call) -> object:
        del call
        asked = read_params(params, Lost)
        report = self.engine.lost(
            session=check_path(asked.session), leaf=asked.leaf, compaction=asked.compaction, provider=asked.provider
        )
        return wire.lost(report)

    def _view(self, params: Params, call: Call) -> object:
        del call
        asked = read_params(params, View)
        made = self.engine.view(
            session=check_path(asked.session),
            leaf=asked.leaf,
            query=asked.query,
            context_entries=asked.context_entries,
            provider=asked.provider,
        )
        return wire.view(made, explain=asked.explain)

    def _index(self, params: Params, call: Call) -> object:
        asked = read_params(params, Index)
        if asked.all and asked.paths:
            raise BadArgument("both paths and all were given", "name paths, or say all")
        _check_host(asked.host)
        paths: Sequence[str] = folders_with_sessions(asked.host) if asked.all else tuple(map(check_path, asked.paths))
        if not paths:
            raise BadArgument("nothing to index was named", "name files or folders, or say all")
        return wire_upkeep.index(self.engine.index(*paths, host=asked.host, progress=call.progress, lenient=asked.all))

    def _sessions(self, params: Params, call: Call) -> object:
        del call
        asked = read_params(params, Sessions)
        _check_host(asked.host)
        return wire_upkeep.sessions(
            self.engine.sessions(project=asked.project and check_path(asked.project), host=asked.host)
        )

    def _status(self, params: Params, call: Call) -> object:
        del call
        read_params(params, Nothing)
        return wire_upkeep.status(self.engine.status(), self.engine.config, __version__)

    def _rebuild(self, params: Params, call: Call) -> object:
        asked = read_params(params, Rebuild)
        return wire_upkeep.rebuild(
            self.engine.rebuild(session=asked.session and check_path(asked.session), progress=call.progress)
        )

    def _forget(self, params: Params, call: Call) -> object:
        asked = read_params(params, Forget)
        names = (asked.session, asked.project, asked.entry, asked.text, asked.after, asked.before)
        if any(names) and not (asked.dry_run or asked.yes):
            raise BadArgument("this needs a confirmation", "say yes, or see first what would go with dryRun")
        report = self.engine.forget(
            session=asked.session and check_path(asked.session),
            project=asked.project and check_path(asked.project),
            entries=asked.entry,
            text=asked.text,
            after=asked.after,
            before=asked.before,
            dry_run=asked.dry_run,
            verify=asked.verify,
            progress=call.progress,
        )
        return wire_upkeep.forgotten(report)

    def _config(self, params: Params, call: Call) -> object:
        del call
        asked = read_params(params, Configure)
        wanted = {"show": 0, "get": 1, "set": 2, "schema": 0, "path": 0}.get(asked.action)
        if wanted is None:
            raise BadArgument(f"there is no action {asked.action}", "show, get, set, schema or path")
        if (asked.key is not None) + (asked.value is not msgspec.UNSET) != wanted or (wanted and asked.key is None):
            takes = " and ".join(("key", "value")[:wanted]) or "neither key nor value"
            raise BadArgument(f"config {asked.action} takes {takes}", "see docs/serve.md")
        if asked.key is not None and asked.key not in BY_KEY:
            raise unknown(asked.key)
        if asked.action == "schema":
            from aforesaid.config.schema import schema  # late: for this action only

            return schema()
        if asked.action == "path":
            return wire_upkeep.config_path(user_file(), exists=os.path.exists(user_file()))
        if asked.action == "set":
            from aforesaid.config.writing import write_setting  # late: for this action only

            write_setting(str(asked.key), parse(asked.value) if isinstance(asked.value, str) else asked.value)
            self.engine.config = self._reload()
        config = self.engine.config
        chosen = config.settings if asked.key is None else (config.setting(asked.key),)
        withheld = self.engine.withheld() if asked.action == "show" else None
        return wire_upkeep.config(user_file(), chosen, config, withheld=withheld)


def _check_host(host: str | None) -> None:
    if host is not None and host not in HOSTS:
        raise BadArgument(f"there is no host {host}", f"choose one of {', '.join(HOSTS)}")
