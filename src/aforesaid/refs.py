"""Floor 4: opaque names that a caller hands back: refs of entries and cursors of pages.

Nothing is remembered for a single one: what they mean stands in them, sealed with the store's secret, so that nobody
can make one up or change one. Of refs that expire the store counts how many there have been, so that they are also
limited in number. `recall` makes both, `expansion` reads refs. Pure: time and secret come from the caller.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from aforesaid.errors import RefInvalid
from aforesaid.inquiry import SCOPES

if TYPE_CHECKING:
    from aforesaid.inquiry import Scope

MINUTE: Final = 60
MOST_REFS: Final = 10_000
"""Refs of an issuer whose refs expire that are accepted at any time."""
_SEAL: Final = 8
"""Bytes of a checksum: guessing one takes more tries than any caller has."""
REF_LINE: Final = 8
"""Bytes of a line's digest in a ref."""
_LONGEST: Final = 65_536
"""Characters; nothing that was made here is longer than the ids in it allow."""


class Issuer(Struct, frozen=True, kw_only=True):
    """Who seals, and for how long.

    Attributes:
        secret: the store's.
        name: whose refs they are; another issuer's are not accepted.
        now: seconds since 1970.
        lasts: seconds after which a ref is no longer accepted; 0 for ever. Refs that expire are numbered, and only
            the latest `MOST_REFS` are accepted.
        given: how many have been given out before, where they are numbered.
    """

    secret: bytes
    name: str = "own"
    now: int = 0
    lasts: int = 0
    given: int = 0


class Ref(Struct, frozen=True, kw_only=True):
    """What a ref names.

    Attributes:
        session: the store's key of the session.
        entry: id of the entry.
        line: beginning of the digest of its line.
        scope: where it was found; what is read around it stays there.
        leaf: row of the leaf of the branch that was searched; None if it was not about one branch.
    """

    session: str
    entry: str
    line: bytes
    scope: Scope
    leaf: int | None = None


def write_ref(ref: Ref, issuer: Issuer, place: int = 0) -> str:
    """A ref as a text.

    Args:
        ref: what it names.
        issuer: who gives it out.
        place: its place among those that are given out together.
    """
    until = (issuer.now + issuer.lasts) // MINUTE + 1 if issuer.lasts else 0
    fields = [_short(ref.session), _data(ref.entry), ref.line, SCOPES.index(ref.scope), ref.leaf, until]
    if issuer.lasts:
        fields.append(issuer.given + place + 1)
    return seal("ref", fields, issuer)


def read_ref(text: str, issuer: Issuer) -> Ref:
    """What a ref names.

    Raises:
        RefInvalid: it is no ref of this issuer's, too old, or not among the latest.
    """
    fields = unseal("ref", text, issuer)
    if fields is None:
        raise RefInvalid("the ref is none that this store gave out", "search again and take a ref of a hit")
    session, entry, line, scope, leaf, until, *number = fields
    if (until and issuer.now // MINUTE > until) or (number and number[0] <= issuer.given - MOST_REFS):
        raise RefInvalid("the ref is too old", "search again and take a ref of a hit")
    key = session.hex() if isinstance(session, bytes) else session
    return Ref(session=key, entry=_text(entry), line=line, scope=SCOPES[scope], leaf=leaf)


def seal(kind: str, fields: list[Any], issuer: Issuer) -> str:
    """Fields as an opaque text; texts among them must not hold lone surrogates."""
    data = msgspec.msgpack.encode(fields)
    return _spell(data + _checksum(kind, data, issuer))


def unseal(kind: str, text: str, issuer: Issuer) -> list[Any] | None:
    """The fields of a text that `seal` made for this kind and issuer, or None."""
    if not text.isascii() or len(text) > _LONGEST:
        return None
    try:
        sealed = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return None
    data, checksum = sealed[:-_SEAL], sealed[-_SEAL:]
    # A second spelling of the same bytes would be another name for the same thing.
    if checksum != _checksum(kind, data, issuer) or _spell(sealed) != text:
        return None
    fields = msgspec.msgpack.decode(data)
    return fields if isinstance(fields, list) else None


def _spell(sealed: bytes) -> str:
    """How sealed bytes are spelled."""
    return urlsafe_b64encode(sealed).rstrip(b"=").decode()


def _checksum(kind: str, data: bytes, issuer: Issuer) -> bytes:
    name = blake2b(issuer.name.encode(), digest_size=16).digest()
    return blake2b(data, digest_size=_SEAL, key=issuer.secret[:64], person=kind.encode(), salt=name).digest()


def _short(key: str) -> bytes | str:
    """A key of hexadecimal digits in half the room."""
    try:
        data = bytes.fromhex(key)
    except ValueError:
        return key
    return data if data.hex() == key else key


def _data(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
