"""Verdicts: who may see what, of which class, and why not."""

from __future__ import annotations

import json
import re
from itertools import chain, combinations
from pathlib import Path

import pytest
from tests.conftest import ROOT
from tests.values import make_entry

from aforesaid.model import LEVELS, SEAL, Cleared, Level
from aforesaid.privacy.judge import REASONS, Judge, Readings, Verdict
from aforesaid.privacy.markers import Marks, read_marks
from aforesaid.privacy.policy import Policy, Providers
from aforesaid.privacy.rules import Rule, Rules

REMOTE = Policy(enabled=True)


def judge(provider: str = "", project: str | None = "/p", **policy: object) -> Judge:
    return Judge(Policy(enabled=True, **policy), provider=provider, project=project)  # type: ignore[arg-type]


def only(*levels: Level) -> Providers:
    return Providers(remote_default=levels)


# --- providers ------------------------------------------------------------------------------------------------------


def test_a_local_provider_sees_everything() -> None:
    providers = Providers(local=("ollama",), remote_default=())
    assert providers.allowed("ollama") == set(LEVELS)
    assert judge("ollama", providers=providers).judge("[aforesaid:local-only]x").allowed


@pytest.mark.parametrize("name", ["", "Ollama", "ollama ", "ollama/llama3", "ollam*", "nobody"])
def test_a_provider_that_no_list_names_exactly_is_remote(name: str) -> None:
    providers = Providers(local=("ollama", ""), remote_default=("internal",), remote=(("ollam", ("normal",)),))
    assert not providers.is_local(name)
    assert providers.allowed(name) == {"internal"}


def test_a_named_remote_provider_gets_its_own_list_instead_of_the_default() -> None:
    providers = Providers(remote=(("a", ("sensitive",)), ("b", ())))
    assert providers.allowed("a") == {"sensitive"}
    assert providers.allowed("b") == set()
    assert providers.allowed("c") == {"normal", "internal"}


def test_nothing_allows_local_only_to_a_remote_provider() -> None:
    providers = Providers(remote_default=LEVELS, remote=(("a", LEVELS),))
    for name in ("", "a", "x"):
        assert providers.allowed(name) == {"normal", "internal", "sensitive"}


def test_a_provider_in_both_lists_is_remote() -> None:
    providers = Providers(local=("a",), remote=(("a", ("normal",)),))
    assert not providers.is_local("a")
    assert providers.allowed("a") == {"normal"}


# --- texts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("default", LEVELS)
@pytest.mark.parametrize("marked", LEVELS)
def test_a_marker_raises_and_never_lowers(default: Level, marked: Level) -> None:
    text = f"[aforesaid:{marked}]x[/aforesaid:{marked}]"
    expected = max(default, marked, key=LEVELS.index)
    for allowed in chain.from_iterable(combinations(LEVELS, count) for count in range(5)):
        verdict = judge(default=default, providers=only(*allowed)).judge(text)
        assert verdict.classification == expected
        assert verdict.allowed is (expected in allowed and expected != "local-only")


def test_one_prohibited_stretch_prohibits_the_whole_text() -> None:
    text = "a " * 9000 + "[aforesaid:sensitive]b[/aforesaid:sensitive]" + " c" * 9000
    assert judge().judge(text) == Verdict(allowed=False, classification="sensitive", reason="privacy-marker")


def test_lists_are_exact_and_no_thresholds() -> None:
    text = "a [aforesaid:internal]b[/aforesaid:internal] c"
    assert not judge(providers=only("normal", "sensitive")).judge(text).allowed
    assert not judge(providers=only("internal")).judge(text).allowed
    assert judge(providers=only("internal")).judge(text[2:-2]).allowed
    assert judge(providers=only("normal", "internal")).judge(text).allowed


def test_broken_markers_need_every_level_in_them_and_the_highest() -> None:
    text = "a [aforesaid:internal]b[aforesaid:sensitive]c"
    assert judge().judge(text) == Verdict(allowed=False, classification="sensitive", reason="privacy-markers-broken")
    assert not judge(providers=only("sensitive")).judge(text).allowed
    assert judge(providers=only("sensitive", "internal")).judge(text).allowed


def test_the_default_holds_for_unmarked_text() -> None:
    assert judge(default="sensitive").judge("a") == Verdict(
        allowed=False, classification="sensitive", reason="privacy-default"
    )
    assert judge().judge("") == Verdict(allowed=True, classification="normal", reason="privacy-default")


def test_a_project_raises_everything_in_it() -> None:
    rule = Rule(classification="sensitive", project="/p")
    assert judge(rules=(rule,)).judge("a") == Verdict(
        allowed=False, classification="sensitive", reason="privacy-project"
    )
    assert judge(project="/q", rules=(rule,)).judge("a").allowed
    assert judge(default="sensitive", project="/q", rules=(rule,)).judge("a").classification == "sensitive"


def test_no_rule_lowers() -> None:
    rules = (Rule(classification="normal", project="/p"), Rule(classification="internal", path="*.md"))
    assert judge(default="sensitive", rules=rules).judge("see a.md").classification == "sensitive"


def test_a_text_that_names_a_path_is_of_its_level() -> None:
    found = judge(rules=(Rule(classification="sensitive", path="secrets/**"),))
    assert found.judge("cat secrets/a") == Verdict(allowed=False, classification="sensitive", reason="privacy-path")
    assert found.judge("cat a").allowed


def test_a_disabled_policy_allows_everything() -> None:
    found = Judge(Policy(default="local-only", rules=(Rule(classification="local-only", project="/p"),)), project="/p")
    assert found.open
    assert found.judge("[aforesaid:local-only]").allowed
    assert not judge().open
    assert judge("a", providers=Providers(local=("a",))).open


# --- entries --------------------------------------------------------------------------------------------------------

SECRETS = (Rule(classification="sensitive", path="secrets/**"),)


def test_an_entry_is_judged_by_its_files_too() -> None:
    found = judge(rules=SECRETS)
    assert found.judge_entry(make_entry("x")).allowed
    assert not found.judge_entry(make_entry("x", files=("secrets/a",))).allowed
    assert (
        not judge(project="/p/secrets", rules=(Rule(classification="sensitive", path="/p/secrets"),))
        .judge_entry(make_entry("x", files=("../secrets/a",)))
        .allowed
    )


def test_a_result_is_judged_by_its_call() -> None:
    found = judge(rules=SECRETS)
    result = make_entry("x", role="tool_result", calls=("c1",))
    by_file = make_entry("read", role="tool_call", calls=("c1",), files=("secrets/a",))
    by_text = make_entry("bash\ncommand: cat secrets/a", role="tool_call", calls=("c1",))
    harmless = make_entry("bash\ncommand: ls", role="tool_call", calls=("c1",))
    assert [found.judge_entry(result, call).allowed for call in (by_file, by_text, harmless)] == [False, False, True]


def test_a_result_whose_call_is_not_known_counts_as_of_the_highest_path_rule() -> None:
    result = make_entry("x", role="tool_result", calls=("c1",))
    assert judge(rules=SECRETS).judge_entry(result).reason == "privacy-path"
    assert not judge(rules=SECRETS).judge_entry(result).allowed
    assert judge().judge_entry(result).allowed


# --- lines ----------------------------------------------------------------------------------------------------------

ALLOWED = Verdict(allowed=True, classification="normal", reason="privacy-default")


def line(**members: object) -> bytes:
    return json.dumps({"type": "message", **members}).encode()


def test_a_marker_anywhere_in_the_line_counts() -> None:
    found = judge()
    for members in (
        {"content": [{"thinking": "[aforesaid:sensitive]x"}]},
        {"content": "［ａｆｏｒｅｓａｉｄ：sensitive］x"},
        {"arguments": {"[aforesaid:sensitive]": 1}},
    ):
        assert found.judge_line(line(**members), ALLOWED) == Verdict(
            allowed=False, classification="sensitive", reason="privacy-source"
        )
    assert found.judge_line(line(content="[aforesaid:internal]x"), ALLOWED) == ALLOWED
    assert found.judge_line(line(content="日本"), ALLOWED) == ALLOWED


def test_a_line_only_raises_what_is_stored() -> None:
    before = Verdict(allowed=False, classification="sensitive", reason="privacy-path")
    assert judge().judge_line(line(content="[aforesaid:internal]x"), before) == before
    internal = Verdict(allowed=True, classification="internal", reason="privacy-path")
    assert judge(providers=only("internal")).judge_line(line(content="[aforesaid:normal]x"), internal) == internal


def test_a_line_that_cannot_be_read_is_prohibited() -> None:
    for raw in (b"aforesaid {", b"\xff", b'"\\u00', b"[" * 200_000 + "é".encode()):
        assert judge().judge_line(raw, ALLOWED) == Verdict(
            allowed=False, classification="local-only", reason="privacy-source"
        )
    assert judge("a", providers=Providers(local=("a",))).judge_line(b"aforesaid {", ALLOWED) == ALLOWED


# --- Cleared --------------------------------------------------------------------------------------------------------


def test_only_what_was_allowed_is_cleared() -> None:
    found = judge("a")
    texts = ("a", "[aforesaid:sensitive]b", "c")
    cleared = found.clear(texts, map(found.judge, texts))
    assert (cleared.values, cleared.provider) == (("a", "c"), "a")
    with pytest.raises(ValueError, match="shorter"):
        found.clear(texts, [])


def test_nothing_is_cleared_unseen_while_a_policy_is_in_force() -> None:
    with pytest.raises(ValueError, match="verdict"):
        judge().clear_all(("a",))
    assert Judge(Policy()).clear_all(["a"]).values == ("a",)


def test_nobody_else_clears() -> None:
    with pytest.raises(TypeError, match="only the privacy policy"):
        Cleared(values=("a",), provider="", seal=object())
    assert Cleared(values=("a",), provider="", seal=SEAL).values == ("a",)
    naming = [
        file.relative_to(ROOT / "src" / "aforesaid").as_posix()
        for file in sorted(Path(ROOT, "src").rglob("*.py"))
        if re.search(r"\bSEAL\b", file.read_text(encoding="utf-8"))
    ]
    assert naming == ["model.py", "privacy/judge.py"]


# --- readings -------------------------------------------------------------------------------------------------------


def test_what_a_text_says_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def read(text: str) -> Marks:
        asked.append(text)
        return read_marks(text)

    monkeypatch.setattr("aforesaid.privacy.judge.read_marks", read)
    readings = Readings()
    rules = Rules((), project="/p", home=None)
    for provider in ("a", "b"):
        again = Judge(REMOTE, provider=provider, rules=rules, readings=readings)
        assert not again.judge("[aforesaid:sensitive]" + "x").allowed
    assert asked == ["[aforesaid:sensitive]x"]
    assert Judge(REMOTE, project="/p", readings=readings).judge("a").allowed  # other rules, another reading


def test_the_memory_is_bounded_and_keeps_what_is_used() -> None:
    readings = Readings(most=40)
    found = Judge(REMOTE, project="/p", readings=readings)
    for number in range(100):
        found.judge("kept")
        found.judge(f"text {number:5}")
    assert readings.get(found.rules, "kept") is not None
    assert readings.get(found.rules, "text     0") is None
    found.judge("x" * 21)
    assert readings.get(found.rules, "x" * 21) is None


def test_every_reason_is_documented() -> None:
    page = (ROOT / "docs" / "privacy.md").read_text(encoding="utf-8")
    for reason in REASONS:
        assert f"`{reason}`" in page
