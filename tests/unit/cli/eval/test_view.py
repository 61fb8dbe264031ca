"""`aforesaid eval view` on made-up sets, and the gate on the real ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests import pi
from tests.schemas import check

from aforesaid.cli import main
from aforesaid.cli.eval.view import figures
from aforesaid.cli.eval.view.fillings import CEILING, SIZES, Filled

if TYPE_CHECKING:
    from pathlib import Path

    from aforesaid.cli.eval.view.fillings import Found


def chat(folder: Path, name: str, exchanges: list[tuple[str, str]], asked: dict[str, Any]) -> None:
    made = folder / name
    made.mkdir(parents=True)
    turns = []
    for number, (question, answer) in enumerate(exchanges):
        turns += [
            {"id": 2 * number, "role": "user", "content": question},
            {"id": 2 * number + 1, "role": "assistant", "content": answer},
        ]
    (made / "chat.json").write_text(json.dumps([{"turns": [turns]}]))
    questions = {"kind": [asked, {"question": "and?", "source_chat_ids": None}]}
    (made / "probing_questions.json").write_text(json.dumps(questions))


def beam(folder: Path) -> Path:
    """Two chats whose needed exchange stands early, among many that are about something else, and too large for all."""
    filler = [(f"tell me about fruit number {at}", "sweet and round, " * 90) for at in range(40)]
    for name, word in (("one", "walnut"), ("two", "quince")):
        needed = (f"what does the {word} table cost?", f"the {word} table costs 412 crowns")
        chat(
            folder / "memory" / "beam", name, [*filler[:6], needed, *filler[6:]],
            {"question": f"how much was the {word} table?", "source_chat_ids": [12, 13]},
        )  # fmt: skip
    return folder / "memory" / "beam"


def test_all_ways_are_measured_and_one_that_is_as_good_misses_the_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", "view", "--data", str(beam(tmp_path)), "--json"]) == 1
    told = capsys.readouterr()
    document = check("eval-view", told.out)
    assert document["questions"] == 2
    arms = document["arms"]
    assert arms["view"]["evidence@32768"] == arms["tfidf"]["evidence@32768"] == 1.0
    assert arms["newest"]["evidence@32768"] == 0.0
    assert arms["view"]["ceiling@32768"] == arms["view"]["ceiling@8192"] == 1.0
    assert "sets" not in document
    assert "error[gate-missed]: view is not above tfidf, view is not above tfidf:latest; " in told.err, (
        "the pool holds all that was lost, so the sampled one may be as good"
    )
    assert arms["view:latest"] == {**arms["view"], "msPerQuery": arms["view:latest"]["msPerQuery"]}, "no work, no more"


def test_single_ways_and_wrong_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = str(beam(tmp_path))
    assert main(["eval", "view", "--data", data, "--arm", "newest", "--json"]) == 0
    assert list(check("eval-view", capsys.readouterr().out)["arms"]) == ["newest"]
    assert main(["eval", "view", "--data", data, "--arm", "view", "--limit", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "view, beam: 1 questions; needed evidence in whole bundles"
    assert any(line.startswith("view ") for line in lines)
    assert any(line.startswith("ceiling ") for line in lines)
    assert main(["eval", "view", "--data", data, "--arm", "nobody"]) == 2
    assert main(["eval", "view"]) == 2
    assert main(["eval", "view", "--data", str(tmp_path)]) == 2


def answers(*, pooled: bool = False, **shares: float) -> Found:
    def fill(share: float) -> list[Filled]:
        return [Filled(share=share, bytes=b, ms=ms, pooled=pooled) for b, ms in ((100, 1.0), (300, 3.0))]

    return {way: {size: fill(share) for size in SIZES} for way, share in shares.items()}


def test_figures_are_shares_of_what_whole_bundles_can_hold(capsys: pytest.CaptureFixture[str]) -> None:
    found = answers(view=0.4, newest=0.1, ceiling=0.8)
    own = figures.measure(found, "view")
    assert own["evidence@32768"] == 0.4
    assert own["ofCeiling@32768"] == 0.5
    assert (own["bytes@8192"], own["msPerQuery"]) == (200, 2.0)
    assert figures.missed({"beam": found}) == []
    assert figures.missed({"beam": found, "rediscovery": answers(view=0.0, newest=0.3, ceiling=1.0)}) == [
        "view is not above newest",
        "view is not above newest in rediscovery",
    ]
    assert figures.missed({"beam": answers(newest=0.4, ceiling=0.8)}) == []
    two = {"beam": found, "rediscovery": found}
    both = check("eval-view", json.dumps(figures.document("data", two)))
    assert (both["questions"], list(both["sets"])) == (4, ["beam", "rediscovery"])
    figures.show(two)
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines() if line.startswith("view, ")] == [
        "view, beam", "view, rediscovery", "view, all",
    ]  # fmt: skip


def test_a_view_is_above_the_plain_ways_in_each_set_and_beside_a_sampled_pool_only_where_nothing_is_sampled() -> None:
    def asked(own: float, *, pooled: bool = False, **others: float) -> Found:
        named = {name.replace("_", ":"): share for name, share in others.items()}
        return answers(pooled=pooled, **{"view": own, "view:latest": own, **named, CEILING: 1.0})

    high = asked(1.0, newest=0.1, tfidf=0.1, tfidf_latest=0.2, sampled=0.8, sampled_latest=0.8)

    def missed(found: Found) -> list[str]:
        return figures.missed({"beam": high, "rediscovery": found})

    assert missed(asked(0.5, pooled=True, newest=0.4, sampled=0.5, sampled_latest=0.5)) == []
    assert missed(asked(0.5, newest=0.4, sampled=0.5, sampled_latest=0.5)) == [
        "view is not above sampled in rediscovery",
        "view is not above sampled:latest in rediscovery",
    ]
    low = asked(0.5, pooled=True, newest=0.5, tfidf=0.5, tfidf_latest=0.5, sampled=0.6, sampled_latest=0.5)
    assert missed(low) == [
        f"view is not above {way} in rediscovery" for way in ("newest", "tfidf", "tfidf:latest", "sampled")
    ]
    assert figures.missed({"beam": asked(0.5, sampled=0.5)}) == ["view is not above sampled"]
    assert figures.missed({"beam": asked(0.5, pooled=True, sampled=0.5)}) == []


@pytest.mark.data
def test_on_real_sessions_the_view_is_above_every_plain_way(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ways = ("view", "newest", "tfidf", "tfidf:latest", "view:latest")
    chosen = [part for way in ways for part in ("--arm", way)]
    assert main(["eval", "view", "--data", str(data / "rediscovery"), "--json", *chosen]) == 0
    arms = check("eval-view", capsys.readouterr().out)["arms"]
    best = max(arms[way]["ofCeiling@32768"] for way in ways[1:])
    assert arms["view"]["ofCeiling@32768"] > best


@pytest.mark.data
def test_on_real_chats_the_view_is_above_every_plain_way(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ways = ("--arm", "view", "--arm", "newest", "--arm", "tfidf")
    assert main(["eval", "view", "--data", str(data / "memory" / "beam"), "--limit", "30", "--json", *ways]) == 0
    arms = check("eval-view", capsys.readouterr().out)["arms"]
    best = max(arms[way]["ofCeiling@32768"] for way in ("newest", "tfidf"))
    assert arms["view"]["ofCeiling@32768"] > best + 0.03


def rediscovery(folder: Path) -> Path:
    """A prompt that needs what the user said, one that needs what only a tool knew, and one that needs nothing."""
    (folder / "rediscovery" / "transcripts").mkdir(parents=True)
    rows = [
        *pi.conversation(["the gateway reads src/port.py", "noted", "tea is served", "at five"]),
        pi.message("t0000000", "e0000003", "walnut.py was read", "toolResult", 4),
    ]
    cut = pi.compaction("c0000000", "t0000000", "none", "a summary", 5)
    asked = pi.message("q0000000", "c0000000", "what does the gateway read?", minute=6)
    pi.write(folder / "rediscovery" / "transcripts" / "one.jsonl", [pi.header(), *rows, cut, asked])
    same = {
        "file": "one.jsonl", "simulated": False, "automatic": False, "prompt": {"id": "q0000000"},
        "visible": {"ids": ["c0000000"], "lines": [7, 8]},
    }  # fmt: skip
    needs = {"a": ["src/port.py"], "b": ["walnut.py"], "c": []}
    questions = [
        {
            "qid": name,
            "query": "what does the gateway read?",
            "needed": [{"item": item, "step": 1} for item in items],
            **same,
        }
        for name, items in needs.items()
    ]
    (folder / "rediscovery" / "dev.json").write_text(json.dumps({"questions": questions}))
    return folder / "rediscovery"


def test_of_the_rediscovery_set_counts_what_somebody_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["eval", "view", "--data", str(rediscovery(tmp_path)), "--json"])
    document = check("eval-view", capsys.readouterr().out)
    assert document["questions"] == 1, "a tool's words are in no view"
    assert document["arms"]["view"]["evidence@32768"] == 1.0
    beam(tmp_path)
    main(["eval", "view", "--data", str(tmp_path), "--json"])
    both = check("eval-view", capsys.readouterr().out)
    assert (both["questions"], list(both["sets"])) == (3, ["beam", "rediscovery"])


def test_many_needed_turns_are_weighed_by_what_they_gain_for_their_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exchanges = [(f"port question {at}", "port " * (40 + 150 * (at % 3))) for at in range(40)]
    asked = {"question": "which port?", "source_chat_ids": list(range(0, 80, 2))}
    chat(tmp_path / "set", "one", exchanges, asked)
    main(["eval", "view", "--data", str(tmp_path / "set"), "--json"])
    arms = check("eval-view", capsys.readouterr().out)["arms"]
    assert all(arm["evidence@8192"] <= arm["ceiling@8192"] + 1e-9 for arm in arms.values())
    assert arms["view"]["ceiling@8192"] == 0.275, "eleven of the smallest bundles"
