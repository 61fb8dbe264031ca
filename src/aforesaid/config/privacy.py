"""Floor 7: from the options of the section `privacy` to the policy that `aforesaid.privacy` applies.

`engine` makes one bench and asks it for judges. Values were checked when the configuration was read; one that could not
be read keeps the engine from handing anything out (`Config.privacy_unknown`), so nothing here has to guess.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from aforesaid.privacy.judge import Judge, Readings
from aforesaid.privacy.policy import Policy, Providers
from aforesaid.privacy.rules import Rules, read_rule

if TYPE_CHECKING:
    from aforesaid.config import Config

_PROJECTS = 64
"""Projects whose compiled rules are kept."""


class Bench:
    """The policy of one configuration, and what is remembered from one judge to the next."""

    def __init__(self, config: Config) -> None:
        """Takes the configuration as it is; a changed one needs a new bench."""
        self.policy = read_policy(config)
        self._readings = Readings()
        self._rules: dict[str | None, Rules] = {}

    def judge(self, provider: str, project: str | None) -> Judge:
        """Who says what of a session that worked in a folder a provider may see."""
        rules = self._rules.get(project)
        if rules is None:
            if len(self._rules) >= _PROJECTS:
                self._rules.clear()
            rules = Rules(self.policy.rules, project=project, home=self.policy.home)
            self._rules[project] = rules
        return Judge(self.policy, provider=provider, project=project, rules=rules, readings=self._readings)


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
