"""One table of somebody else's TOML file: whatever the file looks like, nothing else of it changes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.hosts.mcp import tables

PATH = ("mcp_servers", "aforesaid")
VALUES: Any = {
    "command": "C:\\Program Files\\py.exe",
    "args": ["-m", 'a "b"', "数据库 \x7f \t \U0001f600"],
    "env": {"X": "1"},
}
OWN = {"command": "C:\\Program Files\\py.exe", "args": ["-m", 'a "b"', "数据库 \x7f \t \U0001f600"], "env": {"X": "1"}}
FILES = (
    "",
    "model = 'x'",
    "# only a comment\n",
    "model = \"x\"\n\n[mcp_servers.other]\ncommand = 'y'\n",
    "\r\nmodel = 1\r\n[a]\r\nb = [\r\n  1,\r\n  2,\r\n]\r\n",
    "\ufeffmodel = 1\n\n\n\n",
    'text = """\n[mcp_servers.aforesaid]\ncommand = "no"\n"""\n[profiles."a.b"]\nx = 1 # said\n',
    "mcp_servers.other.command = 'dotted'\n",
    "[[hooks.Prompt]]\n[[hooks.Prompt.hooks]]\ncommand = 'z'",
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def put(text: str, values: Any = OWN) -> str:
    return tables.put(text, PATH, values)


def take(made: str, text: str) -> str:
    return tables.take(made, PATH, tables.lead_of(text))


def table(text: str) -> Any:
    return tables.parse(text)["mcp_servers"]["aforesaid"]


@pytest.mark.parametrize("text", FILES)
def test_what_is_put_in_and_taken_out_leaves_every_byte(text: str) -> None:
    made = put(text)
    assert made.startswith(text)
    assert table(made) == OWN
    assert take(made, text) == text
    changed = tables.swap(made, PATH, {"command": "other", "args": []})
    assert table(changed) == {"command": "other", "args": [], "env": {"X": "1"}}
    assert take(changed, text) == text


@given(TEXTS, st.lists(TEXTS, max_size=4), TEXTS, TEXTS)
def test_every_text_can_be_an_argument(command: str, arguments: list[str], other: str, comment: str) -> None:
    bare = "".join(letter for letter in comment if letter.isprintable())
    text = f"# {bare}\nx = 1\n"
    made = put(text, {"command": command, "args": arguments, "env": {"X": other}})
    assert table(made) == {"command": command, "args": arguments, "env": {"X": other}}
    assert take(made, text) == text
    changed = tables.swap(made, PATH, {"command": other, "args": [command]})
    assert table(changed) == {"command": other, "args": [command], "env": {"X": other}}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_others_have_added_around_and_below_is_kept_or_goes_with_it(newline: str) -> None:
    text = f"model = 1{newline}"
    made = put(text)
    trust = f'# mine{newline}[projects."/x"]{newline}trust_level = "trusted"{newline}'
    assert take(made + trust, text) == text + trust
    assert take(made + newline + trust, text) == text + newline + trust
    approved = (
        f'[mcp_servers.aforesaid.tools.history_recall]{newline}approval_mode = "approve"{newline}'
        f'{newline}[ mcp_servers . "aforesaid".tools.x ]{newline}a = 1{newline}'
    )
    assert take(made + approved + trust, text) == text + trust
    within = made.replace("args =", f"startup_timeout_sec = 20{newline}args =")
    changed = tables.swap(within, PATH, {"command": "other", "args": ["x"]})
    assert table(changed)["startup_timeout_sec"] == 20
    assert take(changed, text) == text


REWRITTEN = """model = "x"

[mcp_servers.docs]
command = "true"

[mcp_servers.aforesaid]
command = "py"
args = [
    "-m",
    "a [b] c",
]

[mcp_servers.aforesaid.env]
X = "1"

# about the other
[mcp_servers.other]
command = "echo"
"""


def test_a_file_that_codex_wrote_anew_is_edited_all_the_same() -> None:
    changed = tables.swap(REWRITTEN, PATH, {"command": "other", "args": ["x"]})
    assert table(changed) == {"command": "other", "args": ["x"], "env": {"X": "1"}}
    left = tables.take(REWRITTEN, PATH, 2)
    before, _, rest = REWRITTEN.partition("[mcp_servers.aforesaid]")
    assert left == before.rstrip() + "\n" + rest[rest.index("# about") :]


@pytest.mark.parametrize(
    "text", ["mcp_servers = {}\n", 'mcp_servers = {other = {command = "x"}}\n', "[mcp_servers.aforesaid]\n", "x = [\n"]
)
def test_a_file_without_room_for_a_table_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        put(text)


def test_a_table_that_is_no_section_is_not_guessed_at() -> None:
    inline = 'mcp_servers = {aforesaid = {command = "x", args = []}}\n'
    with pytest.raises(ValueError, match="safely"):
        tables.take(inline, PATH, 0)
    with pytest.raises(ValueError, match="safely"):
        tables.swap(inline, PATH, {"command": "x", "args": ["y"]})
    odd = '[mcp_servers.aforesaid]\n"command" = "x"\nargs = []\n'
    with pytest.raises(ValueError, match="safely"):
        tables.swap(odd, PATH, {"command": "y", "args": []})
    assert tables.take(odd, PATH, 0) == ""
