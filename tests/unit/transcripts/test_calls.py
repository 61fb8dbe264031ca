"""Tool calls as text, and what counts as encoded data."""

from __future__ import annotations

import base64
from hashlib import sha256

import pytest

from aforesaid.transcripts import calls

RANDOM = b"".join(sha256(bytes([n])).digest() for n in range(64))
ENCODED = base64.b64encode(RANDOM).decode()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"command": "make test", "timeout": 30}, "t\ncommand: make test\ntimeout: 30"),
        ({"code": 'print("a\\n")\n\tx = {1: 2}'}, 't\ncode: print("a\\n")\n\tx = {1: 2}'),
        ({"edits": [{"oldText": "a", "newText": 'b "c"'}]}, 't\noldText: a\nnewText: b "c"'),
        ({"paths": ["a.py", "b.py"]}, "t\npaths: a.py\npaths: b.py"),
        ({"tags": [1, 2.5, None, True]}, "t\ntags: [1,2.5,null,true]"),
        ({"a": {"b": {"c": "перевод 翻译"}}}, "t\nc: перевод 翻译"),
        ({"none": None, "no": False, "empty": {}}, "t\nno: false"),
        ({"x": "\ud800 🙂"}, "t\nx: \ud800 🙂"),
        (["a", 1], "t\narguments: a\narguments: 1"),
        ("raw text", "t\narguments: raw text"),
        (None, "t"),
        ({}, "t"),
    ],
)
def test_a_call_is_its_tool_and_a_line_an_argument(arguments: object, text: str) -> None:
    assert calls.render("t", arguments) == text


def test_what_is_nested_deeply_is_compact_json() -> None:
    value: object = {"key": "è"}
    for _ in range(9):
        value = {"inner": value}
    assert calls.render("t", value) == 't\ninner: {"key":"è"}'


def test_absurd_arguments_cost_their_value_only() -> None:
    value: object = 1
    for _ in range(100_000):
        value = [value]
    assert calls.render("t", {"deep": value, "x": "y"}).startswith("t\n")
    assert calls.render("t", {"deep": value, "x": "y"}).endswith("\nx: y")
    assert calls.render("t", {"n": 10**5000, "x": "y"}) == "t\nn: \nx: y"


@pytest.mark.parametrize("text", [
    ENCODED,
    base64.urlsafe_b64encode(RANDOM).decode(),
    base64.encodebytes(RANDOM).decode(),
    "\n".join(ENCODED[i : i + 64] for i in range(0, len(ENCODED), 64)),
    f"  {ENCODED}\r\n",
])  # fmt: skip
def test_encoded_data_is_left_out_in_one_line_or_in_many(text: str) -> None:
    assert calls.plain(text) == ""
    assert calls.render("write", {"path": "a.png", "content": text}) == "write\npath: a.png\ncontent: "


@pytest.mark.parametrize("text", [
    "",
    ENCODED[:500],
    f"The key is {ENCODED}",
    "abcdefghij" * 100,
    "A1" * 400,
    "word " * 300,
    "\n".join(f"/home/dev/project/packages/{name * n}/Aa0" for n in range(1, 40) for name in ("alpha", "beta")),
    "数据库" * 300,
    "x" * 70 + " 数据 " * 200,
])  # fmt: skip
def test_ordinary_text_is_kept_however_long_its_words_are(text: str) -> None:
    assert calls.plain(text) == text


def test_data_urls_lose_their_content_wherever_they_stand() -> None:
    text = f'<img src="data:image/png;base64,{ENCODED}"> and data:text/plain;base64,c2hvcnQ='
    assert calls.plain(text) == '<img src="data:image/png;base64,"> and data:text/plain;base64,c2hvcnQ='
    assert calls.plain(f"{text} {'word ' * 200}").startswith('<img src="data:image/png;base64,"> and')


@pytest.mark.parametrize(
    ("tool", "own"),
    [
        ("history_recall", True),
        ("history_expand", True),
        ("history_status", True),
        ("mcp__history__history_recall", True),
        ("mcp__a_b__history_status", True),
        ("history_search", False),
        ("my_history_recall", False),
        ("x__history_recall", False),
        ("bash", False),
        ("", False),
    ],
)
def test_our_own_tools_are_known_by_name(tool: str, own: bool) -> None:
    assert calls.is_own(tool) == own


def test_our_entries_are_known_in_what_a_reader_of_resources_printed() -> None:
    ours, other = '{"uri":"history://session/s/entry/e"}', '{"uri":"docs://page"}'
    for tool in ("read_mcp_resource", "ReadMcpResourceTool"):
        assert calls.brings_own(tool, ["", ours])
        assert not calls.brings_own(tool, [other])
    assert not calls.brings_own("bash", [ours])
    assert calls.brings_own("history_expand", [])


def test_the_address_of_an_entry_is_what_readers_know_it_by() -> None:
    from aforesaid.hosts.mcp.server import entry_uri

    assert entry_uri("s", "e").startswith(calls.OWN_SCHEME)


def test_files_are_the_arguments_that_usually_name_one_in_their_order() -> None:
    arguments = {"file": "b.py", "cwd": "/x", "path": "a.py", "filePath": 3, "filename": "", "notebook_path": "n.ipynb"}
    assert calls.files(arguments) == ("b.py", "a.py", "n.ipynb")
    assert calls.files({"command": "ls"}) == calls.files(["path"]) == calls.files(None) == ()
