"""Floor 9: `aforesaid eval view`: how much of the needed evidence a history view holds, beside plain ways to fill one.

`goals` reads what is needed from BEAM or from the rediscovery set, `fillings` fills views, `figures` counts and shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.cli.terminal import Progress, emit, fail
from aforesaid.errors import GateMissed

if TYPE_CHECKING:
    from collections.abc import Sequence


def run(data: str, chosen: Sequence[str], limit: int | None, *, as_json: bool) -> int:
    """Asks and shows; see `aforesaid.cli.eval.run`.

    Args:
        data: folder of one of the sets.
        chosen: names of ways to fill a view; none: all.
        limit: only the first so many questions.
        as_json: whether a document is written.

    Returns:
        1 if the view is not nearer to its ceiling than each of the others that were asked (`figures.missed`).

    Raises:
        BadArgument: there is no such way, or no such set.
    """
    from aforesaid.cli.bench.setting import working_folder  # late: the parser needs none of it
    from aforesaid.cli.eval.view import figures, fillings, goals

    with working_folder(None) as folder, Progress("Asking") as progress:
        moments = goals.read(data, folder, limit)
        found = fillings.run(tuple(chosen or fillings.WAYS), moments, folder, progress)
    if as_json:
        emit(figures.document(data, found))
    else:
        figures.show(found)
    missed = figures.missed(found)
    if missed:
        fail(GateMissed.code, f"{', '.join(missed)}; run it again with --json for the figures")
        return GateMissed.exit_status
    return 0
