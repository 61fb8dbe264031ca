"""Calls and their results: the other half of what was found comes in places that nothing else needs; repeats once."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import claude_code, codex, pi

from aforesaid import Engine, pairs, retrieval
from aforesaid.answers import Matched

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from aforesaid import Retrieval

ASKED = "what did `dist/build.sh` print?"
PRINTED = "twelve tables written in walnut"


def calling(id_: str, parent: str | None, *commands: str, said: str = "", tool: str = "bash") -> pi.Row:
    """An assistant's message with a call for each command; the id of the nth is the message's and n."""
    row = pi.message(id_, parent, said, "assistant")
    row["message"]["content"] = [
        *([{"type": "text", "text": said}] if said else []),
        *(
            {"type": "toolCall", "id": f"{id_}-{number}", "name": tool, "arguments": {"command": command}}
            for number, command in enumerate(commands)
        ),
    ]
    return row


def result(id_: str, parent: str, call: str, text: str, tool: str = "bash", minute: int = 0) -> pi.Row:
    row = pi.message(id_, parent, text, "toolResult", minute)
    row["message"] |= {"toolCallId": call, "toolName": tool}
    return row


def cut(rows: Sequence[pi.Row]) -> list[pi.Row]:
    return [pi.header(), *rows, pi.compaction("cut00000", rows[-1]["id"], "nothing")]


def ask(
    folder: Path, rows: Sequence[Any], query: str = ASKED, settings: Mapping[str, object] | None = None, **more: Any
) -> Retrieval:
    file = pi.write(folder / "one.jsonl", rows)
    with Engine.open(folder / "store", settings=settings or {}) as engine:
        return engine.retrieve(session=file, query=query, **more)


def ids(found: Retrieval) -> list[str]:
    return [hit.entry_id for hit in found.hits]


def of_pi() -> tuple[list[Any], str, str]:
    rows = [pi.message("a", None, "run it"), calling("b", "a", "dist/build.sh"), result("c", "b", "b-0", PRINTED)]
    return cut(rows), "b", "c"


def of_claude_code() -> tuple[list[Any], str, str]:
    rows = [claude_code.message("a", None, "run it"), claude_code.call("b", "a", "m", command="dist/build.sh")]
    rows += [claude_code.result("c", "b", PRINTED), claude_code.boundary("B", "c"), claude_code.summary("S", "B")]
    return rows, "b", "c"


def of_codex() -> tuple[list[Any], str, str]:
    rows = [codex.meta(), codex.user("run it"), codex.call("k", "shell", {"command": ["dist/build.sh"]})]
    return [*rows, codex.output("k", PRINTED), codex.compacted([], message="a summary")], "L3", "L4"


@pytest.mark.parametrize("make", [of_pi, of_claude_code, of_codex])
def test_a_result_is_found_by_its_calls_arguments(
    tmp_path: Path, make: Callable[[], tuple[list[Any], str, str]]
) -> None:
    rows, call, printed = make()
    found = ask(tmp_path, rows)
    assert ids(found) == [call, printed]
    hit = found.hits[1]
    assert (hit.tier, hit.excerpt, hit.reason) == ("other", PRINTED, "pair")
    assert hit.matched == Matched(), "what the call holds does not stand in its result"
    assert hit.score_parts == {"pair": 0.5}
    assert hit.score == 0.5
    counts = found.diagnostics
    assert (counts.eligible_count, counts.duplicate_count, counts.planner_excluded_count) == (2, 0, 0)
    assert counts.selected_tokens == sum(one.tokens for one in found.hits)


@pytest.mark.parametrize("make", [of_pi, of_claude_code, of_codex])
def test_a_call_is_found_by_what_its_result_holds(
    tmp_path: Path, make: Callable[[], tuple[list[Any], str, str]]
) -> None:
    rows, call, printed = make()
    assert ids(ask(tmp_path, rows, 'where did we see "twelve tables written"?')) == [printed, call]


@pytest.mark.parametrize("make", [of_pi, of_claude_code, of_codex])
def test_a_word_alone_and_the_documented_ranking_bring_no_other_half(
    tmp_path: Path, make: Callable[[], tuple[list[Any], str, str]]
) -> None:
    rows, call, printed = make()
    assert ids(ask(tmp_path, rows, "what was of walnut?")) == [printed]
    assert ids(ask(tmp_path, rows, settings={"retrieval.ranking": "documented"})) == [call]
    assert ids(ask(tmp_path, rows, "thanks, that is all")) == []


def test_what_matched_for_itself_is_never_displaced_and_the_other_half_stands_last(tmp_path: Path) -> None:
    rows, _, _ = of_pi()
    rows[-1:] = [
        *pi.conversation([f"dist/build.sh, remark {number}" for number in range(12)], 5, "r", "c"),
        pi.compaction("cut00000", "r0000011", "nothing"),
    ]
    full = ask(tmp_path, rows)
    assert len(full.hits) == 12
    assert "c" not in ids(full)
    more = ask(tmp_path, rows, settings={"retrieval.maxResults": 14})
    assert (len(more.hits), ids(more)[-1]) == (14, "c")
    assert all(one.score > other.score for one, other in pairwise(more.hits[-3:]))
    less = ask(tmp_path, rows, settings={"retrieval.maxResults": 13})
    assert ids(less) == ids(more)[:13]
    # Of the tokens it gets what is left too.
    spent = more.diagnostics.selected_tokens
    tight = ask(tmp_path, rows, settings={"retrieval.maxResults": 14, "context.maxRetrievedHistoryTokens": spent - 1})
    assert ids(tight) == ids(more)[:13]


def test_only_the_result_of_the_call_that_names_it_comes(tmp_path: Path) -> None:
    rows = [
        calling("b", None, "ls", "cat dist/build.sh", "pwd", said="three at once"),
        result("c", "b", "b-0", "files"), result("d", "c", "b-1", "#!/bin/sh"), result("e", "d", "b-2", "/home"),
    ]  # fmt: skip
    assert ids(ask(tmp_path, cut(rows))) == ["b", "d"]
    # A name in the words beside the calls is no argument of theirs.
    rows[0] = calling("b", None, "ls", "cat it", "pwd", said="now dist/build.sh")
    assert ids(ask(tmp_path, cut(rows))) == ["b"]


def test_calls_of_our_own_tools_bring_nothing(tmp_path: Path) -> None:
    rows = [
        calling("b", None, "dist/build.sh", said="dist/build.sh it is", tool="history_recall"),
        result("c", "b", "b-0", "a snippet", "history_recall"),
    ]
    assert ids(ask(tmp_path, cut(rows))) == ["b"]


def test_the_other_half_stays_where_the_model_sees_it_or_an_equal_text(tmp_path: Path) -> None:
    rows = of_pi()[0][1:-1]
    shown = [pi.header(), *rows, pi.compaction("cut00000", "c", "c")]
    assert ids(ask(tmp_path, shown)) == ["b"]
    again = [*cut(rows), result("f", "cut00000", "elsewhere", PRINTED.upper())]
    assert ids(ask(tmp_path, again)) == ["b"]


def test_a_result_on_another_branch_stays_there(tmp_path: Path) -> None:
    rows = of_pi()[0][1:-1]
    other = [result("d", "b", "b-0", "nothing written"), pi.compaction("cut00000", "d", "nothing")]
    found = ask(tmp_path, [pi.header(), *rows, *other])
    assert ids(found) == ["b", "d"]
    assert ids(ask(tmp_path, [pi.header(), *rows, *other], leaf="c", context_entries=[])) == ["b", "c"]


def test_an_id_that_is_used_again_leads_to_the_nearest(tmp_path: Path) -> None:
    rows = [pi.message("a", None, "go")]
    for number, command in enumerate(("ls", "dist/build.sh", "pwd")):
        call = calling(f"b{number}", rows[-1]["id"], command)
        call["message"]["content"][0]["id"] = "call_1"
        rows += [call, result(f"c{number}", call["id"], "call_1", f"gave {number}")]
    assert ids(ask(tmp_path, cut(rows))) == ["b1", "c1"]
    # What never got a result has none of a later call with the same id.
    del rows[4]
    rows[4]["parentId"] = "b1"
    assert ids(ask(tmp_path, cut(rows))) == ["b1"]


def test_a_result_that_is_far_away_is_not_looked_for(tmp_path: Path) -> None:
    rows = of_pi()[0][1:-1]
    between = pi.conversation(["hm"] * pairs.REACH, 1, "n", "b")
    far = [*rows[:2], *between, rows[2] | {"parentId": between[-1]["id"]}]
    assert ids(ask(tmp_path, cut(far))) == ["b"]
    near = [*rows[:2], *between[1:], rows[2] | {"parentId": between[-1]["id"]}]
    near[2]["parentId"] = "b"
    assert ids(ask(tmp_path, cut(near))) == ["b", "c"]


def test_a_policy_holds_for_the_other_half_and_what_is_withheld_brings_nothing(tmp_path: Path) -> None:
    policy = {"privacy.enabled": True}
    rows = of_pi()[0]
    hidden = [*rows[:3], result("c", "b", "b-0", f"[aforesaid:local-only]{PRINTED}[/aforesaid:local-only]"), rows[-1]]
    found = ask(tmp_path, hidden, settings=policy)
    assert (ids(found), [one.entry_id for one in found.withheld]) == (["b"], ["c"])
    calls = [*rows[:2], calling("b", "a", "dist/build.sh [aforesaid:local-only]now[/aforesaid:local-only]"), *rows[3:]]
    found = ask(tmp_path, calls, settings=policy)
    assert (ids(found), [one.entry_id for one in found.withheld]) == ([], ["b"])
    assert ids(ask(tmp_path, rows, settings=policy)) == ["b", "c"]


NAMES = ("dist/build.sh", "src/app.py", "ERR_4711", "hello", "okay then")


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.integers(0, 3)), min_size=1, max_size=9),
    st.lists(st.sampled_from(NAMES[:3]), min_size=1, max_size=2, unique=True),
    st.integers(1, 8),
)
def test_the_hits_are_those_without_other_halves_and_those_behind_them(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, int]], names: list[str], most: int
) -> None:
    rows: list[pi.Row] = [pi.message("a", None, "go")]
    partners: dict[str, str] = {}
    for number, (command, printed, remarks) in enumerate(steps):
        rows += [calling(f"b{number}", rows[-1]["id"], f"{command} {number}")]
        rows += pi.conversation(["hm"] * remarks, 0, f"n{number}", rows[-1]["id"])
        rows += [result(f"c{number}", rows[-1]["id"], f"b{number}-0", f"{printed}, {number} times")]
        partners |= {f"b{number}": f"c{number}", f"c{number}": f"b{number}"}
    query, limit = " ".join(f"`{name}`" for name in names), {"retrieval.maxResults": most}
    folder = tmp_path_factory.mktemp("s")
    found = ask(folder, cut(rows), query, limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrieval, "_bring_partners", lambda *_, **__: ())
        before = ask(folder, cut(rows), query, limit)
    own, brought = found.hits[: len(before.hits)], found.hits[len(before.hits) :]
    assert own == before.hits
    expected = [partners[hit.entry_id] for hit in before.hits if hit.entry_id in partners]
    expected = [id_ for id_ in expected if id_ not in ids(before)]
    assert [hit.entry_id for hit in brought] == expected[: most - len(before.hits)]
    assert all("pair" in hit.score_parts for hit in brought)
    scores = [hit.score for hit in found.hits if hit.tier == "other"]
    assert scores == sorted(scores, reverse=True)


def test_equal_repeated_results_count_once_the_newest_and_different_ones_each_with_its_time(tmp_path: Path) -> None:
    rows = [pi.message("a", None, "go")]
    for number, text in enumerate(("walnut test_table", "walnut test_table", "oak test_table", "WALNUT test_TABLE")):
        call = calling(f"b{number}", rows[-1]["id"], f"pytest {number}")
        rows += [call, result(f"c{number}", call["id"], f"b{number}-0", text, minute=10 * number)]
        rows += pi.conversation([f"filler {number}"] * 2, 10 * number, f"f{number}", rows[-1]["id"])
    found = ask(tmp_path, cut(rows), "walnut")
    assert ids(found) == ["c3"]
    named = ask(tmp_path, cut(rows), "`test_table`", {"retrieval.ranking": "documented"})
    # Another case holds the name no more: the newest of those that hold it stands for the text.
    assert [(hit.entry_id, hit.timestamp) for hit in named.hits] == [
        ("c2", "2026-11-30T00:20:00.000Z"),
        ("c1", "2026-11-30T00:10:00.000Z"),
    ]
    assert named.diagnostics.duplicate_count == 2


def recall(
    folder: Path, rows: Sequence[Any], query: str, store: Mapping[str, object] | None = None, **more: Any
) -> Any:
    file = pi.write(folder / "one.jsonl", rows)
    with Engine.open(folder / "store", settings=store or {}) as engine:
        page = engine.recall(query, session=file, **more)
    return {hit.entry_id: hit.pairs for hit in page.hits}


@pytest.mark.parametrize("mode", ["literal", "phrase", "regex"])
@pytest.mark.parametrize("make", [of_pi, of_claude_code, of_codex])
def test_a_hit_of_recall_names_the_result_of_its_call_and_the_call_of_its_result(
    tmp_path: Path, make: Callable[[], tuple[list[Any], str, str]], mode: Any
) -> None:
    rows, call, printed = make()
    assert recall(tmp_path, rows, "dist/build.sh", mode=mode) == {call: (printed,)}
    assert recall(tmp_path, rows, "walnut", mode=mode) == {printed: (call,)}
    assert recall(tmp_path, rows, "walnut", mode=mode, roles=("tool_result",)) == {printed: (call,)}
    assert recall(tmp_path, rows, "run it", mode=mode)
    assert not any(recall(tmp_path, rows, "run it", mode=mode).values())


@pytest.mark.parametrize("make", [of_pi, of_claude_code, of_codex])
def test_the_filter_on_files_finds_results_by_the_path_in_their_calls_arguments(
    tmp_path: Path, make: Callable[[], tuple[list[Any], str, str]]
) -> None:
    rows, call, printed = make()
    given = json.dumps(rows).replace('"command"', '"file_path"').replace('\\"command\\"', '\\"file_path\\"')
    named = json.loads(
        given.replace('["dist/build.sh"]', '"dist/build.sh"').replace('[\\"dist/build.sh\\"]', '\\"dist/build.sh\\"')
    )
    assert set(recall(tmp_path, named, "", file="build.sh")) == {call, printed}
    assert set(recall(tmp_path, named, "walnut", file="dist/build.sh")) == {printed}
    assert set(recall(tmp_path, named, "", file="build.sh", roles=("tool_result",))) == {printed}
    assert recall(tmp_path, named, "", file="other.sh") == {}


def test_a_hit_of_recall_names_the_results_of_those_calls_that_match_and_nothing_that_is_not_searched(
    tmp_path: Path,
) -> None:
    rows = [
        calling("b", None, "ls", "cat dist/build.sh", "pwd", said="three at once"),
        result("c", "b", "b-0", "files"), result("d", "c", "b-1", "#!/bin/sh"), result("e", "d", "b-2", " "),
    ]  # fmt: skip
    assert recall(tmp_path, cut(rows), "dist/build.sh") == {"b": ("d",)}
    assert recall(tmp_path, cut(rows), "bash", limit=12) == {"b": ("c", "d")}
    assert recall(tmp_path, cut(rows), "three at") == {"b": ()}
    assert recall(tmp_path, cut(rows), "") == {"c": (), "d": (), "b": ()}, "where all is listed, none are told"
    branched = [*cut(rows), pi.message("f", "c", "another way"), pi.compaction("g", "f", "nothing")]
    assert recall(tmp_path, branched, "dist/build.sh") == {"b": ()}
    assert recall(tmp_path, branched, "dist/build.sh", scope="current-session") == {"b": ("d",)}
    private = {"privacy.enabled": True}
    assert recall(tmp_path, cut(rows), "dist/build.sh", private) == {"b": ()}
