"""Floor 4, below `secrets`: where the value of a telling name stands, in code, configuration, commands and sentences.

Each function is tried at one place of a text and gives the stretches that are secrets there. Pure. All patterns are
anchored and bounded, so that a text of nothing but names takes linear time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aforesaid.language import secret_names as words
from aforesaid.privacy.forms import Place, find_option, putty_key
from aforesaid.privacy.names import is_flag
from aforesaid.privacy.values import LONGEST, in_prose, is_secret

if TYPE_CHECKING:
    from aforesaid.privacy.names import NameKind


_KINDS: Final = {"weak-key": "key", "auth": "credential", "bearer": "token", "session": "cookie"}

_QUOTE: Final = r"\\{0,7}[\"'`]|&quot;|&[#]34;|%22|[“‘«]"
_CLOSED_BY: Final = {"“": "”", "‘": "’", "«": "»"}
_SEPARATOR: Final = re.compile(
    rf"""(?P<closed>(?:{_QUOTE})?)\]?\)?(?:\[\])?
    (?:
      (?P<pair>[,\s]{{1,40}}(?:{_QUOTE})?value(?:{_QUOTE})?\s{{0,4}}[:=]\s{{0,4}}(?={_QUOTE})
        |\s{{1,20}}value:[ ]{{1,4}}|[ ]{{1,4}}value=(?={_QUOTE}))
    | (?P<typed>\??[ ]?:[ ]{{0,2}}(?:[&\w<>\[\]|.'() ]{{1,40}}?[ ]|[a-z]{{3,10}})=(?!=)[ \t]{{0,4}}(?={_QUOTE}))
    | (?P<tag>>)
    | (?P<cell>[ \t]{{0,20}}\|[ \t]{{1,20}}(?!\|))
    | [ \t]{{0,20}}(?P<sign>={{1,3}}>?|!==?|:{{1,2}}=?|:-|=~|->|\?\?|\|\||%3D|→|：|＝)(?P<gap>[ \t]{{0,8}})
    | (?P<comma>,[ \t]{{0,4}}(?={_QUOTE}))
    | (?P<blank>[ \t]{{1,8}}|\((?={_QUOTE}))
    )""",
    re.VERBOSE,
)
_OPENING: Final = re.compile(rf"(?:[rbfuBRFU@$L]{{1,2}})?(?P<quote>{_QUOTE})")
_SCHEME: Final = re.compile(
    r"(?i:(?:bearer|basic|token|apikey|api-key|key|digest|negotiate|sso-key|ssws|splunk|bot|hawk|jwt)[ \t]{1,4}"
    r"|token token=\"?)"
)
_RIGHT_BEHIND: Final = frozenset("=:\"'\\%")
"""What may stand behind the name of a session's cookie."""
_SCHEMED: Final = frozenset(("auth", "token", "key", "secret"))
"""Kinds before whose values a scheme may stand: `Bearer`, `Basic`, `token`."""
_BARE: Final = re.compile(r"[^\s\"'`<>“”‘’«»]{1,256}")
_MORE: Final = re.compile(r"[\w+/=.~-]{0,4096}", re.ASCII)
_ENDS: Final = re.compile(r"[,;|](?=\s|$|[,;&|\])}]|[\w -]{1,30}[=:])|&(?=\s|$|&)|[(){}\[\]\\]|%26|%22|&quot;|&amp;")
_ENDS_WHOLE: Final = re.compile(r"[,;](?=[\w -]{1,30}=)|[;&\\]$|\\[nrt]|%26|&amp;|&&|;;|\)[;,})\]]")
_ENDS_QUERY: Final = re.compile(r"[&#\\,;(){}\[\]]|%26|%22")
_TRAILING: Final = ".,;:!?)]}>*_"

_HEAD_BEFORE: Final = re.compile(
    r"(?i)(?:api|access|secret|private|auth|account|licen[cs]e|encryption|signing|master|service|shared|deploy|webhook|ssh|client|admin"
    r"|subscription|storage|app|application|root)[ ]$"
)
_BEHIND_CHIAVE: Final = re.compile(
    r"(?i)(?:[ ](?:api|segreta|privata|di[ ](?:accesso|licenza|cifratura|servizio)|d'accesso|ssh|master)){1,3}"
)
_BEHIND_PHRASE: Final = re.compile(r"(?i)[ ](?:di[ ](?:accesso|sicurezza|sblocco)|segret[oa]|d['’](?:accesso|ordine))")
_MNEMONIC: Final = re.compile(r"\\{0,3}[\"']?((?:[a-z]{3,8}[ ]){11,23}[a-z]{3,8})(?![a-z])")
_TOLD: Final = re.compile(
    r"""(?:[ ][\w'’/().@-]{1,24}){0,6}?[ ]?
    (?P<told>[ ](?:is|was|are|be|to|as|è|era|sarà|sono|lautet|ist|est|es|é|becomes|diventa)
        (?:[ ](?:now|still|set[ ]to|currently|ora|adesso|sempre|just))?[: ]
      |[ ]?(?:[:=→]|->|=>)[ ]|：)[ ]?""",
    re.VERBOSE | re.IGNORECASE,
)
_TICKED: Final = re.compile(r"(?:[ ][\w'’/().@-]{1,24}){1,6}[ ](?=[`\"“«])")
_REACH: Final = 160
_WORDS: Final = 9
"""How far a sentence is read for the secret that it tells: characters, and words."""
_HAS_DIGIT: Final = re.compile("[0-9]")
_WORD: Final = re.compile(r"(?P<mark>[\"'`“‘«*]{0,3})(?P<word>[^\s\"`“”‘’«»]{4,256})")


_CHAINED: Final = re.compile(
    rf"(?:[=:][ ]?[\w.-]{{0,16}}?(?:{'|'.join(stem.rstrip('=') for stem in words.STEMS)})[\w-]{{0,8}}(?=[=:])){{2}}",
    re.ASCII,
)


def is_chained(lower: str, end: int) -> bool:
    """Whether a name is followed by two others that have a sign each: what they are given is no value of this one."""
    return lower[end : end + 1] in ("=", ":") and _CHAINED.match(lower, end) is not None


def beside_name(kind: NameKind, text: str, start: int, end: int) -> tuple[Place, ...]:
    """The secrets beside a telling name that stands from `start` to `end`."""
    if kind == "bearer":
        return after_bearer(text, end)
    if kind == "cookie":
        return _cookies(text[start:end], text, end)
    if kind == "putty":
        return putty_key(text, end)
    return after_name(kind, text, start, end)


def after_name(kind: str, text: str, start: int, end: int) -> tuple[Place, ...]:
    """The secret beside a name of the other kinds."""
    name = text[start:end]
    if kind == "weak-key":
        kind, end = _key(name, text, start, end)
    if name == "sshpass":
        return find_option(text, "login", end, min(len(text), end + 200))
    if kind == "phrase":
        found = _BEHIND_PHRASE.match(text, end)
        if found is None:
            return ()
        kind, end = "password", found.end()
    if kind == "session" and text[end : end + 1] not in _RIGHT_BEHIND:
        return ()  # code that works with sessions names them all the time
    separator = _SEPARATOR.match(text, end)
    places: tuple[Place, ...] = ()
    if separator is not None:
        places = _separated(kind, text, start, separator)  # type: ignore[arg-type]
    if name.lower().lstrip("-") == "pass":  # more often a verb, a result of tests or a colour
        return () if name == "PASS" and text.startswith(":", end) else tuple(p for p in places if _is_drawn(text, p))
    if not places and kind in ("password", "secret", "token", "key"):
        places = _told(kind, text, end)  # type: ignore[arg-type]
    return places


def _key(name: str, text: str, start: int, end: int) -> tuple[str, int]:
    """A bare `key` may be one by the words beside it: "API key", "chiave segreta"."""
    lower = name.lower()
    if lower.startswith("chiav"):
        found = _BEHIND_CHIAVE.match(text, end)
        if found is not None:
            return "key", found.end()
    elif lower == "key" and _HEAD_BEFORE.search(text, max(0, start - 16), start):
        return "key", end
    return "weak-key", end


def _separated(kind: NameKind, text: str, start: int, separator: re.Match[str]) -> tuple[Place, ...]:
    """The value behind a sign that separates it from its name."""
    at = separator.end()
    flag = is_flag(text[start : separator.start()])
    sign = separator["sign"]
    if kind == "signature" and (sign not in ("=", "%3D") or text[start - 1 : start] not in ("?", "&")):
        return ()
    if kind == "mnemonic":
        seed = _MNEMONIC.match(text, at)
        return (Place(*seed.span(1), "mnemonic"),) if seed is not None else ()
    opening = _OPENING.match(text, at)
    if opening is not None and not (separator["blank"] and text[start : separator.start()].lower() == "pass"):
        places = _quoted(kind, text, opening)
        if separator["comma"] is not None:  # a list of names stands there more often than a value
            return tuple(place for place in places if _has_digit(text, place))
        return places
    if separator["cell"] is not None:
        return tuple(place for place in _bare(kind, text, at, plain=True, wide=False) if _has_digit(text, place))
    if separator["comma"] is not None or separator["typed"] is not None:
        return ()
    if separator["blank"] is not None and not (flag or _stands_alone(kind, text, start)):
        return ()
    if sign in ("==", "===", "!=", "!==", "||", "??", "=~", "::", "->"):
        return ()
    plain = flag or _is_plain(text, start, separator)
    wide = sign == "=" and not separator["gap"]
    places = _bare(kind, text, at, plain=plain, wide=wide, query=text[start - 1 : start] in ("?", "&"))
    if separator["tag"] is not None:  # an element, not a placeholder in angle brackets
        return tuple(place for place in places if text.startswith("</", place.end))
    return places


def _is_drawn(text: str, place: Place) -> bool:
    """Whether a value has a digit and no blank."""
    return _has_digit(text, place) and " " not in text[place.start : place.end]


def _has_digit(text: str, place: Place) -> bool:
    return any(map(str.isdigit, text[place.start : place.end]))


def _stands_alone(kind: str, text: str, start: int) -> bool:
    """Whether `password VALUE` is a line of a configuration: of `.netrc`, of a router."""
    before = text[max(0, start - 80) : start]
    line = before.rpartition("\n")[2]
    return kind == "password" and (
        line.strip() in ("", "ENV", "ARG", "set") or re.search(r"\blogin[ \t]+\S+[ \t]+$", line) is not None
    )


def _is_plain(text: str, start: int, separator: re.Match[str]) -> bool:
    """Whether the value is taken as it stands: an assignment of a shell or an `.env` file, a header, XML, a cell."""
    if separator["tag"] is not None:
        return True
    name = text[start : separator.start()]
    if separator["gap"]:
        return separator["sign"] == ":" and name[:2] in ("X-", "x-")
    return separator["sign"] == "=" and (name.isupper() or text[start - 1 : start] in ("?", "&", ";", "-", "."))


def _quoted(kind: NameKind, text: str, opening: re.Match[str]) -> tuple[Place, ...]:
    quote, at = opening["quote"], opening.end()
    close = _CLOSED_BY.get(quote, quote)
    if text.startswith(quote * 2, at) and len(quote) == 1:
        at += 2  # a text in three quotes
        close = quote * 3
    end = text.find(close, at, at + LONGEST)
    while end > at and close == quote and quote[0] != "\\" and text[end - 1] == "\\":
        end = text.find(close, end + 1, at + LONGEST)
    line = text.find("\n", at, at + LONGEST)
    if end < 0 or (0 <= line < end and len(close) < 3):
        return ()
    return _judged(kind, text, at, end, quoted=True, plain=True)


def _bare(kind: NameKind, text: str, at: int, *, plain: bool, wide: bool, query: bool = False) -> tuple[Place, ...]:
    """A value without quotes: up to a blank, or to what ends a value in code, logs and addresses."""
    scheme = _SCHEME.match(text, at) if kind in _SCHEMED else None
    if scheme is not None:
        at = scheme.end()
    found = _BARE.match(text, at)
    if found is None:
        return ()
    end = found.end()
    ends = _ENDS_QUERY if query else _ENDS_WHOLE if plain and wide else _ENDS
    cut = ends.search(text, at, end)
    if cut is not None:
        if text[cut.start()] == "(" and text[at : cut.start()].replace(".", "").replace("_", "").isalnum():
            return ()  # a call
        end = cut.start()
    while end > at and text[end - 1] in ".,;:":
        end -= 1
    places = _judged(kind, text, at, end, quoted=False, plain=plain, scheme=scheme)
    if places and cut is None and end == found.end():
        more = _MORE.match(text, end)
        return (places[0]._replace(end=more.end() if more else end),)
    return places


def _judged(
    kind: NameKind, text: str, start: int, end: int, *, quoted: bool, plain: bool, scheme: re.Match[str] | None = None
) -> tuple[Place, ...]:
    """The value from `start` to `end`, or what stands in it behind the name of a scheme, if it can be a secret."""
    if scheme is None and kind in _SCHEMED:
        scheme = _SCHEME.match(text, start, end)
    if scheme is not None:
        start = scheme.end()
    value = text[start:end]
    basic = scheme is not None and scheme.group().lower().startswith("basic")
    if kind == "auth" and (basic or (quoted and len(value) >= 12)) and _is_basic(value):
        return (Place(start, end, "basic-credentials"),)
    if is_secret(kind, value, quoted=quoted, plain=plain) and not (basic and kind == "auth"):
        return (Place(start, end, _KINDS.get(kind, kind)),)
    return ()


def _told(kind: NameKind, text: str, end: int) -> tuple[Place, ...]:
    """The secret that a sentence tells: "the password of the staging database is …"."""
    if not _is_likely(text[end : end + _REACH]):
        return ()
    at = end + 1 if text[end : end + 1] in ('"', "'", "`", "*", "”", "»") else end
    told = _TOLD.match(text, at, at + 200)
    ticked = _TICKED.match(text, at, at + 200)
    begins = [(told.end(), True)] if told else []
    begins += [(at + 1, False)] if text[at : at + 1] == " " else []
    begins += [(ticked.end(), False)] if ticked else []
    for begin, said in begins:
        found = _WORD.match(text, begin)
        if found is None:
            continue
        first, word = found.start("word"), found["word"].rstrip(_TRAILING + "'")
        if in_prose(kind, word, marked=bool(found["mark"]), told=said):
            return (Place(first, first + len(word), _KINDS.get(kind, kind)),)
    return ()


def _is_likely(ahead: str) -> bool:
    """Whether a word with a digit follows soon: without one a sentence tells nothing."""
    for word in ahead.partition("\n")[0].split(None, _WORDS)[:_WORDS]:
        if len(word) >= 6 and not word.isalpha() and _HAS_DIGIT.search(word) is not None:
            return True
    return False


def after_bearer(text: str, end: int) -> tuple[Place, ...]:
    """The token behind the word `Bearer`."""
    found = re.compile(r"[ \t]{1,4}([\w+/=.~-]{8,2048})", re.ASCII).match(text, end)
    if found is None:
        return after_name("token", text, end, end)
    start, stop = found.span(1)
    while text[stop - 1] == ".":
        stop -= 1
    value = text[start:stop]
    return (Place(start, stop, "token"),) if is_secret("bearer", value, quoted=False, plain=True) else ()


_COOKIE: Final = re.compile(r"([\w.$-]{1,64})=([^\s;,\"'`\\]{8,1024})")
_COOKIE_SIGN: Final = re.compile(rf"(?:{_QUOTE})?\]?[ \t]{{0,4}}[:=,][ \t]{{0,4}}(?:{_QUOTE})?")


def _cookies(name: str, text: str, end: int) -> tuple[Place, ...]:
    """The values of a cookie header; of `Set-Cookie` the first one only, the others are attributes."""
    sign = _COOKIE_SIGN.match(text, end)
    if sign is None:
        return ()
    at, places = sign.end(), []
    for _ in range(1 if name.lower().startswith("set") else 30):
        pair = _COOKIE.match(text, at)
        if pair is None:
            skipped = re.compile(r"[\w.$-]{1,64}=[^\s;,\"'`]{0,7};[ ]?").match(text, at)
            if skipped is None:
                break
            at = skipped.end()
            continue
        value = pair[2]
        if pair[1].lower() not in words.NO_COOKIES and len(value) >= 10 and any(map(str.isdigit, value)):
            places.append(Place(pair.start(2), pair.end(2), "cookie"))
        at = pair.end()
        if not text.startswith(";", at):
            break
        at += 2 if text.startswith("; ", at) else 1
    return tuple(places)


def _is_basic(value: str) -> bool:
    """Whether a value is base64 of a name, a colon and a password."""
    if len(value) < 8 or not re.fullmatch(r"[A-Za-z0-9+/]{8,400}={0,2}", value):
        return False
    from base64 import b64decode  # late: few texts hold any

    try:
        user, colon, password = b64decode(value + "=" * (-len(value) % 4)).partition(b":")
    except ValueError:
        return False
    return bool(colon and password and user.isascii() and user.decode("ascii", "replace").isprintable())


_IDENTIFIED: Final = re.compile(r"\s{1,4}(?:password\s{1,4})?", re.IGNORECASE)


def after_identified(text: str, _: int, behind: int) -> tuple[Place, ...]:
    """The password of SQL: `IDENTIFIED BY '…'`."""
    blank = _IDENTIFIED.match(text, behind)
    opening = _OPENING.match(text, blank.end()) if blank is not None else None
    return _quoted("password", text, opening) if opening is not None else ()
