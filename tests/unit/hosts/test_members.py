"""One member of somebody else's JSON file: whatever the file looks like, nothing else of it changes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.hosts.mcp import members

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

VALUE = {"command": "/usr/bin/python3", "args": ["-m", 'a "b"', "数据库"], "env": {"X": "1"}}
BLANKS = st.sampled_from(["", "", " ", "\n", "\n  ", "\r\n\t", "  \n\n"])
NAMES = st.text(max_size=6).filter(lambda name: name != "aforesaid")


@st.composite
def written(draw: DrawFn, depth: int = 0) -> str:
    """An object in JSON as nobody's printer writes it."""
    parts: list[str] = []
    for name in draw(st.lists(NAMES, max_size=4, unique=True)):
        inner = draw(st.one_of(st.integers(), st.text(max_size=5), st.none(), st.lists(st.booleans(), max_size=2)))
        text = draw(written(depth + 1)) if depth < 2 and draw(st.booleans()) else json.dumps(inner, ensure_ascii=False)
        quoted = json.dumps(name, ensure_ascii=draw(st.booleans()))
        parts.append(draw(BLANKS) + quoted + draw(BLANKS) + ":" + draw(BLANKS) + text + draw(BLANKS))
    return "{" + (",".join(parts) or draw(BLANKS)) + "}"


@st.composite
def files(draw: DrawFn) -> str:
    mark = draw(st.sampled_from(["", "", "\ufeff"]))
    return mark + draw(BLANKS) + draw(written()) + draw(BLANKS)


@given(files())
def test_what_is_put_in_and_taken_out_leaves_every_byte(text: str) -> None:
    before = members.parse(text)
    made = members.put(text, members.look(text), "aforesaid", VALUE)
    assert members.parse(made) == {**before, "aforesaid": VALUE}
    assert list(members.parse(made))[:-1] == list(before)
    assert members.take(made, members.look(made), "aforesaid") == text


@given(files(), st.data())
def test_the_same_within_an_object_of_the_file(text: str, data: Any) -> None:
    before = members.parse(text)
    inner = [name for name, value in before.items() if isinstance(value, dict)]
    if not inner:
        return
    name = data.draw(st.sampled_from(inner))
    made = members.put(text, members.look(text, [name]), "aforesaid", VALUE)
    assert members.parse(made) == {**before, name: {**before[name], "aforesaid": VALUE}}
    assert members.take(made, members.look(made, [name]), "aforesaid") == text
    member = members.look(made, [name]).find("aforesaid")
    assert member is not None
    other = members.swap(made, member, {"b": [1]})
    assert members.parse(other)[name]["aforesaid"] == {"b": [1]}
    assert members.take(other, members.look(other, [name]), "aforesaid") == text


@given(files(), st.data())
def test_taking_any_member_leaves_the_others(text: str, data: Any) -> None:
    before = members.parse(text)
    assert members.take(text, members.look(text), "aforesaid") == text
    if before:
        name = data.draw(st.sampled_from(list(before)))
        left = members.parse(members.take(text, members.look(text), name))
        assert left == {key: value for key, value in before.items() if key != name}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}\n", '{\n  "a": {\n    "b": 1\n  }\n}\n'),
        ('{"x":1}', '{"x":1,"a":{"b":1}}'),
        ('{"x": 1}\n', '{"x": 1, "a": {"b": 1}}\n'),
        ('{\n\t"x": 1\n}', '{\n\t"x": 1,\n\t"a": {\n\t\t"b": 1\n\t}\n}'),
        ('{\r\n    "x": 1\r\n}\r\n', '{\r\n    "x": 1,\r\n    "a": {\r\n        "b": 1\r\n    }\r\n}\r\n'),
    ],
)
def test_what_is_put_in_looks_as_the_file_does(text: str, expected: str) -> None:
    assert members.put(text, members.look(text), "a", {"b": 1}) == expected


def test_of_two_members_of_one_name_the_last_counts() -> None:
    text = '{"s": {"x": 1}, "s": {}}'
    made = members.put(text, members.look(text, ["s"]), "a", 1)
    assert members.parse(made) == {"s": {"a": 1}}


def test_what_is_no_object_holds_nothing() -> None:
    for text in ("[]", '"x"', "7"):
        with pytest.raises(LookupError):
            members.look(text)
    with pytest.raises(LookupError):
        members.look('{"s": [1]}', ["s"])
    for text in ("{", "{'a': 1}", '{"a": NaN}', "{} {}", '{"a": 1,}', "// no\n{}"):
        with pytest.raises(ValueError, match=r"."):
            members.parse(text)
