from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests import pi

from aforesaid import Caller, Engine
from aforesaid.errors import PathMissing
from aforesaid.hosts.places import Place
from aforesaid.hosts.tools import HistoryTools, refusal
from aforesaid.tokens import estimate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CALLER = Caller(name="tool", model=True, refs_last=60)
TEXTS = [
    "数据库 " * 300, "one line without an end " * 800, "line\n" * 900, "🎉" * 2000, "short", "\x00\x01" * 400,
    "quotes \"\\" * 500,
]  # fmt: skip


@pytest.mark.parametrize("most", [256, 300, 1000, 3000, 6000])
def test_no_result_is_longer_than_it_may_be_and_what_is_shown_is_verbatim(tmp_path: Path, most: int) -> None:
    file = pi.write(tmp_path / "s.jsonl", [pi.header("s"), *pi.conversation(TEXTS)])
    with Engine.open(tmp_path / "store", settings={"historyTools.maxOutputTokens": most}) as engine:
        engine.index(file)
        tools = HistoryTools(engine, CALLER)
        place = Place(session=str(file))
        seen: list[str] = []
        cursor = None
        while True:
            page = tools.recall({"limit": 12, "cursor": cursor}, place)
            assert estimate(json.dumps(page, ensure_ascii=False, separators=(",", ":"))) <= max(most, 700)
            for hit in page["hits"]:
                assert hit["snippet"] in TEXTS[int(hit["entryId"][1:])]
            seen += [hit["entryId"] for hit in page["hits"]]
            cursor = page["next"]
            if cursor is None:
                break
        assert len(seen) == len(set(seen)) == len(TEXTS)
        for number, text in enumerate(TEXTS):
            shown = tools.expand({"entry": [f"e{number:07}"]}, place)
            assert estimate(json.dumps(shown, ensure_ascii=False, separators=(",", ":"))) <= max(most, 700)
            (passage,) = shown["entries"]
            assert passage["text"] == text[: len(passage["text"])]
            assert passage["complete"] == (passage["text"] == text) == (shown["next"] is None)
            assert passage["lines"] == passage["text"].count("\n") + 1


def read_on(expand: Callable[[dict[str, Any]], Any], asked: dict[str, Any], most: int) -> tuple[str, int]:
    """The text of an entry from all its pieces, put together as docs/recall.md says, and how many there were."""
    text, line, pieces = "", 0, 0
    cursor = None
    while pieces == 0 or cursor is not None:
        shown = expand({**asked, "cursor": cursor})
        assert estimate(json.dumps(shown, ensure_ascii=False, separators=(",", ":"))) <= max(most, 700)
        (piece,) = shown["entries"]
        cursor, pieces = shown["next"], pieces + 1
        assert piece["complete"] == (pieces == 1 and cursor is None)
        assert piece["text"] or piece["startLine"] > line
        text += ("" if piece["startLine"] == line or pieces == 1 else "\n") + piece["text"]
        line = piece["startLine"] + piece["lines"] - 1
    return text, pieces


@pytest.mark.parametrize(
    ("most", "text", "pieces"),
    [
        (256, "один длинный ряд без конца " * 50, 18),
        (256, "line of some words, which is longer than a piece may be when there is so little room\n\n" * 20, 60),
        (3000, " ".join(f"tok{number:06}" for number in range(6001)), 25),
        (3000, "short\n" + "数据库" * 3000 + "\n\nshort\n" + "🧑‍🚀" * 900 + "\r\nend\n", 14),
        (600, "e" + "\u0301" * 1000 + "\ud800" * 300, 8),
    ],
)
def test_following_next_yields_the_whole_text(tmp_path: Path, most: int, text: str, pieces: int) -> None:
    file = pi.write(tmp_path / "s.jsonl", [pi.header("s"), *pi.conversation([text])])
    with Engine.open(tmp_path / "store", settings={"historyTools.maxOutputTokens": most}) as engine:
        engine.index(file)
        tools = HistoryTools(engine, CALLER)
        place = Place(session=str(file))
        (hit,) = tools.recall({"query": text.split(maxsplit=1)[0][:5]}, place)["hits"]
        for asked in ({"ref": hit["ref"]}, {"entry": ["e0000000"]}, {"entry": ["e0000000"], "maxLines": 3}):
            found, count = read_on(lambda arguments: tools.expand(arguments, place), asked, most)
            assert found == text
            if "maxLines" not in asked:
                assert count <= pieces


def test_defaults_come_from_the_configuration(tmp_path: Path) -> None:
    rows = pi.conversation(["port"] * 5)
    side = pi.message("side0000", rows[0]["id"], "port aside", minute=1)
    cut = pi.compaction("cccccccc", rows[-1]["id"], rows[-1]["id"], "about the port")
    file = pi.write(tmp_path / "s.jsonl", [pi.header("s"), *rows[:2], side, *rows[2:], cut])
    settings = {
        "historyTools.maxResults": 2, "historyTools.defaultScope": "current-session",
        "historyTools.includeSummaries": True,
    }  # fmt: skip
    with Engine.open(tmp_path / "store", settings=settings) as engine:
        tools = HistoryTools(engine, CALLER)
        place = Place(session=str(file))
        assert len(tools.recall({"query": "port"}, place)["hits"]) == 2
        found = {hit["entryId"] for hit in tools.recall({"query": "port", "limit": 12}, place)["hits"]}
        assert {"side0000", "cccccccc"} <= found
        asked = {"query": "port", "limit": 12, "summaries": False, "scope": "current-branch"}
        found = {hit["entryId"] for hit in tools.recall(asked, place)["hits"]}
        assert not {"side0000", "cccccccc"} & found
        assert tools.status({}, place)["defaultScope"] == "current-session"


def test_what_a_model_is_told_of_a_failure_does_not_name_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someuser")
    monkeypatch.setenv("USERPROFILE", "/home/someuser")
    error = PathMissing("there is no file /home/someuser/x.jsonl", "see /tmp/someuser/log or /Users/mary/y")
    assert refusal(error) == {
        "error": {"code": "path-missing", "message": "there is no file ~/x.jsonl", "hint": "see /tmp/~/log or ~/y"}
    }
