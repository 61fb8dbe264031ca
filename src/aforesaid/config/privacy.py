"""Floor 7: from the options of the section `privacy` to the policy that `aforesaid.privacy` applies.

`engine` makes one bench and asks it for judges. Values were checked when the configuration was read; one that could not
be read keeps the engine from handing anything out (`Config.privacy_unknown`), so nothing here has to guess.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from aforesaid.config import PRIVACY_UNREADABLE
from aforesaid.privacy.judge import Judge, Readings
from aforesaid.privacy.payload import clear_payload, refuse_supplements
from aforesaid.privacy.policy import Policy, Providers
from aforesaid.privacy.rules import Rules, fixed_part, read_rule
from aforesaid.projects import spellings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.config import Config
    from aforesaid.privacy.payload import Outgoing, Payload
    from aforesaid.privacy.rules import Rule

_PROJECTS = 64
"""Projects whose compiled rules are kept."""


class Bench:
    """The policy of one configuration, and what is remembered from one judge to the next.

    Attributes:
        config: the configuration.
        policy: what it says of privacy.
    """

    def __init__(self, config: Config) -> None:
        """Takes the configuration as it is; a changed one needs a new bench."""
        self.config = config
        self.policy = read_policy(config)
        self._readings = Readings()
        self._rules: dict[tuple[str, ...], Rules] = {}
        self._led: tuple[Rule, ...] | None = None

    def clear(self, messages: Sequence[Outgoing], provider: str, project: str | None) -> Payload:
        """The final messages of a call, as the provider may see them.

        While the policy is not known nothing of ours goes out, and the host's own messages go as they are: whether
        anything in them is to be withheld is not known either.
        """
        judge = self.judge(provider, project)
        if not self.config.privacy_unknown:
            return clear_payload(messages, judge)
        return refuse_supplements(messages, judge, PRIVACY_UNREADABLE)

    def judge(self, provider: str, project: str | None) -> Judge:
        """Who says what of a session that worked in a folder a provider may see.

        A folder is in the project that a rule names if it is by its path as it is written or as its links lead
        (`aforesaid.projects`); so is what the rule names. Links of folders are followed each time, those of rules once.
        """
        folders = () if project is None else (project, *self._links_of(project))
        rules = self._rules.get(folders)
        if rules is None:
            if len(self._rules) >= _PROJECTS:
                self._rules.clear()
            if self._led is None:
                self._led = lead(self.policy)
            rules = Rules(self._led, project=project, home=self.policy.home, links=folders[1:])
            self._rules[folders] = rules
        return Judge(self.policy, provider=provider, project=project, rules=rules, readings=self._readings)

    def _links_of(self, project: str) -> tuple[str, ...]:
        """Other paths of a folder, if a rule may know it by one."""
        return spellings(project) if self.policy.enabled and self.policy.rules else ()


def lead(policy: Policy) -> tuple[Rule, ...]:
    """The rules of a policy, and those about projects once more as the links in their folders lead."""
    found = list(policy.rules)
    for rule in policy.rules:
        fixed, rest = ("", "") if rule.project is None else fixed_part(rule.project, policy.home)
        if fixed:
            found += [replace(rule, project=path + rest) for path in spellings(fixed)[1:]]
    return tuple(found)


def read_policy(config: Config) -> Policy:
    """The policy of a configuration."""
    found: dict[str, Any] = {setting.key: setting.value for setting in config.settings}
    return Policy(
        enabled=found["privacy.enabled"],
        default=found["privacy.defaultClassification"],
        providers=Providers(
            local=found["privacy.localProviders"],
            remote_default=found["privacy.remoteDefaultAllowed"],
            remote=tuple(found["privacy.remoteProviders"].items()),
        ),
        rules=tuple(rule for item in found["privacy.rules"] if (rule := read_rule(item)) is not None),
        home=os.path.expanduser("~"),
    )
