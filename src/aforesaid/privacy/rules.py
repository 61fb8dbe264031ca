"""Floor 4: rules that raise what stands in a project, and what names a path.

A rule names a project, a path, or both, and a level (`privacy.rules`). `judge` asks for the levels that rules give to
a session's folder and to a text. Rules raise and never lower; case never counts, and both slashes are one, whatever
the system. Pure.

Paths are globs as in `.gitignore`: `*` and `?` stay within a name, `**` does not, a pattern without a slash at its
beginning holds at any depth, and one that names a folder covers what is below it. `secrets/**` and `secrets/` are what
is below the folder; its bare name counts where something is done to files, and is a word elsewhere.
"""

from __future__ import annotations

import re
from posixpath import join, normpath
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from aforesaid.model import LEVELS
from aforesaid.privacy.markers import RANK, highest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aforesaid.model import Level

_ABSOLUTE: Final = "/|[A-Za-z]:/"
_KEYS: Final = frozenset({"path", "project", "classification"})
# Where a name can begin or end in a text; letters of other scripts may stand right beside a path.
_BEGIN: Final = r"(?<![A-Za-z0-9_.-])"
_END: Final = r"(?![A-Za-z0-9_])"
# A shell may close a quote before it; addresses escape it; two other characters look like it.
_SLASH: Final = "['\"]?(?:/|%2f|\u2044|\u2215)+"
_IN_NAME: Final = "[^/\\n]"
_LONGEST_NAME: Final = 255
_LONGEST_PATH: Final = 4096


class Rule(Struct, frozen=True, kw_only=True):
    """What stands in a project, or names a path, is at least of a level.

    Attributes:
        classification: the level.
        project: a folder, as a glob; sessions that worked in it or below count. None: any session.
        path: a glob; entries that name such a path count. None: any entry.
    """

    classification: Level
    project: str | None = None
    path: str | None = None


def read_rule(found: Mapping[str, object]) -> Rule | None:
    """The rule that an object of the configuration is, or None if it is none.

    It has a `classification`, at least one of `path` and `project`, and nothing else.
    """
    level = next((level for level in LEVELS if level == found.get("classification")), None)
    if level is None or not _KEYS.issuperset(found) or len(found) < 2:
        return None
    globs: dict[str, str] = {}
    for name in ("project", "path"):
        if name in found:
            glob = found[name]
            if not isinstance(glob, str) or not glob.strip("/\\ ."):
                return None
            globs[name] = glob
    return Rule(classification=level, **globs)


class Rules:
    """The rules that may concern one session.

    Attributes:
        floor: level of everything in it; `normal` where no rule names its project.
        unknown: level of a text of which it is not known what it names.
    """

    def __init__(
        self, rules: Iterable[Rule], *, project: str | None, home: str | None, links: Iterable[str] = ()
    ) -> None:
        """Compiles the rules for a session.

        Args:
            rules: all rules.
            project: folder that the session worked in; one whose folder nobody knows may be in every project.
            home: what `~` stands for.
            links: other paths of that folder, as links lead; a rule that names any of them is about the session.
        """
        self._roots = folders = tuple(
            dict.fromkeys([_plain(path).rstrip("/") for path in (() if project is None else (project, *links))])
        )
        own = None if home is None else _plain(home).rstrip("/")
        here = [
            rule
            for rule in rules
            if rule.project is None or not folders or any(_within(folder, rule.project, own) for folder in folders)
        ]
        self.floor: Level = highest("normal", *(rule.classification for rule in here if rule.path is None))
        named = [(rule.classification, rule.path) for rule in here if rule.path is not None]
        self.unknown: Level = highest("normal", *(level for level, _ in named))
        named.sort(key=lambda rule: RANK[rule[0]], reverse=True)
        spelled = [(level, spelling) for level, glob in named for spelling in _spellings(glob, folders, own)]
        self._paths = [(level, *_compile(spelling)) for level, spelling in spelled]
        self._folders = [(level, *_compile(bare)) for level, spelling in spelled if (bare := _bare(spelling))]

    @property
    def by_path(self) -> bool:
        """Whether there are rules that depend on what a text names."""
        return bool(self._paths)

    def of(self, texts: Iterable[str], *, acts: bool = False) -> Level:
        """The highest level of a path that one of the texts names.

        Args:
            texts: what may name paths.
            acts: whether they say what is done to files, as the arguments of a tool do. Then the name of a folder
                alone counts as what is below it: `cd secrets` for `secrets/**`. In what people write it is a word.
        """
        if not self._paths:
            return "normal"
        given = list(texts)
        # Bytes are lowered, and searched for a literal, many times as fast as texts.
        data = "\n".join(given).encode("utf-8", "surrogatepass").lower()
        found: Level = "normal"
        for level, literal, pattern in (*self._paths, *self._folders) if acts else self._paths:
            if RANK[level] > RANK[found] and literal in data and any(pattern.search(_plain(text)) for text in given):
                found = level
        return found

    def resolve(self, file: str) -> tuple[str, ...]:
        """A path that a tool was given, from each path of the session's folder, without steps up and down."""
        return tuple([normpath(join(folder, _plain(file))) for folder in self._roots or ("",)])


def _plain(path: str) -> str:
    return path.replace("\\", "/").lower()


def _expand(glob: str, home: str | None) -> str:
    glob = _plain(glob)
    return home + glob[1:] if home and (glob == "~" or glob.startswith("~/")) else glob


def _within(folder: str, glob: str, home: str | None) -> bool:
    """Whether a folder is one that the glob names, or below it."""
    pattern = _expand(glob, home).rstrip("/").removesuffix("/**")
    begin = "" if re.match(_ABSOLUTE, pattern) else "(?:.*/)?"
    return re.fullmatch(f"{begin}{_translate(pattern)}(?:/.*)?", folder, re.DOTALL) is not None


def fixed_part(glob: str, home: str | None) -> tuple[str, str]:
    """What a glob of a project begins with that is a folder whichever one it names, and the rest.

    The first is empty where the glob is not absolute: then it holds at any depth.
    """
    full = glob.replace("\\", "/")
    if home and (full == "~" or full.startswith("~/")):
        full = home.replace("\\", "/").rstrip("/") + full[1:]
    if not re.match(_ABSOLUTE, full):
        return "", full
    parts = full.rstrip("/").split("/")
    fixed = next((place for place, part in enumerate(parts) if re.search(r"[*?\[]", part)), len(parts))
    return "/".join(parts[:fixed]), "".join(f"/{part}" for part in parts[fixed:])


def _spellings(glob: str, folders: Iterable[str], home: str | None) -> Iterable[str]:
    """How the paths that a glob names may be written: in full, from the home folder, from the session's folder."""
    full = _expand(glob, home)
    yield full
    if home and full.startswith(home + "/"):
        yield from (start + full.removeprefix(home) for start in ("~", "$home", "${home}"))
    yield from (full.removeprefix(folder + "/") for folder in folders if folder and full.startswith(folder + "/"))


def _compile(glob: str) -> tuple[bytes, re.Pattern[str]]:
    """Bytes that every text with a matching path holds once it is lowered, and the pattern for a plain text."""
    end = _SLASH if glob.endswith(("/", "/**")) else _END
    glob = glob.removesuffix("/**").rstrip("/").removeprefix("./")
    while glob.startswith("**/"):
        glob = glob[3:]
    # What may precede within a name or above it need not be looked for, and looking for it would be slow.
    begin = "" if glob.startswith("*") else _BEGIN
    glob = glob.lstrip("*")
    # Letters beyond ASCII have cases that bytes do not know.
    literal = max(re.split(r"[*?/ ]+|\[[^\]]*\]|[^\x00-\x7f]+", glob), key=len)
    return literal.encode(), re.compile(f"{begin}{_translate(glob)}{end}")


def _bare(glob: str) -> str:
    """The folder below which a glob names everything, if it has a name; else nothing."""
    if not glob.endswith(("/", "/**")):
        return ""
    folder = glob.removesuffix("/**").rstrip("/")
    return folder if folder.rpartition("/")[2].strip("*?.") else ""


def _translate(glob: str) -> str:
    """A glob as a regular expression."""
    pieces = re.split(r"(\*\*/?|\*|\?|\[!?[^\]/]+\]|/+| )", glob)
    written: list[str] = []
    for place, piece in enumerate(pieces):
        if not place % 2:
            written.append(re.escape(piece))
        elif piece.startswith("**"):
            any_path = f"[^\\n]{{0,{_LONGEST_PATH}}}"
            written.append(f"(?:{any_path}/)?" if piece.endswith("/") else any_path)
        elif piece in ("*", "?"):
            written.append(_IN_NAME + (f"{{0,{_LONGEST_NAME}}}" if piece == "*" else ""))
        elif piece.startswith("["):
            written.append(_class(piece))
        else:
            written.append("/* " if piece == " " else _SLASH)  # a shell may put a backslash before a blank
    return "".join(written)


def _class(piece: str) -> str:
    negated = piece.startswith("[!")
    inner = piece[2 if negated else 1 : -1].replace("\\", "\\\\").replace("^", "\\^")
    try:
        re.compile(f"[{inner}]")
    except re.error:
        return re.escape(piece)
    return f"[{'^/' if negated else ''}{inner}]"
