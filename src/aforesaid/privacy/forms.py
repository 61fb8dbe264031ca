"""Floor 4, below `places` and `secrets`: secrets that have a form of their own, whatever they are called.

The password in an address, the option of a command, a private key. Each function is tried at one place of a text and
gives the stretches that are secrets there. Pure; patterns are anchored and bounded.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from aforesaid.language.secret_formats import WEBHOOKS
from aforesaid.privacy.values import is_random, is_secret


class Place(NamedTuple):
    """A stretch of a text and what it is."""

    start: int
    end: int
    kind: str


_USER_INFO: Final = re.compile(r"([^\s/@:\"'<>`?#]{0,128}):([^\s/\"'<>`]{1,256})@(?=[\w.\[%-])")
_TOKEN_USER: Final = re.compile(r"([\w~.%-]{20,256})@(?=[\w.])", re.ASCII)
_WEBHOOKS: Final = re.compile("|".join(f"(?:{pattern})" for _, pattern in WEBHOOKS), re.ASCII)


def after_scheme(text: str, _: int, behind: int) -> tuple[Place, ...]:
    """The password in an address, or the part of a webhook's address that makes it one; `behind` is behind `://`."""
    found = _USER_INFO.match(text, behind)
    if found is not None:
        user, password = found.groups()
        if user == password or not is_secret("password", password, quoted=True, plain=True):
            if not is_secret("token", user, quoted=True, plain=True) or password not in ("x-oauth-basic", "x", ""):
                return ()
            return (Place(found.start(1), found.end(1), "url-password"),)
        return (Place(found.start(2), found.end(2), "url-password"),)
    token = _TOKEN_USER.match(text, behind)
    if token is not None:
        good = is_secret("token", token[1], quoted=True, plain=True)
        return (Place(token.start(1), token.end(1), "url-password"),) if good else ()
    hook = _WEBHOOKS.match(text, behind)
    if hook is not None and hook.lastindex is not None:
        start, end = hook.span(hook.lastindex)
        return (Place(start, end, WEBHOOKS[hook.lastindex - 1][0]),) if is_random(text[start:end][-24:]) else ()
    return ()


_COMMAND: Final = re.compile(
    r"(?P<name>curl|mysql\w{0,8}|redis-cli|login)\b(?P<rest>[^\n]{1,400})",
    re.IGNORECASE,
)
_OPTIONS: Final = {
    "curl": re.compile(r"[ ](?:-u|--user|-U|--proxy-user)[ =]?\\?[\"']?[^\s:\"']{1,64}:(?P<value>[^\s\"'\\]{4,256})"),
    "mysql": re.compile(r"[ ]-p\\?[\"']?(?P<value>[^\s\"'\\-][^\s\"'\\]{3,256})"),
    "redis-cli": re.compile(r"[ ]-a[ ]\\?[\"']?(?P<value>[^\s\"'\\-][^\s\"'\\]{3,256})"),
    "login": re.compile(r"[ ]-p[ =]?\\?[\"']?(?P<value>[^\s\"'\\-][^\s\"'\\]{3,256})"),
}


def after_command(text: str, at: int, _: int) -> tuple[Place, ...]:
    """The password that a command takes with a letter: `curl -u name:…`, `mysql -p…`, `redis-cli -a …`."""
    command = _COMMAND.match(text, at + (text[at] == " "))
    if command is None:
        return ()
    name = command["name"].lower()
    return find_option(text, "mysql" if name.startswith("mysql") else name, command.start("rest"), command.end())


def find_option(text: str, command: str, start: int, end: int) -> tuple[Place, ...]:
    """The password that stands behind an option of a command, in the text from `start` to `end`."""
    found = _OPTIONS[command].search(text, start, end)
    if found is None or not is_secret("password", found["value"], quoted=False, plain=True):
        return ()
    return (Place(*found.span("value"), "password"),)


_BEGIN: Final = re.compile(
    r"-----BEGIN (?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1|ENCRYPTION KEY)-----", re.IGNORECASE
)
_END: Final = re.compile(r"-----END [A-Za-z0-9 ]{1,60}-----", re.IGNORECASE)
_BODY: Final = re.compile(r"(?:[A-Za-z0-9+/=:.,\-\s]|\\[nr\\])*+")
_LONGEST_KEY: Final = 16_384


def private_key(text: str, at: int, _: int) -> tuple[Place, ...]:
    """A private key in its armour; without an end, as far as its body goes."""
    begin = _BEGIN.match(text, at)
    if begin is None:
        return ()
    body = _BODY.match(text, begin.end(), begin.end() + _LONGEST_KEY)
    stop = body.end() if body is not None else begin.end()
    end = _END.search(text, begin.end(), min(len(text), begin.end() + _LONGEST_KEY))
    if end is not None:
        return (Place(at, end.end(), "private-key"),)
    stop = at + len(text[at:stop].rstrip())
    return (Place(at, stop, "private-key"),) if stop - begin.end() >= 16 else ()


_PRIVATE_LINES: Final = re.compile(r"Private-Lines: ?[0-9]{1,3}(?:\s|\\[nr])*")


def putty_key(text: str, end: int) -> tuple[Place, ...]:
    """The private lines of a key of PuTTY; its head ends at `end`."""
    lines = _PRIVATE_LINES.search(text, end, end + 8192)
    if lines is None:
        return ()
    body = re.compile(r"(?:[A-Za-z0-9+/=]{4,80}(?:\s|\\[nr]){0,4}){1,200}").match(
        text, lines.end(), lines.end() + _LONGEST_KEY
    )
    if body is None:
        return ()
    return (Place(lines.end(), lines.end() + len(body.group().rstrip()), "private-key"),)
