"""Floor 8: the parameters of the methods that only a host needs, by name and type. `sessions` reads calls with them."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from aforesaid.hosts.accounts import HostFacts


class Initialize(Struct, frozen=True, kw_only=True):
    """Parameters of `initialize`; a host may add what it wants to be known by.

    Attributes:
        protocol: the version that the host speaks.
        cwd, trusted: as in `session/open`: the settings that are told are those of a session there.
    """

    protocol: int
    cwd: str | None = None
    trusted: bool = False


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of `host/settings`: with an open session, the values that count for it."""

    session: str | None = None


class Open(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Parameters of `session/open`.

    Attributes:
        host: whose session it is.
        session_id: its id.
        file: its transcript, which need not exist yet; None where the host keeps none, and `session/append` brings it.
        cwd: folder that it works in.
        trusted: whether the host's user trusts that folder.
    """

    host: str
    session_id: str
    file: str | None = None
    cwd: str | None = None
    trusted: bool = False


class Named(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of methods that take an open session and nothing else."""

    session: str


class Delta(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a list of entry ids differs from the one before: its first `keep` stay, `add` follow."""

    keep: int = 0
    add: tuple[str, ...] = ()


class Append(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of `session/append`.

    Attributes:
        session: an open session.
        keep: how many lines the service is expected to hold; 0 begins anew.
        add: further lines of a session without a file, the header first, as JSON objects.
    """

    session: str
    keep: int = 0
    add: tuple[dict[str, Any], ...] = ()


class Model(Struct, frozen=True, kw_only=True, rename="camel"):
    """The model that is called."""

    provider: str
    id: str
    context_window: int
    max_tokens: int = 0


class Context(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Parameters of `session/context`.

    Attributes:
        session: an open session.
        leaf: id of the entry whose branch counts.
        request: id of the real user message that the model call is about; None if there is none.
        entries: the entries that the model sees natively.
        model: the model that is called; None counts as a remote one with a window of 128,000 tokens.
        call: the host's number of the call, for `session/withdraw`.
        used_tokens: what the host counted in the model's context, system prompt and tools included, when the agent last
            settled; None if it does not know.
    """

    session: str
    leaf: str | None = None
    request: str | None = None
    entries: Delta = Delta()
    model: Model | None = None
    call: int | None = None
    used_tokens: int | None = None


class Withdraw(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of `session/withdraw`.

    Attributes:
        session: an open session.
        call: the number that `session/context` was told.
        reason: a code of the host: why nothing of the plan went out.
    """

    session: str
    call: int
    reason: str


class Tool(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of `session/tool`.

    Attributes:
        session: the open session that calls.
        name: of the history tool.
        arguments: as the model gave them.
        leaf: id of the entry whose branch counts.
        provider: of the model that called, for the privacy policy; None counts as a remote one.
    """

    session: str
    name: str
    arguments: dict[str, Any] = {}
    leaf: str | None = None
    provider: str | None = None


class Prepare(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Parameters of `session/prepare`.

    Attributes:
        session: an open session.
        leaf: id of the entry that the prompt will hang on.
        prompt: what the run is about to be asked.
        entries: as in `session/context`.
        api: how the classifier of the configuration is talked to; None if the host does not know it.
        time_ms: milliseconds that the host waits in all.
    """

    session: str
    prompt: str
    leaf: str | None = None
    entries: Delta = Delta()
    api: str | None = None
    time_ms: int = 3000


class Rehearse(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of `session/rehearse`.

    Attributes:
        session: an open session.
        leaf: id of the entry that the request will follow.
        request: what the user said, before the host has written it to the transcript.
        model: the model that will be called.
    """

    session: str
    leaf: str
    request: str
    model: Model | None = None


class Show(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of `session/show`.

    Attributes:
        session: an open session.
        topic: what the user wants to know, in the words of `/context`.
        host: what the host knows of itself.
    """

    session: str
    topic: str
    host: HostFacts = HostFacts()
