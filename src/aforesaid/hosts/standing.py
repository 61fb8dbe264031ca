"""Floor 8: what holds of privacy, in words for people: what `aforesaid config` and `/context privacy` show.

The facts are those of `wire_upkeep.privacy`. Names of providers, classes, reasons and counts; never any text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aforesaid.hosts.wire import Document

_PLACES = {"redactIndex": "in the store", "redactSecrets": "on the way out"}


def describe(told: Document) -> Iterator[str]:
    """What is on, which providers are local, who gets what, and what was left out and why; lines of one thing each.

    Names of providers are as the configuration has them: whoever prints a line makes it safe.
    """
    if not told["readable"]:
        yield "privacy: the settings could not be read, so nothing is handed out"
    elif not told["enabled"]:
        yield "privacy: the policy is off; every provider gets everything"
    else:
        yield f"privacy: the policy is on; text is {told['defaultClassification']} unless it is raised"
        yield f"  local providers, which get everything: {', '.join(told['localProviders']) or 'none'}"
        for name, levels in told["remoteProviders"].items():
            yield f"  {name} gets: {', '.join(levels) or 'nothing'}"
        yield f"  any other provider gets: {', '.join(told['remoteDefaultAllowed']) or 'nothing'}"
        yield f"  rules by project and path: {told['rules']}"
    places = [place for key, place in _PLACES.items() if told[key]]
    yield f"  secrets are replaced: {' and '.join(places) or 'nowhere'}"
    yield f"  paths in quoted text are {'shortened' if told['shortenPaths'] else 'as they are'}"
    left_out = told["withheld"]
    if left_out["total"]:
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in left_out["byReason"].items())
        classes = ", ".join(f"{number:,} {level}" for level, number in left_out["byClassification"].items())
        entries = f"{left_out['total']:,} {'entry' if left_out['total'] == 1 else 'entries'}"
        yield f"  left out of evidence so far: {entries} ({reasons}; {classes})"
    else:
        yield "  left out of evidence so far: nothing"
