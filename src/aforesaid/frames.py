"""Floor 4, above `evidence`: our own output in the texts of a transcript, so that it is never indexed again.

Readers of transcripts hand in the texts of messages and get them back without framed evidence and without the documents
of our commands, in whatever way a tool has passed them on. Pure. What is recognised has the frame's fixed words in
their order, or a document's first keys; nothing is guessed. `docs/evidence.md` gives the rules.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from aforesaid.evidence import CLOSING, CONTENT, OPENING, SOURCE, TITLE, WARNING

_SCHEMA: Final = '"aforesaid.'
_FIELDS: Final = (SOURCE, "Session: ", "Date: ", "Original role: ", "Retrieval score: ", "Reason: ")
"""What the lines between the first one and the warning begin with, in their order."""
_VIEW: Final = "The JSON object below quotes historical session data"
"""Begins the second line of a history view, which stands in the same frame (`extractive.sheet`; a test compares)."""
_VIEW_CONTENT: Final = "View JSON: "
_WORDS: Final = (*_FIELDS, WARNING, CONTENT, _VIEW, _VIEW_CONTENT)
_MOST_LINES: Final = 12
"""Line ends in a frame at most, with some that a tool may have put in."""
_LONGEST_FIELD: Final = 2000
_DASH: Final = "\u2014"
_AFTER: Final = r"(?:[ \t]*(?:\r?\n|(?:\\+r)?\\+n)[^\n]{0,200}?|[ \t]+)"
"""Between two lines of a frame: a line end, raw or escaped, with what a tool puts before lines; or blanks, on one."""
_STATUS: Final = r'/1",\s*"status":\s*"'
_FIRST_ID: Final = r"\s*\[\s*\{\s*"
_DOCUMENT: Final = (
    r'\{\s*"schema":\s*"aforesaid\.(?:'
    rf'retrieval{_STATUS}(?:complete|no-query|disabled|failed)"'
    rf'|recall{_STATUS}(?:complete|partial|failed)"'
    rf'|plan{_STATUS}(?:planned|observer|native)"'
    rf'|expand/1",\s*"entries":{_FIRST_ID}"entryId":\s*"'
    rf'|lost/1",\s*"compactions":{_FIRST_ID}"entryId":\s*"'
    r'|view/1",\s*"view":\s*\{\s*"kind":\s*")'
)
"""The beginnings of the documents that quote a session, as `hosts.wire` writes them."""


def strip_frames(text: str) -> str:
    """A text without framed messages and without the documents of our commands that quote a session.

    A message that stands in lines of its own goes with them, and reaches to the end of the text if it is unfinished. It
    begins where its first line stands alone, or ends a line whose next one names the source (hosts put words of their
    own before what they pass on). Where lines are numbered, quoted, named or joined, where they stand in a string of
    JSON, and where the first one is missing, a message is known by its fixed lines in their order; an unfinished one
    goes as far as these. Text that only mentions the title is left alone.
    """
    if _SCHEMA in text:
        text = _strip_documents(text)
    if TITLE not in text and WARNING not in text:
        return text
    if OPENING in text:
        text = _strip_lines(text)
    return _strip_disguised(text) if TITLE in text or WARNING in text else text


def _strip_documents(text: str) -> str:
    from json import JSONDecoder  # late: few texts hold one

    pieces: list[str] = []
    done = 0
    for found in re.finditer(_DOCUMENT, text):
        start = found.start()
        if start < done:
            continue
        pieces.append(text[done:start])
        try:
            _, done = JSONDecoder(strict=False).raw_decode(text, start)
        except (ValueError, RecursionError):
            # What is cut off: a compact document to the end of its line, an indented one to that of the text.
            compact = text[start + 1] == '"'
            done = _line_end(text, start) if compact else len(text)
    pieces.append(text[done:])
    return "".join(pieces)


def _strip_lines(text: str) -> str:
    """A text without messages in lines of their own."""
    lines = text.split("\n")
    kept: list[str] = []
    framed = False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        bare = line.strip()
        if framed:
            framed = not bare.startswith(CLOSING)
            rest = "" if framed else bare.removeprefix(CLOSING)
        elif bare == OPENING or (bare.endswith(OPENING) and following.startswith(SOURCE)):
            framed = True
            rest = bare.removesuffix(OPENING)
        else:
            kept.append(line)
            continue
        if rest:
            kept.append(rest)
    return "\n".join(kept)


@cache
def _start() -> re.Pattern[str]:
    before, after = map(re.escape, OPENING.split(_DASH))
    opening = rf"{before}(?:{_DASH}|\\+u2014){after}"
    return re.compile(rf"{opening}{_AFTER}(?={SOURCE}|{_VIEW})|{re.escape(WARNING)}{_AFTER}(?={CONTENT})")


def _strip_disguised(text: str) -> str:
    """A text without messages whose lines do not stand alone."""
    pieces: list[str] = []
    done = 0
    for found in _start().finditer(text):
        if found.start() < done:
            continue
        headless = found.group().startswith(WARNING)
        start = _back(text, done, found.start()) if headless else found.start()
        in_lines = "\n" in found.group()
        end = _end(text, found.end(), headless=headless, in_lines=in_lines)
        if in_lines:
            line = text.rfind("\n", done, start) + 1 or done
            put_before = found.group().rpartition("\n")[2]
            if _kind(text[line:start]) == _kind(put_before):
                start = line
                behind = _line_end(text, end)
                end = behind + 1 if text[end:behind].isspace() or end == behind else end
        pieces.append(text[done:start])
        done = min(end, len(text))
    pieces.append(text[done:])
    return "".join(pieces)


def _back(text: str, lowest: int, start: int) -> int:
    """Where the lines begin that stand before the warning of a message without its first line."""
    for field in reversed(_FIELDS):
        at = text.rfind(field, max(lowest, start - _LONGEST_FIELD), start)
        if at >= 0 and text.count("\n", at, start) <= 1:
            start = at
    return start


def _end(text: str, behind: int, *, headless: bool, in_lines: bool) -> int:
    """Where a message ends whose first words end at a place."""
    end = text.find(CLOSING, behind)
    if end >= 0 and text.count("\n", behind, end) <= (_MOST_LINES if in_lines else 0):
        return end + len(CLOSING)
    end = _line_end(text, behind)
    if in_lines and not headless:
        while end < len(text):
            following = _line_end(text, end + 1)
            if not any(text.find(words, end, following) >= 0 for words in _WORDS):
                break
            end = following
    return end


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end


def _kind(put_before: str) -> str:
    """What stands before a line, whatever its number."""
    return re.sub(r"[\d\s:-]+", "", put_before)
