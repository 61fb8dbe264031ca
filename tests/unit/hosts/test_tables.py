"""One table of somebody else's TOML file: whatever the file looks like, nothing else of it changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.hosts.mcp import tables

PATH = ("mcp_servers", "aforesaid")
VALUES = {"command": "C:\\Program Files\\py.exe", "args": ["-m", 'a "b"', "数据库 \x7f \t \U0001f600"]}
OWN = {"command": VALUES["command"], "args": list(VALUES["args"])}
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


@pytest.mark.parametrize("text", FILES)
def test_what_is_put_in_and_taken_out_leaves_every_byte(text: str) -> None:
    made = tables.put(text, PATH, VALUES, "made entry")
    assert made.startswith(text)
    assert tables.parse(made)["mcp_servers"]["aforesaid"] == OWN
    assert tables.find_note(made) == "made entry"
    assert tables.take(made, PATH) == text
    changed = tables.swap(made, PATH, {"command": "other", "args": []})
    assert tables.parse(changed)["mcp_servers"]["aforesaid"] == {"command": "other", "args": []}
    assert tables.take(changed, PATH) == text
    assert tables.find_note(text) is None


@given(TEXTS, st.lists(TEXTS, max_size=4), TEXTS)
def test_every_text_can_be_an_argument(command: str, arguments: list[str], comment: str) -> None:
    bare = "".join(letter for letter in comment if letter.isprintable())
    text = f"# {bare}\nx = 1\n"
    made = tables.put(text, PATH, {"command": command, "args": arguments}, "made entry")
    assert tables.parse(made)["mcp_servers"]["aforesaid"] == {"command": command, "args": arguments}
    assert tables.take(made, PATH) == text


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_others_have_added_around_and_below_is_kept_or_goes_with_it(newline: str) -> None:
    text = f"model = 1{newline}"
    made = tables.put(text, PATH, VALUES, "made entry")
    trust = f'[projects."/x"]{newline}trust_level = "trusted"{newline}'
    assert tables.take(made + trust, PATH) == text + trust
    approved = (
        f'[mcp_servers.aforesaid.tools.history_recall]{newline}approval_mode = "approve"{newline}'
        f'[ mcp_servers . "aforesaid".tools.x ]{newline}a = 1{newline}'
    )
    assert tables.take(made + approved + trust, PATH) == text + trust
    within = made.replace("args =", f"startup_timeout_sec = 20{newline}args =")
    changed = tables.swap(within, PATH, {"command": "other", "args": ["x"]})
    assert tables.parse(changed)["mcp_servers"]["aforesaid"]["startup_timeout_sec"] == 20
    assert tables.take(changed, PATH) == text


@pytest.mark.parametrize(
    "text", ["mcp_servers = {}\n", 'mcp_servers = {other = {command = "x"}}\n', "[mcp_servers.aforesaid]\n", "x = [\n"]
)
def test_a_file_without_room_for_a_table_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        tables.put(text, PATH, VALUES, "made entry")


def test_a_table_that_was_rewritten_is_not_guessed_at() -> None:
    made = tables.put("", PATH, VALUES, "made entry")
    bare = "\n".join(line for line in made.splitlines() if not line.startswith("#"))
    with pytest.raises(ValueError, match="comments"):
        tables.swap(bare, PATH, VALUES)
    moved = made.replace("command =", "command  =\t").replace('args = ["-m"', 'args = [\n "-m"')
    with pytest.raises(ValueError, match=r"."):
        tables.swap(moved, PATH, {"command": "x", "args": ["y"]})
    assert tables.take(bare, PATH) == ""
    with pytest.raises(ValueError, match="safely"):
        tables.take('mcp_servers = {aforesaid = {command = "x"}}\n', PATH)
