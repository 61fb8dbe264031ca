"""Floor 9: the fixed mix of fifty requests that the benchmark asks, and what each of them is about.

`mix` fills in the names of one project; everything else is written out here. What a request asks for is written by hand
beside it, so that the reference query of `floors` does not depend on how the product reads requests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aforesaid.cli.bench.corpus import Project

Kind = Literal[
    "english", "italian", "identifier", "path", "error", "phrase", "common", "no-hit", "no-topic", "east-asian"
]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request and what it asks for.

    Attributes:
        name: unique in the mix.
        kind: what it stands for.
        text: as a user would type it.
        literals: names and phrases in it, verbatim.
        words: the other words with meaning.
    """

    name: str
    kind: Kind
    text: str
    literals: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


COMMON_WORDS: Final = ("server", "test", "error", "file", "request", "build", "cache", "config")
"""The eight most frequent topic words of the corpus."""

_ENGLISH: Final = (
    ("Which port did we choose for the staging proxy?", "port choose staging proxy"),
    ("how many retry attempts before the circuit breaker opens", "retry attempts circuit breaker opens"),
    ("What was the memory threshold for the alert on the replica?", "memory threshold alert replica"),
    ("remind me why the migration of the billing table was rolled back", "migration billing table rolled"),
    ("who signs the certificate of the gateway", "signs certificate gateway"),
    ("Where is the backup snapshot of the tenant database stored?", "backup snapshot tenant database stored"),
    ("explain the race between the worker and the lock again", "explain race worker lock"),
    ("webhook signature rotation policy", "webhook signature rotation policy"),
    ("the canary rollout failed on the second shard, what did the trace say", "canary rollout shard trace"),
    ("quota for image volumes in the other region", "quota image volumes region"),
)
_ITALIAN: Final = (
    ("Qual era la porta del servizio di prova?", "porta servizio prova"),
    ("perché il pagamento della fattura è stato rimborsato", "pagamento fattura rimborsato"),
    ("ricordami la soglia di memoria del magazzino", "soglia memoria magazzino"),
    ("dove sta la chiave del fornitore nella configurazione", "chiave fornitore configurazione"),
    ("La schermata dell'anagrafica non si apre dopo il rilascio", "schermata anagrafica apre rilascio"),
    ("qual è la scadenza del certificato in questa città?", "scadenza certificato città"),
    ("stampa etichetta ordine cliente", "stampa etichetta ordine cliente"),
)
_IDENTIFIERS: Final = (
    ("why does {} return null", 0, "return null"),
    ("where did we rename {}?", 1, "rename"),
    ("signature of `{}` please", 6, "signature"),
    ("{} timeout", 9, "timeout"),
    ("a cosa serve {} nel servizio", 30, "servizio"),
    ("compare {} with the cache", 3, "compare cache"),
    ("the lock in {} is taken twice", 70, "lock taken"),
)
_PATHS: Final = (
    ("what changed in {}?", 0, "changed"),
    ("undo the edit of {} from this morning", 1, "undo edit morning"),
    ("{}", 5, ""),
    ("cosa fa {} con la coda", 20, "coda"),
    ("the tests of {} were slow", 60, "tests slow"),
)
_ERRORS: Final = (
    ("we saw {} before, what was the fix?", 0, "saw fix"),
    ("{} on deploy", 1, "deploy"),
    ("what raises {} in the worker", 21, "raises worker"),
    ("di nuovo {} dopo il rilascio", 2, "rilascio"),
    ("it says {}", 25, "says"),
)
_PHRASES: Final = (
    ('who said "connection refused while draining the queue"?', "connection refused while draining the queue"),
    ("“the refund is booked twice” - in which service?", "the refund is booked twice"),
    ('look for "retry budget of seven attempts"', "retry budget of seven attempts"),
    ("«il certificato scade a fine mese» quale?", "il certificato scade a fine mese"),
    ('it printed "checksum mismatch in block 4711" somewhere', "checksum mismatch in block 4711"),
)
_COMMON: Final = (
    " ".join(COMMON_WORDS),
    "server error in the test build of the config file",
    "database user service branch deploy token query index",
    "errore servizio richiesta prova ramo tabella colonna migrazione",
)
_NO_HIT: Final = (
    ("zyxomorph quandiflex brontulate", ("zyxomorph", "quandiflex", "brontulate"), ()),
    ("what does `wubbleFrobnicateXyzzy` do", (), ("wubbleFrobnicateXyzzy",)),
    ("open src/nowhere/never_written_q9.py", (), ("src/nowhere/never_written_q9.py",)),
)
_NO_TOPIC: Final = ("ok, go on", "procedi pure con tutto il resto, grazie")
_EAST_ASIAN: Final = (
    ("数据库迁移为什么失败", ("数据库迁移为什么失败",)),
    ("設定ファイルのポート番号は何でしたか", ("設定ファイルのポート番号は何でしたか",)),
)


def mix(project: Project) -> tuple[Request, ...]:
    """The fifty requests, with the names of a project in those that ask for names."""
    symbols, paths, errors = project.symbols, project.paths, project.errors
    found = [_worded("english", n, text, words) for n, (text, words) in enumerate(_ENGLISH)]
    found += [_worded("italian", n, text, words) for n, (text, words) in enumerate(_ITALIAN)]
    found += [_named("identifier", n, text, symbols[of], words) for n, (text, of, words) in enumerate(_IDENTIFIERS)]
    found += [_named("path", n, text, paths[of], words) for n, (text, of, words) in enumerate(_PATHS)]
    found += [_named("error", n, text, errors[of], words) for n, (text, of, words) in enumerate(_ERRORS)]
    found += [_named("phrase", n, text, phrase, "") for n, (text, phrase) in enumerate(_PHRASES)]
    stop = {"in", "the", "of"}
    found += [
        _worded("common", n, text, " ".join(word for word in text.split() if word not in stop))
        for n, text in enumerate(_COMMON)
    ]
    found += [
        Request(name=f"no-hit-{n}", kind="no-hit", text=text, words=words, literals=literals)
        for n, (text, words, literals) in enumerate(_NO_HIT)
    ]
    found += [Request(name=f"no-topic-{n}", kind="no-topic", text=text) for n, text in enumerate(_NO_TOPIC)]
    found += [
        Request(name=f"east-asian-{n}", kind="east-asian", text=text, words=words)
        for n, (text, words) in enumerate(_EAST_ASIAN)
    ]
    return tuple(found)


def needles(requests: Iterable[Request]) -> tuple[str, ...]:
    """What the mix asks to find literally, each once, in order."""
    return tuple(dict.fromkeys(literal for request in requests for literal in request.literals))


def _worded(kind: Kind, number: int, text: str, words: str) -> Request:
    return Request(name=f"{kind}-{number}", kind=kind, text=text, words=tuple(words.split()))


def _named(kind: Kind, number: int, text: str, literal: str, words: str) -> Request:
    name = f"{kind}-{number}"
    return Request(name=name, kind=kind, text=text.format(literal), literals=(literal,), words=tuple(words.split()))
