"""The rediscovery set: its labels, what each arm is asked, what is counted, and what is shown."""

from __future__ import annotations

import json
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace
from tests import pi
from tests.schemas import check

from aforesaid import Engine
from aforesaid.cli import main
from aforesaid.cli.eval.arms import defaults
from aforesaid.cli.eval.goals import above_zero, at_most
from aforesaid.cli.eval.rediscovery import gate, labels, replay, scores
from aforesaid.cli.eval.rediscovery.labels import Need, Prompt
from aforesaid.cli.eval.rediscovery.replay import Answer, Excerpt
from aforesaid.embedders.feature_hash import FeatureHash
from aforesaid.errors import BadArgument, OperationError
from aforesaid.storage.sqlite import open_store

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from aforesaid.embedding import Purpose
    from aforesaid.model import Cleared

LOST = (
    "the gateway reads src/gateway/port.py with `GATEWAY_PORT` 58213",
    "noted \ud800",
    "tea is served at five",
    "the walnut table is in docs/table.md",
)


def label(name: str, query: str, **more: Any) -> dict[str, Any]:
    return {
        "qid": name, "file": "one.jsonl", "simulated": False, "automatic": False, "query": query,
        "prompt": {"id": "f0000002", "line": 9}, "visible": {"ids": ["e0000003"], "lines": [6, 9]}, **more,
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "transcripts" / "pi").mkdir(parents=True)
    rows = pi.conversation(LOST)
    cut = pi.compaction("c0000000", "e0000003", "e0000003", "a summary", 5)
    after = pi.conversation(["go on", "well, the walnut", "which gateway port is it?"], 6, "f", "c0000000")
    pi.write(tmp_path / "transcripts" / "pi" / "one.jsonl", [pi.header(), *rows, cut, *after])
    needed = [{"item": "src/gateway/port.py", "step": 2}, {"item": "GATEWAY_PORT", "step": 11}]
    gold = {"gold": {"e0000000": [0, 1]}, "gold_lines": {"e0000000": 2}, "needed": needed}
    questions = [
        label("a", "which gateway port is it?", **gold),
        label("b", "go on", **gold, automatic=True),
        label("c", "the gateway", **gold, simulated=True),
    ]
    silent = [label("d", "thanks"), label("e", "gateway")]
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "dev.json").write_text(json.dumps({"questions": questions}), "utf-8")
    (tmp_path / "set" / "silence.json").write_text(json.dumps({"prompts": silent}), "utf-8")
    return tmp_path / "set"


def prompt(*needs: Need, **changed: Any) -> Prompt:
    values: dict[str, Any] = {
        "name": "q", "file": "f", "leaf": "x", "query": "?", "ids": (), "lines": (1, 1), "needs": needs,
        "gold": frozenset({"e1", "L7"}), **changed,
    }  # fmt: skip
    return Prompt(**values)


def answer(of: Prompt, *found: tuple[str, str]) -> Answer:
    excerpts = tuple(Excerpt(names=frozenset({name, "L0"}), text=text, tokens=10) for name, text in found)
    return Answer(prompt=of, excerpts=excerpts, ms=4.0)


def test_the_set_is_read_with_its_needs_and_its_silence(folder: Path) -> None:
    found = labels.read(str(folder))
    assert [one.name for one in found.prompts] == ["a", "b", "c"]
    assert [one.name for one in found.silent] == ["d", "e"]
    first = found.prompts[0]
    assert first.needs == (Need(item="src/gateway/port.py", early=True), Need(item="GATEWAY_PORT", early=False))
    assert (first.gold, first.leaf, first.lines) == (frozenset({"e0000000", "L2"}), "f0000002", (6, 9))
    assert first.file.endswith("one.jsonl")
    limited = labels.read(str(folder), 1)
    assert (len(limited.prompts), len(limited.silent)) == (1, 1)
    (folder / "silence.json").unlink()
    assert labels.read(str(folder)).silent == ()


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({}, "is no rediscovery set"),
        ([], "is no rediscovery set"),
        ({"questions": [{"file": 1}]}, "transcript 1 is missing"),
        ({"questions": [{"file": "one.jsonl"}]}, "is no rediscovery set"),
        ({"questions": []}, "holds no prompt"),
        ({"questions": [label("a", "x", file="two.jsonl")]}, "two.jsonl is missing"),
    ],
)
def test_what_is_no_set_is_an_argument_error(folder: Path, document: object, said: str) -> None:
    (folder / "dev.json").write_text(json.dumps(document), "utf-8")
    with pytest.raises(BadArgument, match=said):
        labels.read(str(folder))


def test_what_the_label_says_was_visible_is_not_asked_for(folder: Path) -> None:
    found = labels.read(str(folder))
    store = str(folder / "store")
    with Engine.open(store, defaults({})) as engine:
        engine.index(found.prompts[0].file)
    opened = open_store(store)
    moment = replay.make_moment(opened, found.prompts[0])
    assert moment.context == ("e0000003", "c0000000", "f0000000", "f0000001", "f0000002")
    assert [entry.id for entry in moment.eligible] == ["e0000000", "e0000001", "e0000002"]
    with pytest.raises(OperationError, match="not in the store"):
        replay.make_moment(opened, prompt(file=str(folder / "nowhere.jsonl")))
    opened.close()


def test_every_arm_answers_at_every_prompt(folder: Path) -> None:
    seen: list[tuple[int, int]] = []
    (folder / "work").mkdir()
    found = labels.read(str(folder))
    answers = replay.run(replay.ARMS, found, str(folder / "work"), lambda done, total: seen.append((done, total)))
    assert tuple(answers) == (
        *("fts5", "recency", "fts5:working", "bm25", "bm25:working"),
        *("documented", "contextual", "documented:working", "contextual:working"),
    )
    assert seen[-1] == (5, 5)
    for name in ("fts5", "bm25", "documented", "contextual"):
        first = answers[name][0].excerpts[0]
        assert "e0000000" in first.names, name
        assert "GATEWAY_PORT" in first.text, name
        assert first.tokens > 100, "what frames the excerpt costs as well"
    assert [min(one.names) for one in answers["recency"][3].excerpts] == ["L4", "L3", "L2"]
    assert answers["documented"][3].excerpts == ()
    assert [len(answers[name][1].excerpts) for name in ("fts5", "fts5:working")] == [0, 1], "the work names walnut"
    assert [len(answers[name][3].excerpts) for name in ("bm25", "contextual")] == [0, 0], "thanks is no topic"
    assert main(["eval", "rediscovery", "--data", str(folder), "--arm", "oracle"]) == 2


def test_the_strong_baseline_has_stems_and_the_topics_of_the_product(folder: Path) -> None:
    store = str(folder / "store")
    found = labels.read(str(folder))
    with Engine.open(store, defaults({})) as engine:
        engine.index(found.prompts[0].file)
    opened = open_store(store)
    moment = replace(replay.make_moment(opened, found.prompts[1]), work="I go on with the serving of teas")
    opened.close()
    asked = {working: replay.Bm25(working=working) for working in (False, True)}
    assert [len(arm.ask(moment)) for arm in asked.values()] == [0, 1], "`go on` and `the` are no topics"
    (excerpt,) = asked[True].ask(moment)
    assert "e0000002" in excerpt.names
    assert not replay.Fts5(working=True).ask(replace(moment, work="serving teas"))
    for arm in asked.values():
        arm.close()


def test_arms_with_vectors_are_asked_if_they_are_named(folder: Path) -> None:
    (folder / "work").mkdir()
    names = ("hybrid:feature-hash-v1", "hybrid:feature-hash-v1:working")
    assert not set(names) & set(replay.ARMS)
    answers = replay.run(names, labels.read(str(folder), 1), str(folder / "work"))
    assert tuple(answers) == names
    assert all("e0000000" in answers[name][0].excerpts[0].names for name in names)


def test_the_store_and_its_vectors_are_kept_for_the_next_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made: list[int] = []
    embed = FeatureHash.embed

    def count(port: FeatureHash, texts: Cleared[str], purpose: Purpose) -> Sequence[array[float]]:
        made.append(len(texts.values) if purpose == "source" else 0)
        return embed(port, texts, purpose)

    monkeypatch.setattr(FeatureHash, "embed", count)
    kept = folder.parent / "kept"
    asked = ["--data", str(folder), "--json", "--arm=hybrid:feature-hash-v1", "--limit=1", "--keep", str(kept)]
    runs = []
    for _ in range(2):
        assert main(["eval", "rediscovery", *asked]) == 0
        runs.append((sum(made), json.loads(capsys.readouterr().out)["arms"]["hybrid:feature-hash-v1"]["coverage"]))
        made.clear()
    assert (kept / "store").is_dir()
    assert runs[0][0] > 0
    assert runs[1] == (0, runs[0][1])


def test_a_baseline_keeps_to_the_budget(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "BUDGET", 250)
    (folder / "work").mkdir()
    answers = replay.run(("recency",), labels.read(str(folder), 1), str(folder / "work"))
    assert len(answers["recency"][0].excerpts) == 1


@pytest.mark.parametrize(
    ("text", "item", "holds"),
    [
        ("see push_common.go", "common.go", False),
        ("see my-common.go", "common.go", False),
        ("see ./common.go", "common.go", True),
        ("common.gold, common.go!", "common.go", True),
        ("--flag", "--flag", True),
        ("a--flag", "--flag", True),
        ("getUser", "getusers", False),
        ("perché", "perch", False),
        ("ls -la", "ls -la", True),
    ],
)
def test_an_item_is_held_where_no_longer_word_holds_it(text: str, item: str, holds: bool) -> None:
    assert scores.contains(scores.plain(text), item) is holds


def test_escapes_and_blanks_do_not_hide_an_item() -> None:
    assert scores.plain('A  "b\\nC\\"\n d') == 'a "b c" d'


def test_scores_by_hand() -> None:
    of = prompt(Need(item="Alpha.py", early=True), Need(item="beta", early=False), Need(item="gamma", early=True))
    found = scores.score(answer(of, ("e9", "alpha.py"), ("e1", "beta\nalpha.py")))
    assert found == {"coverage": 2 / 3, "early": 1 / 2, "hit@1": 0.0, "hit@5": 1.0, "hit@12": 1.0}
    late = prompt(Need(item="beta", early=False))
    assert scores.score(answer(late, ("L7", "x"))) == {"coverage": 0.0, "hit@1": 1.0, "hit@5": 1.0, "hit@12": 1.0}
    many = answer(late, *[("e9", "x")] * 5, ("e1", "beta"))
    assert (scores.score(many)["hit@5"], scores.score(many)["hit@12"]) == (0.0, 1.0)
    assert scores.irrelevant_tokens([many, answer(late)]) == 25
    assert scores.milliseconds([many]) == 4.0


def test_intervals_are_over_transcripts_and_differences_are_paired() -> None:
    need = Need(item="beta", early=False)
    some = [answer(prompt(need, file=f"f{at}"), ("e1", "beta") if at % 3 else ("e2", "x")) for at in range(30)]
    none = [answer(one.prompt) for one in some]
    mean, low, high = scores.measure(some)["coverage"]
    assert low < mean < high
    assert mean == pytest.approx(2 / 3)
    assert scores.measure(some) == scores.measure(some)
    assert scores.compare(some, none)["hit@1"][0] == pytest.approx(2 / 3)
    assert scores.compare(some, some)["coverage"] == (0.0, 0.0, 0.0)
    one_file = [answer(prompt(need), ("e1", "beta")), answer(prompt(need))]
    assert scores.measure(one_file)["coverage"] == (0.5, 0.5, 0.5), "one transcript says nothing of others"
    assert scores.measure([]) == {}


def test_tokens_of_silence_are_a_median_and_a_90th_percentile() -> None:
    quiet = [answer(prompt(), *[("e1", "x")] * count) for count in (0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 90)]
    assert scores.tokens_added(quiet) == (40, 80)


def test_the_command_prints_a_document(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "rediscovery", "--data", str(folder), "--json", "--arm", "fts5", "--arm", "documented"]) == 0
    document = check("eval", capsys.readouterr().out)
    assert (document["set"], document["questions"]) == ("rediscovery", 5)
    arm = document["arms"]["documented"]
    assert {name: part["questions"] for name, part in arm["parts"].items()} == {
        "real": 2, "prompts": 1, "automatic": 1, "simulated": 1,
    }  # fmt: skip
    assert (arm["coverage"], arm["parts"]["prompts"]["coverage"]) == (0.5, 1.0)
    assert arm["interval"] == arm["parts"]["real"]["interval"]
    assert arm["parts"]["simulated"]["difference"]["hit@1"] == [0.0, 0.0, 0.0]
    assert arm["tokensWithoutNeed90"] == arm["tokensWithoutNeed"] * 2 > 100
    assert "difference" not in document["arms"]["fts5"]["parts"]["real"]
    both = ["--arm=fts5:working", "--arm=bm25:working", "--arm=documented:working", "--arm=fts5"]
    assert main(["eval", "rediscovery", "--data", str(folder), "--json", *both]) == 0
    arms = check("eval", capsys.readouterr().out)["arms"]
    assert "goals" not in document, "the documented ranking has none"
    assert set(arms["documented:working"]["parts"]["real"]) >= {"difference", "differenceSameQuery"}
    assert "differenceSameQuery" in arms["fts5:working"]["parts"]["real"]
    assert "differenceSameQuery" not in arms["bm25:working"]["parts"]["real"]


def test_the_command_shows_tables(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "rediscovery", "--data", str(folder)]) == 1, "one transcript; plain search finds as much"
    shown, said = capsys.readouterr()
    assert re.search(r"real coverage above bm25, low end of the interval +contextual +0\.00 +0\.00 +MISSED", shown)
    assert re.search(r"simulated hit@12 +contextual:working +100\.00 +78\.00 +aim reached", shown)
    assert said.startswith("error[gate-missed]: ")
    assert "contextual: real coverage above bm25, low end of the interval 0.00 (0.00)" in said
    assert "rediscovery: 3 prompts with needs, 2 without" in shown
    assert "real, beside bm25 with the same query, paired:" in shown
    for line in ("real (2), in %", "automatic (1), in %", "simulated, beside fts5, paired:", "tokens added and time:"):
        assert line in shown
    (folder / "silence.json").unlink()
    assert main(["eval", "rediscovery", "--data", str(folder), "--limit=1", "--arm=recency"]) == 0
    shown = capsys.readouterr().out
    assert "simulated" not in shown
    assert "paired" not in shown
    assert "No goal was judged" in shown


@pytest.mark.parametrize("more", [(), ("--data", "nowhere"), ("--data", "x", "--limit", "0")])
def test_wrong_arguments_exit_with_2(more: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "rediscovery", *more]) == 2
    assert capsys.readouterr().err.startswith("error[")


def scorer(data: Path) -> Callable[..., dict[str, Any]]:
    """The set's own way of scoring one question."""
    sys.dont_write_bytecode = True
    spec = spec_from_file_location("score", data / "rediscovery" / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.score_question  # type: ignore[no-any-return]


NEED = Need(item="beta", early=True)
GOOD, BAD = ("e1", "beta"), ("e2", "x")
SILENCE = "tokensWithoutNeed, a third of fts5"


def judge(real: dict[str, list[tuple[str, str]]], quiet: dict[str, list[int]], *, simulated: bool = False) -> Any:
    """The goals of made-up answers: an excerpt a prompt, each of its own transcript; ten tokens an excerpt."""
    answers = {
        arm: (
            *(answer(prompt(NEED, file=f"f{at}", simulated=simulated), one) for at, one in enumerate(found)),
            *(answer(prompt(), *[BAD] * count) for count in quiet.get(arm, ())),
        )
        for arm, found in real.items()
    }
    return {(goal.arm, goal.name): goal for goal in gate.judge(answers)}


@pytest.mark.parametrize(
    ("own", "met"), [((2, 4), (True, True)), ((3, 4), (False, True)), ((2, 5), (True, False)), ((0, 0), (True, True))]
)
def test_silence_is_a_third_of_plain_search_in_the_median_and_in_the_tail(
    own: tuple[int, int], met: tuple[bool, bool]
) -> None:
    usual, most = own
    quiet = {"fts5": [6, 6, 12], "contextual": [usual, usual, most]}
    found = judge({"fts5": [], "contextual": []}, quiet)
    assert list(found) == [("contextual", SILENCE), ("contextual", "tokensWithoutNeed90, a third of fts5")]
    assert tuple(goal.met for goal in found.values()) == met
    assert [(goal.figure, goal.bound) for goal in found.values()] == [(10 * usual, 20), (10 * most, 40)]
    assert not any(goal.aim for goal in found.values())


def test_silence_with_the_work_is_half_of_what_plain_search_adds_for_the_request_alone() -> None:
    quiet = {"fts5": [8], "fts5:working": [90], "contextual:working": [4], "hybrid:m:working": [5], "documented": [90]}
    found = judge({arm: [] for arm in quiet}, quiet)
    assert [(goal.arm, goal.bound, goal.met) for goal in found.values()] == [
        *[("contextual:working", 40, True)] * 2,
        *[("hybrid:m:working", 40, False)] * 2,
    ]
    assert judge({"contextual": []}, {"contextual": [90]}) == {}, "nothing to compare with"


@pytest.mark.parametrize(
    ("arm", "same", "found", "plain", "met"),
    [
        ("contextual", "bm25", [GOOD] * 8, [BAD] * 8, True),
        ("contextual:working", "bm25:working", [GOOD] * 8, [BAD] * 8, True),
        ("contextual", "bm25", [GOOD] * 8, [GOOD] * 8, False),
        ("contextual", "bm25", [GOOD] * 2 + [BAD] * 6, [BAD] * 7 + [GOOD], False),
        ("contextual", "bm25", [], [], None),
        ("contextual:working", "bm25", [GOOD] * 8, [BAD] * 8, None),
        ("documented", "bm25", [GOOD] * 8, [BAD] * 8, None),
    ],
)
def test_a_gain_counts_if_its_interval_lies_above_nothing(
    arm: str, same: str, found: list[tuple[str, str]], plain: list[tuple[str, str]], met: bool | None
) -> None:
    goals = judge({arm: found, same: plain}, {})
    goal = goals.get((arm, f"real coverage above {same}, low end of the interval"))
    assert (None if goal is None else goal.met) is met
    assert goal is None or not goal.aim


def test_what_is_only_aimed_at_never_counts() -> None:
    goals = judge({"contextual": [BAD] * 8, "bm25": [GOOD] * 8}, {}, simulated=True)
    assert [name for _, name in goals] == [
        "simulated coverage above bm25, low end of the interval", "simulated coverage", "simulated hit@12",
    ]  # fmt: skip
    assert all(goal.aim and not goal.met for goal in goals.values())


@pytest.mark.parametrize(("counts", "status"), [(True, 1), (False, 0)])
def test_a_missed_goal_is_the_exit_status(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], counts: bool, status: int
) -> None:
    made = (above_zero("contextual", "gain", -0.1, aim=not counts), at_most("contextual", "cost", 3.0, 4.0))
    monkeypatch.setattr(gate, "judge", lambda _: made)
    asked = ["eval", "rediscovery", "--data", str(folder), "--arm", "contextual", "--json"]
    assert main(asked) == status
    shown, said = capsys.readouterr()
    assert [goal["met"] for goal in check("eval", shown)["goals"]] == [False, True]
    assert [goal.get("aim", False) for goal in json.loads(shown)["goals"]] == [not counts, False]
    assert said == ("error[gate-missed]: 1 of 2 goals are missed: contextual: gain -10.00 (0.00)\n" if counts else "")
    assert main([*asked, "--limit", "1"]) == 0, "a part of the set is judged by nothing"
    assert "goals" not in check("eval", capsys.readouterr().out)


@pytest.mark.data
def test_the_real_engine_brings_back_some_of_what_is_needed_and_little_where_nothing_is(
    data: Path, tmp_path: Path
) -> None:
    found = labels.read(str(data / "rediscovery"), 24)
    answers = replay.run(("fts5", "contextual", "contextual:working"), found, str(tmp_path))
    needy = len(found.prompts)
    plain = scores.tokens_added(answers["fts5"][needy:])
    for arm, share in (("contextual", 1 / 3), ("contextual:working", 1 / 2)):
        for own, other in zip(scores.tokens_added(answers[arm][needy:]), plain, strict=True):
            assert 0 < own < 1.3 * share * other, arm
        coverage = scores.measure(answers[arm][:needy])["coverage"][0]
        assert 0.2 < coverage < 0.95, arm


@pytest.mark.data
def test_scores_are_those_of_the_sets_own_scorer(data: Path, tmp_path: Path) -> None:
    found = labels.read(str(data / "rediscovery"), 24)
    document = json.loads((data / "rediscovery" / "dev.json").read_text(encoding="utf-8"))
    questions = {question["qid"]: question for question in document["questions"]}
    score_question, hits = scorer(data), 0.0
    for one in replay.run(("fts5",), found, str(tmp_path))["fts5"][: len(found.prompts)]:
        results = [
            {"id": min(excerpt.names & one.prompt.gold, default=""), "text": excerpt.text} for excerpt in one.excerpts
        ]
        expected = score_question(questions[one.prompt.name], results)
        mine = scores.score(one)
        for metric in scores.METRICS:
            assert mine.get(metric) == expected[metric], (one.prompt.name, metric)
        hits += mine["hit@12"]
    assert hits > 2
