"""Floor 3: words in names of code, paths and flags that consist of ordinary words: `response.status`, `/run`, `-name`.

`query.guesses` looks them up, folded. Data only.
"""

from __future__ import annotations

from typing import Final

OWNERS: Final = frozenset(
    """
task item state step request response reply time date day point part type kind option options question answer plan goal
reason case example detail details status progress place moment round turn attempt side end start middle top bottom sort user
main root row col node event window form view body head page site id key index list map set box hand input output
com org net io edu gov dev app current
""".split()
)
"""Words that are no topic, or elsewhere only, and that variables and packages are called by."""

MEMBERS: Final = frozenset(
    "only skip all any each every some first last next previous off has from up down before after once until not other same"
    " both one two time state end again self name type kind left right".split()
)
"""Grammar that members, folders and flags are called by as well: `test.only`, `/all`."""

OPENERS: Final = frozenset(
    """
continue proceed go keep let lets try tell give thank explain help want need hope know think fix please thanks make look see
say do use take maybe
""".split()
)
"""Beside `shapes.JOINERS`, what begins a sentence whose blank was forgotten, or follows a dash: "ok -go on"."""

OBJECTS: Final = frozenset("it them him me us again on ahead everything everyone all yourself tutto".split())
"""Behind a verb these tell an order from a name: "the tests.run them"."""
DETERMINERS: Final = frozenset("the a an my your our its this that these those il lo la i gli le un una".split())
"""These do unless it is a question: "why does task.run the job twice?"."""

LISTED: Final[tuple[frozenset[str], ...]] = tuple(
    frozenset(words.split())
    for words in (
        "he she it they we you i me him her them us his hers its their theirs one",
        "yes no maybe not and or but nor none both either neither all some any si e o ma non forse",
        "true false null none unknown",
        "first second third fourth fifth last next previous one two three four five six",
        "good better best bad worse worst great fine ok okay",
        "high medium low big small large short long fast slow easy hard simple old new",
        "now later today tomorrow yesterday morning afternoon evening night soon never always sometimes",
        "what when where who why how which",
        "add edit remove delete create read write update list show get put post move copy insert",
        "start stop restart pause resume cancel retry continue run",
        "his her my your our their",
    )
)
"""Words between which a slash only lists: "he/she/they"."""
