"""Floor 8: what only a host needs: its open sessions, told by deltas, and what a model call of one should carry.

`cli/serve` puts these methods beside the commands. A host opens a session, says what was added to it, and asks before
each model call; the answer names messages to insert and where. Retrieval and its limits are the engine's; what comes
back is only ever evidence that `engine` returned. `docs/serve.md` describes the protocol.
"""

from __future__ import annotations

import os
from functools import partial
from json import dumps
from typing import TYPE_CHECKING, Any, Final

from aforesaid import __version__
from aforesaid.config.table import BY_KEY
from aforesaid.errors import BadArgument, SessionNotFound
from aforesaid.hosts import HOSTS, wire
from aforesaid.hosts.accounts import Known, tell
from aforesaid.hosts.carried import carry
from aforesaid.hosts.clearing import Clear, clear, tell_policy
from aforesaid.hosts.forms import (
    Append,
    Context,
    Initialize,
    Model,
    Named,
    Open,
    Prepare,
    Rehearse,
    Settings,
    Show,
    Tool,
    Withdraw,
)
from aforesaid.hosts.jsonrpc import MAX_LINE
from aforesaid.hosts.methods import Nothing, check_path, read_params
from aforesaid.hosts.opened import Opened

if TYPE_CHECKING:
    from collections.abc import Callable

    from aforesaid.engine import Engine
    from aforesaid.hosts.jsonrpc import Call, Method, Params
    from aforesaid.hosts.views import Views
    from aforesaid.hosts.watching import Place
    from aforesaid.planning.values import Plan

HELD: Final = "memory:"
"""Begins the names of sessions without a file."""
MAIN_OPTIONS: Final = (
    *("retrieval.exact", "retrieval.fts", "retrieval.maxResults", "context.mode", "context.maxRetrievedHistoryTokens"),
    *("context.supplementalPlacement", "context.targetFillRatio", "context.softLimitRatio", "context.hardLimitRatio"),
    *("historyTools.enabled", "privacy.enabled", "privacy.redactSecrets"),
    *("host.timeoutMs", "host.firstCallTimeoutMs"),
)
"""What `/context settings` offers; options that do nothing in this version are left out."""
_WINDOW: Final = 128_000
_NOT_ASKED: Final = "no-request"
_NO_TRANSCRIPT: Final = "no-transcript"
PROTOCOL: Final = 1
"""Version of the methods in this module; a change that an older host would misread is a new number."""


def _nobody(method: str, params: dict[str, Any], then: Callable[[object], None]) -> None:
    """A host that cannot be asked."""
    del method, params
    then(None)


class Sessions:
    """The open sessions of one service."""

    def __init__(
        self,
        engine: Engine,
        end: Callable[[], None],
        *,
        ask: Callable[[str, dict[str, Any], Callable[[object], None]], None] = _nobody,
    ) -> None:
        """Takes the engine that is asked.

        Args:
            engine: of all sessions with a file.
            end: ends the service.
            ask: asks the host for something.
        """
        self._engine = engine
        self._end = end
        self._ask_host = ask
        self._counting = engine.config
        self._known_views: Views | None = None
        self._memory: Engine | None = None
        self._opened: dict[str, Opened] = {}
        self._methods: tuple[str, ...] = ()

    def table(self, commands: dict[str, Method]) -> dict[str, Method]:
        """All methods of the service: these and the commands."""
        methods: dict[str, Method] = {
            "initialize": self._initialize,
            **commands,
            "session/open": self._open,
            "session/append": self._append,
            "session/rehearse": self._rehearse,
            "session/context": self._context,
            "session/withdraw": self._withdraw,
            "session/tool": self._tool,
            "session/clear": self._clear,
            "session/prepare": self._prepare,
            "session/report": self._report,
            "session/show": self._show,
            "session/close": self._close,
            "host/settings": self._settings,
            "shutdown": self._shutdown,
        }
        self._methods = tuple(methods)
        return methods

    def place_of(self, params: Params) -> Place | None:
        """Where the session works that a call is about; None for calls about none that is open."""
        cwd, name = params.get("cwd"), params.get("session")
        if isinstance(cwd, str):
            return _place(cwd, params.get("trusted") is True)
        opened = self._opened.get(name) if isinstance(name, str) else None
        return None if opened is None else _place(opened.told.cwd, opened.told.trusted)

    def _initialize(self, params: Params, call: Call) -> object:
        del call
        asked = read_params(params, Initialize)
        if asked.protocol != PROTOCOL:
            raise BadArgument(f"protocol {asked.protocol} is not spoken here", f"speak protocol {PROTOCOL}")
        config = self._engine.config
        return {
            "schema": "aforesaid.serve/1",
            "protocol": PROTOCOL,
            "server": {"name": "aforesaid", "version": __version__},
            "methods": list(self._methods),
            "maxLineBytes": MAX_LINE,
            "host": {
                "timeoutMs": config.integer("host.timeoutMs"),
                "firstCallTimeoutMs": config.integer("host.firstCallTimeoutMs"),
            },
            "historyTools": {"enabled": config.boolean("historyTools.enabled")},
            "view": self._view_settings(),
            "files": list(config.files),
            "warnings": list(config.warnings),
        }

    def _open(self, params: Params, call: Call) -> object:
        asked = read_params(params, Open)
        if asked.host not in HOSTS:
            raise BadArgument(f"there is no host {asked.host}", f"choose one of {', '.join(HOSTS)}")
        if asked.file is None:
            handle = HELD + asked.session_id
            opened = Opened(handle, None, asked)
        else:
            handle = os.path.abspath(check_path(asked.file))
            opened = Opened(handle, handle, asked)
            call.afterwards = partial(self._tend, opened, handle, call)
        self._opened[handle] = opened
        return {"session": handle, "entries": self._sync(opened)}

    def _tend(self, opened: Opened, file: str, call: Call) -> None:
        """Gets a session ready for the next question, until something is asked."""
        while self._engine.tend(file) and call.quiet():
            pass
        self._warm(opened, file, call)

    def _warm(self, opened: Opened, file: str, call: Call) -> None:
        """Loads once what questions will need. The first one often comes before there was time for that."""
        if not opened.warm and call.quiet() and os.path.isfile(file):
            opened.warm = True
            self._engine.warm(file, call.quiet)

    def _append(self, params: Params, call: Call) -> object:
        asked = read_params(params, Append)
        opened = self._find(asked.session)
        if opened.file is not None:
            if asked.add:
                raise BadArgument("the session has a file, which is read", "send no lines")
            call.afterwards = partial(self._tend, opened, opened.file, call)
            return {"entries": self._sync(opened)}
        if asked.keep not in (0, opened.lines):
            raise BadArgument(f"keep is {asked.keep}, and {opened.lines} lines are known", "send all with keep 0")
        engine = self._in_memory()
        if asked.keep == 0:
            engine.drop(opened.handle)
        opened.lines = asked.keep + len(asked.add)
        lines = b"".join(dumps(line).encode() + b"\n" for line in asked.add)
        return {"entries": engine.hold(opened.handle, lines).entries}

    def _in_memory(self) -> Engine:
        """The engine of sessions without a file."""
        from aforesaid.engine import Engine  # late: most sessions have one

        if self._memory is None:
            self._memory = Engine.in_memory(self._engine.config)
        self._memory.config = self._engine.config
        return self._memory

    def _engine_of(self, opened: Opened) -> Engine:
        return self._engine if opened.file is not None else self._in_memory()

    def _sync(self, opened: Opened) -> int:
        """Brings a session up to date ahead of the model call that will need it; its number of entries."""
        if opened.file is None or not os.path.isfile(opened.file):
            return 0  # a host writes the file with the first message
        return self._engine.refresh(opened.file).entries

    def _rehearse(self, params: Params, call: Call) -> object:
        """Uses the time that a host takes before it asks what its call should carry."""
        del call
        asked = read_params(params, Rehearse)
        opened = self._find(asked.session)
        if opened.file is None or not os.path.isfile(opened.file):
            return {"ready": False}
        if opened.last is not None and opened.last.omitted:
            return {"ready": False}  # what a plan leaves out is not known before it, and counts
        ready = self._engine.rehearse(
            session=opened.handle,
            leaf=asked.leaf,
            request=asked.request,
            context_entries=opened.context,
            model=_name(asked.model),
        )
        return {"ready": ready}

    def _prepare(self, params: Params, call: Call) -> object:
        """Gets the history view of a run ready, before its first call is asked about."""
        del call
        asked = read_params(params, Prepare)
        opened = self._find(asked.session)
        self._see_changes()
        opened.update(asked.entries)
        engine = self._engine_of(opened)
        if not engine.views_wanted:
            return {"schema": "aforesaid.prepare/1", "status": "off"}
        if not opened.there:
            return {"schema": "aforesaid.prepare/1", "status": _NO_TRANSCRIPT}
        told = self._views.prepare(
            engine,
            opened.handle,
            prompt=asked.prompt,
            leaf=asked.leaf,
            context=opened.context,
            api=asked.api,
            time_ms=asked.time_ms,
        )
        return {"schema": "aforesaid.prepare/1", "status": told}

    @property
    def _views(self) -> Views:
        if self._known_views is None:
            from aforesaid.hosts.views import Views  # late: only where views are wanted

            self._known_views = Views(self._ask_host)
        return self._known_views

    def _see_changes(self) -> None:
        """Lets nothing count of a classifier's work that was begun under another configuration."""
        if self._engine.config is not self._counting:
            self._counting = self._engine.config
            if self._known_views is not None:
                self._known_views.change()

    def _view_settings(self) -> dict[str, Any] | None:
        """What a host has to know of views; None if none are wanted, and it has nothing to do."""
        if not self._engine.views_wanted:
            return None
        config = self._engine.config
        return {
            "classifier": None
            if config.integer("memory.extractive.maxEvaluationsPerTurn") < 1
            else {
                "provider": config.text("memory.extractive.provider"),
                "model": config.text("memory.extractive.model"),
            },
            "timeoutMs": config.integer("memory.extractive.timeoutMs"),
        }

    def _context(self, params: Params, call: Call) -> object:
        asked = read_params(params, Context)
        opened = self._find(asked.session)
        self._see_changes()
        opened.update(asked.entries)
        used = opened.used(asked)
        opened.call = asked.call
        if asked.request is None or not opened.there:
            opened.last = None
            opened.view = None
            policy = tell_policy(self._engine, None if asked.model is None else asked.model.provider)
            return carry(_NOT_ASKED if asked.request is None else _NO_TRANSCRIPT) | {"policy": policy}
        engine, model = self._engine_of(opened), asked.model
        views = self._views if engine.views_wanted else None
        made = engine.plan(
            session=opened.handle,
            leaf=asked.leaf,
            context_window=_WINDOW if model is None else model.context_window,
            context_entries=opened.context,
            model=_name(model),
            output_reserve=None if model is None else _reserve(model),
            used_tokens=used,
            keep=False,
            salience=None if views is None else views.salience(engine, opened.handle),
        )
        opened.last = made
        opened.view = engine.last_view
        told = carry(made) | {"policy": tell_policy(engine, None if model is None else model.provider)}
        call.afterwards = partial(self._follow_up, engine, opened, made, call)
        if views is not None:
            told["view"] = {
                "settings": self._view_settings(),
                "usage": views.usage(opened.handle),
                "diagnostics": None if opened.view is None else wire.view_diagnostics(opened.view),
            }
        return told

    def _follow_up(self, engine: Engine, opened: Opened, made: Plan, call: Call) -> None:
        """What nobody waits for: the record of a plan, and what later questions need, while the model answers."""
        engine.keep_manifest(made, session=opened.handle)
        # With a policy the final messages are judged next, and that should not wait.
        if opened.file is not None and not engine.config.boolean("privacy.enabled"):
            self._warm(opened, opened.file, call)

    def _clear(self, params: Params, call: Call) -> object:
        asked = read_params(params, Clear)
        opened = self._find(asked.session)
        engine = self._engine_of(opened)
        told, withheld = clear(engine, asked)
        if withheld and opened.last is not None:
            from aforesaid.planning.manifest import leave_out  # late: seldom is anything withheld as late as here

            old, opened.last = opened.last, leave_out(opened.last, withheld)
            call.afterwards = partial(engine.amend_manifest, old, opened.last, session=opened.handle)
        return told

    def _withdraw(self, params: Params, call: Call) -> object:
        """Nothing of the last plan went out: its record says so."""
        asked = read_params(params, Withdraw)
        opened = self._find(asked.session)
        if opened.last is None or opened.last.status == "native" or opened.call != asked.call:
            return {"withdrawn": False}
        from aforesaid.planning.manifest import withdraw  # late: few plans come too late

        old, opened.last = opened.last, withdraw(opened.last, asked.reason)
        opened.call = None
        call.afterwards = partial(self._engine_of(opened).amend_manifest, old, opened.last, session=opened.handle)
        return {"withdrawn": True}

    def _tool(self, params: Params, call: Call) -> object:
        del call
        from aforesaid.hosts.tools import Origin, consult  # late: few requests call a tool

        asked = read_params(params, Tool)
        opened = self._find(asked.session)
        known = opened.told
        origin = Origin(
            session=opened.handle, session_id=known.session_id, folder=known.cwd, trusted=known.trusted,
            held=opened.file is None,
        )  # fmt: skip
        engine = self._engine_of(opened)
        told = consult(engine, origin, asked.name, asked.arguments, leaf=asked.leaf, provider=asked.provider)
        return told | {"policy": tell_policy(engine, asked.provider)}

    def _report(self, params: Params, call: Call) -> object:
        del call
        opened = self._find(read_params(params, Named).session)
        found = None if opened.last is None else opened.last.retrieval
        return {
            "schema": "aforesaid.report/1",
            "session": opened.handle,
            "contextEntries": len(opened.context),
            "retrieval": None if found is None else wire.retrieval(found),
            "manifest": None if opened.last is None else wire.manifest(opened.last.manifest),
        }

    def _show(self, params: Params, call: Call) -> object:
        asked = read_params(params, Show)
        opened = self._find(asked.session)
        if asked.topic == "rebuild-index":
            return {"text": self._rebuild(opened, call)}
        known = Known(
            session=opened.handle,
            entries=len(opened.context),
            last=opened.last,
            facts=asked.host,
            config=self._engine.config,
            store=self._engine_of(opened).status,
            withheld=self._engine_of(opened).withheld,
            view=opened.view,
        )
        return {"text": tell(asked.topic, known)}

    def _rebuild(self, opened: Opened, call: Call) -> str:
        if opened.file is None:
            return "the session has no file; what is known of it is in memory and never stale"
        (report,) = self._engine.rebuild(session=opened.file, progress=call.progress).sessions
        if report.error is not None:
            return f"the index could not be rebuilt: {report.error}"
        return f"the index of this session was rebuilt: {report.added:,} entries"

    def _settings(self, params: Params, call: Call) -> object:
        """The options that a user changes in a dialog, with what a dialog needs to ask for them."""
        del call
        read_params(params, Settings)
        config = self._engine.config
        options = [BY_KEY[key] for key in MAIN_OPTIONS if key not in config.not_in_this_version]
        return {
            "options": [
                {
                    "key": option.key,
                    "value": config.get(option.key),
                    "meaning": option.meaning,
                    "allowed": option.allowed,
                    "choices": ["true", "false"] if option.kind == "boolean" else list(option.choices) or None,
                }
                for option in options
            ]
        }

    def _close(self, params: Params, call: Call) -> object:
        del call
        opened = self._find(read_params(params, Named).session)
        del self._opened[opened.handle]
        if self._known_views is not None:
            self._known_views.close(opened.handle)
        if opened.file is None:
            self._in_memory().drop(opened.handle)
        return {"session": opened.handle}

    def _shutdown(self, params: Params, call: Call) -> object:
        del call
        read_params(params, Nothing)
        self._end()
        return None

    def _find(self, handle: str) -> Opened:
        opened = self._opened.get(handle)
        if opened is None:
            raise SessionNotFound(f"no open session {handle}", "open it with session/open")
        return opened


def _place(folder: str | None, trusted: bool) -> Place | None:
    """A folder that a host names by its whole path; anything else is no place."""
    return (folder, trusted) if folder and "\0" not in folder and os.path.isabs(folder) else None


def _name(model: Model | None) -> str | None:
    return None if model is None else f"{model.provider}/{model.id}"


def _reserve(model: Model) -> int | None:
    """Tokens for the answer: what the model may give at most, if that is little; models name what no answer needs."""
    return model.max_tokens if 0 < model.max_tokens <= model.context_window // 10 else None
