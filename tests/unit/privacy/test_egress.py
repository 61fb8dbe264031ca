"""Secrets on the way out of a store that holds raw text: no road hands one out, and offsets stay those of the store."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid import Engine
from aforesaid.answers import Window
from aforesaid.model import Checkpoint, Header, Session
from aforesaid.privacy.egress import is_due
from aforesaid.privacy.secrets import VERSION
from aforesaid.replacements import replace_in

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "Tr0ub4" + "dor-9xK"
SAID = f"for zyxomorph the password is {SECRET}, keep it"


def transcript(folder: Path) -> Path:
    """A session whose first message holds a secret and is out of the model's sight."""
    rows: list[dict[str, object]] = [
        {"type": "session", "version": 3, "id": "s", "timestamp": "2026-11-30T02:00:00Z", "cwd": "/w"}
    ]
    for number, (role, text) in enumerate(
        [
            ("user", SAID),
            ("assistant", "noted " * 2000 + f"\npassword: {SECRET}\n"),
            ("user", "go on"),
            ("user", "what was it again?"),
        ]
    ):
        rows.append(
            {
                "type": "message",
                "id": f"e{number}",
                "parentId": f"e{number - 1}" if number else None,
                "timestamp": f"2026-11-30T02:00:0{number}.000Z",
                "message": {"role": role, "content": [{"type": "text", "text": text}]},
            }
        )
    file = folder / "session.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def opened(folder: Path, **more: bool) -> Engine:
    return Engine.open(
        folder / "store", settings=[f"privacy.{key}={str(value).lower()}" for key, value in more.items()]
    )


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("egress", [True, False])
def test_every_road_redacts_unless_both_options_are_off(tmp_path: Path, index: bool, egress: bool) -> None:
    file = transcript(tmp_path)
    raw = not (index or egress)
    with opened(tmp_path, redactIndex=index, redactSecrets=egress) as engine:
        found = engine.retrieve(session=file, query="zyxomorph", context_entries=())
        page = engine.recall("zyxomorph", session=file)
        listed = engine.recall("", session=file, limit=10)
        passages = engine.expand(session=file, entries=["e0", "e1"]).entries
        followed = engine.expand(page.hits[0].ref).entries
    texts = [hit.message for hit in found.hits] + [hit.excerpt for hit in found.hits]
    texts += [window.text for hit in found.hits for window in hit.windows]
    texts += [hit.snippet for hit in (*page.hits, *listed.hits)] + [one.text for one in (*passages, *followed)]
    assert len(found.hits) == 1
    assert len(passages) == 2
    assert any(SECRET in text for text in texts) is raw
    assert any("[redacted:password:8+]" in text for text in texts) is not raw
    assert found.hits[0].ranked.candidate.entry.redacted == int(not raw)
    assert passages[0].redacted == int(not raw)


def test_offsets_are_those_of_the_stored_text(tmp_path: Path) -> None:
    file = transcript(tmp_path)
    with opened(tmp_path, redactIndex=False) as engine:
        (hit,) = engine.retrieve(session=file, query="zyxomorph", context_entries=()).hits
        (window,) = hit.windows
        assert (window.start, window.end) == (0, len(SAID))
        assert window.text == SAID.replace(SECRET, "[redacted:password:8+]")
        literal = engine.retrieve(session=file, query=f"`{SECRET}`", context_entries=())
        assert literal.hits
        assert not any(SECRET in one.message for one in literal.hits)


def test_a_marker_of_a_class_beside_a_secret_hides_it_on_no_road(tmp_path: Path) -> None:
    file = transcript(tmp_path)
    split = SECRET[:5] + "[aforesaid:internal]" + SECRET[5:]
    file.write_text(file.read_text().replace(SAID, SAID.replace(SECRET, split)))
    with opened(tmp_path, redactIndex=False) as engine:
        (hit,) = engine.retrieve(session=file, query="zyxomorph", context_entries=()).hits
        (passage,) = engine.expand(session=file, entries=["e0"]).entries
    shown = SAID.replace(SECRET, "[aforesaid:internal][redacted:password:8+]")
    assert (hit.excerpt, passage.text) == (shown, shown)
    assert hit.windows[0].end == len(SAID.replace(SECRET, split))


def test_the_same_request_is_not_brought_back_for_itself(tmp_path: Path) -> None:
    file = transcript(tmp_path)
    with opened(tmp_path) as engine:
        again = engine.retrieve(session=file, query=SAID, context_entries=())
        assert "e0" not in [hit.ranked.candidate.entry.id for hit in again.hits]
        assert engine.retrieve(session=file, query=f"`{SECRET}`", context_entries=()).hits == ()


def test_text_that_was_cleared_by_these_rules_is_not_searched_again() -> None:
    session = Session(
        key="k", file="/f", header=Header(host="pi", session_id="s"), checkpoint=Checkpoint(redaction=VERSION)
    )
    assert not is_due(session, redacting=True)
    assert is_due(Session(key="k", file="/f", header=session.header), redacting=True)
    assert not is_due(Session(key="k", file="/f", header=session.header), redacting=False)


TEXT = "0123456789abcdefghij"


@pytest.mark.parametrize(
    ("span", "replacements", "expected"),
    [
        ((5, 15), [(7, 9, "X")], (5, 15, "56X9abcde")),
        ((5, 15), [(3, 8, "X")], (8, 15, "89abcde")),
        ((5, 15), [(12, 18, "X")], (5, 12, "56789ab")),
        ((5, 15), [(3, 8, "X"), (12, 18, "Y")], (8, 12, "89ab")),
        ((5, 15), [(0, 20, "X")], (5, 15, "X")),
        ((5, 15), [(5, 15, "X")], (5, 15, "X")),
        ((5, 15), [(0, 5, "X"), (15, 20, "Y")], (5, 15, "56789abcde")),
    ],
)
def test_a_window_keeps_its_place(
    span: tuple[int, int], replacements: list[tuple[int, int, str]], expected: tuple[int, int, str]
) -> None:
    start, end = span
    (window,) = replace_in([Window(start=start, end=end, text=TEXT[start:end])], replacements)
    assert (window.start, window.end, window.text) == expected


@given(st.data())
def test_no_part_of_what_is_replaced_stays(data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, 20), min_size=6, max_size=6)))
    replacements = [(first, last, "*") for first, last in zip(cuts[::2], cuts[1::2], strict=True) if first < last]
    start, end = sorted(data.draw(st.tuples(st.integers(0, 20), st.integers(0, 20))))
    (window,) = replace_in([Window(start=start, end=end, text=TEXT[start:end])], replacements)
    hidden = {TEXT[at] for first, last, _ in replacements for at in range(first, last)}
    assert not hidden & set(window.text)
    assert start <= window.start <= window.end <= end or window.text == "*"
