"""Floor 8: what only a host needs: its open sessions, told by deltas, and what a model call of one should carry.

`cli/serve` puts these methods beside the commands. A host opens a session, says what was added to it, and asks before
each model call; the answer names messages to insert and where. Retrieval and its limits are the engine's; what comes
back is only ever evidence that `engine` returned. `docs/serve.md` describes the protocol.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from aforesaid import __version__
from aforesaid.errors import BadArgument, SessionNotFound
from aforesaid.hosts import HOSTS, wire
from aforesaid.hosts.jsonrpc import MAX_LINE
from aforesaid.hosts.methods import Nothing, check_path, read_params

if TYPE_CHECKING:
    from collections.abc import Callable

    from aforesaid.engine import Engine
    from aforesaid.hosts.jsonrpc import Call, Method, Params
    from aforesaid.model import Retrieval

PROTOCOL: Final = 1
"""Version of the methods in this module; a change that an older host would misread is a new number."""


class Initialize(Struct, frozen=True, kw_only=True):
    """Parameters of `initialize`; a host may add what it wants to be known by."""

    protocol: int


class Open(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Parameters of `session/open`.

    Attributes:
        host: whose session it is.
        session_id: its id.
        file: its transcript, which need not exist yet.
    """

    host: str
    session_id: str
    file: str


class Named(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of methods that take an open session and nothing else."""

    session: str


class Delta(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a list of entry ids differs from the one before: its first `keep` stay, `add` follow."""

    keep: int = 0
    add: tuple[str, ...] = ()


class Context(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Parameters of `session/context`.

    Attributes:
        session: an open session.
        leaf: id of the entry whose branch counts.
        request: id of the real user message that the model call is about; None if there is none.
        entries: the entries that the model sees natively.
        provider: who is called, for the privacy policy; None counts as a remote one.
    """

    session: str
    leaf: str | None = None
    request: str | None = None
    entries: Delta = Delta()
    provider: str | None = None


class _Opened:
    """An open session: what the host has told of it so far, and what it was answered last."""

    __slots__ = ("context", "file", "last")

    def __init__(self, file: str) -> None:
        self.file = file
        self.context: tuple[str, ...] = ()
        self.last: Retrieval | None = None


class Sessions:
    """The open sessions of one service."""

    def __init__(self, engine: Engine, end: Callable[[], None]) -> None:
        """Takes the engine that is asked, and what ends the service."""
        self._engine = engine
        self._end = end
        self._opened: dict[str, _Opened] = {}
        self._methods: tuple[str, ...] = ()

    def table(self, commands: dict[str, Method]) -> dict[str, Method]:
        """All methods of the service: these and the commands."""
        methods: dict[str, Method] = {
            "initialize": self._initialize,
            **commands,
            "session/open": self._open,
            "session/append": self._append,
            "session/context": self._context,
            "session/report": self._report,
            "session/close": self._close,
            "shutdown": self._shutdown,
        }
        self._methods = tuple(methods)
        return methods

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
            "warnings": list(config.warnings),
        }

    def _open(self, params: Params, call: Call) -> object:
        asked = read_params(params, Open)
        if asked.host not in HOSTS:
            raise BadArgument(f"there is no host {asked.host}", f"choose one of {', '.join(HOSTS)}")
        handle = os.path.abspath(check_path(asked.file))
        self._opened[handle] = _Opened(handle)
        return {"session": handle, "entries": self._sync(handle, call)}

    def _append(self, params: Params, call: Call) -> object:
        opened = self._find(read_params(params, Named).session)
        return {"entries": self._sync(opened.file, call)}

    def _sync(self, file: str, call: Call) -> int:
        """Brings a session up to date ahead of the model call that will need it; its number of entries."""
        if not os.path.isfile(file):
            return 0  # a host writes the file with the first message
        (report,) = self._engine.index(file, progress=call.progress).sessions
        return report.session.entries if report.session is not None else 0

    def _context(self, params: Params, call: Call) -> object:
        del call
        asked = read_params(params, Context)
        opened = self._find(asked.session)
        delta = asked.entries
        if not 0 <= delta.keep <= len(opened.context):
            raise BadArgument(
                f"keep is {delta.keep}, and {len(opened.context)} entries are known", "send all of them with keep 0"
            )
        opened.context = (*opened.context[: delta.keep], *delta.add)
        if asked.request is None or not os.path.isfile(opened.file):
            opened.last = None
            return _carry("native", "no-request" if asked.request is None else "no-transcript")
        found = self._engine.retrieve(
            session=opened.file, leaf=asked.leaf, context_entries=opened.context, provider=asked.provider
        )
        opened.last = found
        if found.status != "complete":
            return _carry("native", found.status, found)
        return _carry("planned", "", found, before=asked.request)

    def _report(self, params: Params, call: Call) -> object:
        del call
        opened = self._find(read_params(params, Named).session)
        return {
            "schema": "aforesaid.report/1",
            "session": opened.file,
            "contextEntries": len(opened.context),
            "retrieval": None if opened.last is None else wire.retrieval(opened.last),
        }

    def _close(self, params: Params, call: Call) -> object:
        del call
        opened = self._find(read_params(params, Named).session)
        del self._opened[opened.file]
        return {"session": opened.file}

    def _shutdown(self, params: Params, call: Call) -> object:
        del call
        read_params(params, Nothing)
        self._end()
        return None

    def _find(self, handle: str) -> _Opened:
        opened = self._opened.get(handle)
        if opened is None:
            raise SessionNotFound(f"no open session {handle}", "open it with session/open")
        return opened


def _carry(status: str, reason: str, found: Retrieval | None = None, before: str | None = None) -> dict[str, Any]:
    """`aforesaid.context/1`: what to insert before a model call, in order: the best nearest to the request."""
    hits = () if found is None or before is None else tuple(reversed(found.hits))
    return {
        "schema": "aforesaid.context/1",
        "status": status,
        "reason": reason,
        "messages": [
            {
                "role": "user",
                "content": hit.message,
                "source": "evidence",
                "entryId": hit.ranked.candidate.entry.id,
                "before": before,
            }
            for hit in hits
        ],
        "diagnostics": None if found is None else wire.diagnostics(found.diagnostics),
    }
