"""Floor 5: arguments of an explicit search as a `Question`, whoever gives them.

`engine` calls `read_question` with what the command line, a tool or a program passed; wrong values end here, with a
word about what is allowed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.errors import BadArgument
from aforesaid.inquiry import DERIVED, KINDS, MATCHES, MODES, NAMED_KINDS, ROLES, SCOPES, Filter, Question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aforesaid.inquiry import Match, Mode, Scope
    from aforesaid.model import Kind, Role


def read_question(
    text: str,
    *,
    mode: Mode,
    match: Match,
    scope: Scope,
    roles: Sequence[Role],
    types: Sequence[Kind],
    tool: str | None,
    file: str | None,
    after: str | None,
    before: str | None,
    summaries: bool,
    withheld: bool,
) -> Question:
    """The question that these arguments ask; see `Engine.recall`. Who asks for summaries by kind or role gets them.

    Raises:
        BadArgument: a value is not allowed.
    """
    _choose("mode", mode, MODES)
    _choose("match", match, MATCHES)
    _choose("scope", scope, SCOPES)
    for role in roles:
        _choose("role", role, ROLES)
    kinds = [NAMED_KINDS.get(kind, kind) for kind in types]
    for kind in kinds:
        _choose("type", kind, KINDS)
    _refuse_empty("tool", tool)
    _refuse_empty("file", None if file is None else file.replace("\\", "/").removeprefix("./"))
    derived = "summary" in roles or any(kind in DERIVED for kind in kinds)
    return Question(
        text=text,
        mode=mode,
        match=match,
        scope=scope,
        filter=Filter(
            roles=tuple(roles),
            kinds=tuple(kinds),
            tool=tool,
            file=file,
            after=None if after is None else read_time(after),
            before=None if before is None else read_time(before),
            summaries=summaries or derived,
            withheld=withheld,
        ),
    )


def read_time(text: str) -> str:
    """A time of ISO 8601, or a date, as entries carry theirs; UTC where it names no zone.

    Raises:
        BadArgument: it is none.
    """
    from datetime import UTC, datetime  # late: few questions name a time

    try:
        time = datetime.fromisoformat(text)
        moment = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise BadArgument(f"{text!r} is no time", "write it as 2026-11-30 or 2026-11-30T14:05:00Z") from error
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z".rjust(24, "0")


def _refuse_empty(name: str, value: str | None) -> None:
    """Raises for a filter that names nothing: no entry passes it, and no answer would say so."""
    if value is not None and not value.strip():
        raise BadArgument(f"the {name} to filter by is empty", f"name a {name}, or leave the filter out")


def _choose(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise BadArgument(f"there is no {name} {value!r}", f"choose one of {', '.join(allowed)}")
