"""Floor 4: the policy as a value: the classes of text, and which provider may see which.

`engine` makes one of the configuration; `judge` applies it. Names of providers are compared as they are, without
wildcards. A provider that nobody named, or that no list names, is remote. Nothing lets a remote one see `local-only`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from aforesaid.model import LEVELS

if TYPE_CHECKING:
    from aforesaid.model import Level
    from aforesaid.privacy.rules import Rule


class Providers(Struct, frozen=True, kw_only=True):
    """Who may see what.

    Attributes:
        local: names of providers on this machine; they see everything.
        remote_default: classes that any remote provider may see.
        remote: classes that a named remote provider may see, instead of those. A name that is listed here is remote,
            whatever `local` says.
    """

    local: tuple[str, ...] = ()
    remote_default: tuple[Level, ...] = ("normal", "internal")
    remote: tuple[tuple[str, tuple[Level, ...]], ...] = ()

    def is_local(self, provider: str) -> bool:
        """Whether a provider is on this machine."""
        return bool(provider) and provider in self.local and provider not in dict(self.remote)

    def allowed(self, provider: str) -> frozenset[Level]:
        """The classes that a provider may see."""
        if self.is_local(provider):
            return frozenset(LEVELS)
        return frozenset(dict(self.remote).get(provider, self.remote_default)) - {"local-only"}


class Policy(Struct, frozen=True, kw_only=True):
    """What the configuration says of privacy.

    Attributes:
        enabled: whether anything is withheld at all.
        default: class of text that nothing raises.
        providers: who may see what.
        rules: what raises text by its project and the paths that it names.
        home: the user's folder, which `~` stands for in rules.
    """

    enabled: bool = False
    default: Level = "normal"
    providers: Providers = Providers()
    rules: tuple[Rule, ...] = ()
    home: str | None = None
