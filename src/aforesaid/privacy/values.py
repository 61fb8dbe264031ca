"""Floor 4, below `secrets`: whether a value beside a telling name can be a secret.

`secrets` hands in the kind of the name, the value and how it stands there. Pure. What is refused here are references
(`$TOKEN`, `os.environ[…]`), placeholders, types, words, numbers, paths and names of code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aforesaid.language import secret_names as words

if TYPE_CHECKING:
    from aforesaid.privacy.names import NameKind

LONGEST: Final = 1024
"""Characters of a value beside a name; longer ones are cut."""
JUDGED: Final = 128
"""Characters of a value by which it is judged."""

_REFERENCE: Final = re.compile(
    r"#[0-9a-fA-F]{3,8}$|&[#\w]{1,6};|\$\{?\w|\$\(|%\w+%|%\(|%s|\{\{|\{\w*\}|<[^>]*>|#\{|@[a-z_]+$|![A-Za-z]+(?::|$)|\[redacted|\*{2,}|x{4,}|X{4,}|•|…|\.{3}|_{3,}|-{3,}"
    r"|(?:process|os|env|ENV|secrets|vars|config|settings|self|this|ctx|req|request|props|params|args|opts|options|cfg)"
    r"(?:\.|\[)|(?:vault|op|ssm|arn|ref|file|env|sm|gcp|aws|azure|kv|keyring)(?::|\+)|getenv|ENC\[|None$|null|base64:$",
)
_MASK: Final = re.compile(r"\*{3}|•|…|\.\.\.|x{5,}|X{5,}|\[redacted:|\$\{|\{\{|<\w[^>]*>|\(\)|#{4,}|_{5,}")
_SAME: Final = re.compile(r"(.)\1*$")
_PATH: Final = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?[\\/](?:[\w.@ -]+[\\/])*[\w.@ -]*$|[\w+.-]{1,20}://")
_FILE: Final = re.compile(
    r"[\w.-]+\.(?:txt|json|ya?ml|toml|ini|pem|key|crt|pub|p12|pfx|env|py|js|ts|go|rs|rb|java|md|sh|html?|cfg|conf|log|xml|gpg"
    r"|asc|enc|jks|php|cs|kt)$",
    re.IGNORECASE,
)
_CALL: Final = re.compile(r"[\w.:>-]+\(|\w+\[|\w+::|new |await |async |lambda|=>|function")
_ASSIGNED: Final = re.compile(r"[A-Za-z_][\w-]*=+[^=]")
_CODE: Final = re.compile(r"[A-Za-z_][\w.]*$")
_CHOSEN: Final = re.compile(r"[a-z]{3,}[0-9]+$")
_MAIL: Final = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+$")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")
_HEX: Final = re.compile(r"(?:0x)?[0-9a-fA-F]+$")
_NUMBER: Final = re.compile(r"[-+]?[0-9][0-9_,.]*(?:[a-zA-Z%]{0,3})$")
_VERSION: Final = re.compile(r"[v^~=<>]{0,2}[0-9]+(?:\.[0-9x*]+)++\w*(?:[-+.]\w+)*$")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_OPAQUE: Final = re.compile(r"[\w+/=.~:@!#$%^&*?|,;-]+$", re.ASCII)
_PIECE: Final = re.compile(r"[A-Za-z]+|[0-9]+")
_WORD: Final = re.compile(
    r"[A-Z]?[a-zß-ÿ]+[0-9]{0,2}(?:[A-Z][a-z]+[0-9]{0,2}){0,12}$|[A-Z]+[0-9]{0,2}$|[0-9]{1,4}$|v[0-9]{1,3}$"
    r"|(?:[A-Z]?[a-z]+|[A-Z]{2,})[0-9]{1,5}(?:[A-Z][a-z]{2,}){1,6}$"
    r"|[0-9]{1,3}[a-z]{1,3}$"
)
_RUNS: Final = re.compile(r"[a-z]+|[A-Z]+|[0-9]+")
_FREE: Final = frozenset(("password", "secret"))
"""Kinds whose values a person may have chosen; all others come from machines."""


def is_secret(kind: NameKind, value: str, *, quoted: bool, plain: bool) -> bool:
    """Whether a value can be what its name promises.

    Args:
        kind: of the name.
        value: without quotes.
        quoted: whether it stood in quotes: then it is no name of code.
        plain: whether it stands where nothing but a value can (`NAME=value` of a shell, a flag, a header): then letters
            alone may be one as well.
    """
    value = value[:JUDGED]
    length = len(value)
    if kind not in _FREE and (length < 8 or (not quoted and _ASSIGNED.match(value))):
        return False
    if length < 4 or _is_reference(value) or _is_placeholder(value):
        return False
    if kind == "password":
        return _is_password(value, quoted=quoted, plain=plain)
    if kind == "secret" and quoted and length >= 6 and not value.isalnum() and " " not in value and _mixed(value):
        return not _is_name(value)
    if not _OPAQUE.match(value) or _NUMBER.match(value) or _VERSION.match(value) or _DATE.match(value):
        return False
    if kind in ("secret", "token", "key"):
        return _is_opaque(value, least=8, plain=plain or quoted)
    if kind in ("auth", "bearer"):
        return _is_opaque(value, least=12, plain=True) and not _UUID.match(value)
    if kind in ("session", "signature"):
        return (
            length >= 16 and _has_digit(value) and not _UUID.match(value) and _is_opaque(value, least=16, plain=False)
        )
    # A bare `key`: only what no hash, id or name looks like.
    return length >= 20 and not _HEX.match(value) and not _UUID.match(value) and is_random(value)


def is_random(value: str) -> bool:
    """Whether a value looks as if a machine had drawn it from letters of both cases and digits, or other signs.

    Drawn texts change between small letters, capitals and digits every other character; names and words do not.
    """
    runs = _RUNS.findall(value)
    changes = len(runs)
    kinds = any(map(str.isdigit, value)) + any(map(str.islower, value)) + any(map(str.isupper, value))
    return kinds >= 2 and changes * 4 >= len(value) and not _is_name(value)


def in_prose(kind: NameKind, value: str, *, marked: bool, told: bool) -> bool:
    """Whether a word of a sentence can be the secret that the sentence tells.

    Args:
        kind: of the name.
        value: the word, without the punctuation behind it.
        marked: whether it stands in quotes or backticks.
        told: whether "is", "=", ":" or the like stands before it.
    """
    lower = value.lower()
    if lower in words.TECHNICAL or len(value) < 6 or "<" in value or _is_reference(value) or _is_placeholder(value):
        return False
    if _NUMBER.match(value) or _VERSION.match(value) or _is_path(value) or _FILE.match(value) or _MAIL.match(value):
        return False
    if (
        not (_has_digit(value) and _has_letter(value))
        or _CALL.match(value)
        or lower.rstrip("0123456789") in words.TECHNICAL
    ):
        return False
    if kind == "password" and (told or marked):
        return not _is_name(value) or (value.isalnum() and not value[0].isdigit() and len(value) >= 6)
    if not _OPAQUE.match(value) or _is_name(value):
        return False
    if kind == "password" and len(value) >= 8 and is_random(value):
        return True
    runs = len(_RUNS.findall(value))
    return len(value) >= (8 if told or marked else 16) and runs * 5 >= len(value) and runs >= 4


def _is_reference(value: str) -> bool:
    return bool(_REFERENCE.match(value) or _MASK.search(value))


def _is_path(value: str) -> bool:
    return bool(_PATH.match(value)) and ("://" in value or not is_random(value))


def _is_placeholder(value: str) -> bool:
    if _SAME.match(value):
        return True
    pieces = [piece.lower() for piece in _PIECE.findall(value)]
    if len(pieces) > 16:
        return False
    digits = sum(len(piece) for piece in pieces if piece.isdigit())
    letters = [part for piece in pieces if not piece.isdigit() for part in _parts(piece)]
    return bool(letters) and digits <= 2 and all(piece in words.PLACEHOLDER_WORDS for piece in letters)


def _parts(piece: str) -> list[str]:
    """A run of letters, cut in two where both halves are words of placeholders (`mypassword`)."""
    if piece in words.PLACEHOLDER_WORDS or len(piece) > 24:
        return [piece]
    for cut in range(2, len(piece) - 1):
        if piece[:cut] in words.PLACEHOLDER_WORDS and piece[cut:] in words.PLACEHOLDER_WORDS:
            return [piece[:cut], piece[cut:]]
    return [piece]


def _is_password(value: str, *, quoted: bool, plain: bool) -> bool:
    if " " in value:
        return quoted and _is_phrase(value)
    if _is_path(value) or _FILE.match(value) or _DATE.match(value) or value.lower() in words.TECHNICAL:
        return False
    if _NUMBER.match(value):
        return len(value) >= 6 and value.isdigit() and (quoted or plain)
    if not quoted and (_CALL.match(value) or ("." in value and _is_name(value))):
        return False
    if _has_digit(value) and _has_letter(value):
        return quoted or plain or not (_is_name(value) and _CODE.match(value)) or bool(_CHOSEN.match(value))
    if not value.isalpha():
        return (quoted or plain) and not _is_name(value) and not _VERSION.match(value) and len(value) >= 6
    if not quoted and not plain:
        return is_random(value) and len(value) >= 12
    return len(value) >= 8 and (value.islower() or is_random(value))


def _is_phrase(value: str) -> bool:
    """Words that are a passphrase and no sentence: nothing that holds a sentence together, no label."""
    parts = value.split()
    if len(parts) < 3 or any(part.strip(".,:;!?'\"()").lower() in words.SENTENCE for part in parts):
        return len(parts) == 2 and _has_digit(value) and any(not sign.isalnum() and sign != " " for sign in value)
    return (value[-1] not in ".:?!" and not value[0].isupper()) or _has_digit(value)


def _is_opaque(value: str, *, least: int, plain: bool) -> bool:
    if len(value) < least or value.lower() in words.TECHNICAL or _CALL.match(value) or _MAIL.match(value):
        return False
    if _is_path(value) or _FILE.match(value):
        return False
    if _UUID.match(value):
        return True
    if _HEX.match(value):
        return len(value) >= 12 and _has_letter(value) and _has_digit(value)
    if _is_name(value):
        return False
    if not _has_digit(value):
        return len(value) >= 16 and is_random(value)
    runs = len(_RUNS.findall(value))
    return _has_letter(value) and (runs >= 4 or (plain and runs >= 3))


def _is_name(value: str) -> bool:
    """Whether a value reads as words, numbers and versions that signs join: a name of code, a host, a path, a slug."""
    pieces = re.split(r"[-_./:@+,= ]+", value)
    return all(_WORD.match(piece) for piece in pieces if piece)


def _has_digit(value: str) -> bool:
    return any(map(str.isdigit, value))


def _has_letter(value: str) -> bool:
    return any(map(str.isalpha, value))


def _mixed(value: str) -> bool:
    """Whether letters stand beside digits, or small ones beside capitals, or signs between them."""
    return _has_letter(value) and (_has_digit(value) or not (value.islower() or value.isupper()) or not value.isalnum())
