"""The messages of a call, for the provider that is really called."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import ROOT

from aforesaid.model import LEVELS
from aforesaid.privacy.judge import Judge
from aforesaid.privacy.markers import read_marks
from aforesaid.privacy.payload import Outgoing, clear_payload, conceal, refuse_supplements
from aforesaid.privacy.policy import Policy, Providers
from aforesaid.privacy.rules import Rule
from aforesaid.privacy.secrets import redact

if TYPE_CHECKING:
    import pytest

S, END = "[aforesaid:sensitive]", "[/aforesaid:sensitive]"
HIDDEN = conceal("sensitive")


def judge(provider: str = "", **policy: object) -> Judge:
    return Judge(Policy(enabled=True, **policy), provider=provider, project="/p")  # type: ignore[arg-type]


def ours(*texts: str, id_: str = "e1") -> Outgoing:
    return Outgoing(texts=texts, supplement=True, entry_id=id_)


def native(*texts: str) -> Outgoing:
    return Outgoing(texts=texts)


def test_a_supplement_with_anything_prohibited_is_left_out_whole() -> None:
    messages = (native("a"), ours("b", id_="e1"), ours(f"c {S}d{END} e", id_="e2"), native("f"))
    payload = clear_payload(messages, judge())
    assert payload.cleared.values == (messages[0], messages[1], messages[3])
    assert payload.kept == (0, 1, 3)
    (left,) = payload.withheld
    assert (left.entry_id, left.classification, left.reason) == ("e2", "sensitive", "privacy-marker")


def test_the_class_of_a_supplements_source_counts() -> None:
    message = Outgoing(texts=("plain",), supplement=True, classification="sensitive")
    payload = clear_payload([message], judge())
    assert (payload.cleared.values, payload.withheld[0].entry_id) == ((), "")


def test_the_hosts_own_messages_stay_without_what_is_prohibited() -> None:
    payload = clear_payload([native(f"a {S}b{END} c"), native("d")], judge())
    assert [message.texts for message in payload.cleared.values] == [(f"a {HIDDEN} c",), ("d",)]
    assert (payload.kept, payload.concealed, payload.withheld) == ((0, 1), 1, ())


def test_a_marker_reaches_from_one_text_of_a_message_into_the_next() -> None:
    payload = clear_payload([native("a", f"b {S}c", "", "d", f"e{END} f", "g")], judge())
    assert payload.cleared.values[0].texts == ("a", f"b {HIDDEN}", "", HIDDEN, f"{HIDDEN} f", "g")
    open_ended = clear_payload([native(f"{S}a", " ", "b"), native("c")], judge())
    assert [message.texts for message in open_ended.cleared.values] == [(HIDDEN, " ", HIDDEN), ("c",)]


def test_what_is_of_a_prohibited_class_by_default_or_rule_is_replaced_whole() -> None:
    by_default = judge(default="sensitive", providers=Providers(remote_default=("internal",)))
    assert clear_payload([native("a", "b")], by_default).cleared.values[0].texts == (HIDDEN, HIDDEN)
    by_rule = judge(rules=(Rule(classification="sensitive", path="secrets/**"),))
    cleared = clear_payload([native("cat secrets/a"), native("b")], by_rule).cleared
    assert [message.texts for message in cleared.values] == [(HIDDEN,), ("b",)]


def test_lists_are_exact_for_stretches_too() -> None:
    found = judge(providers=Providers(remote_default=("sensitive",)))
    (message,) = clear_payload([native(f"a {S}b{END} c")], found).cleared.values
    assert message.texts == (f"{conceal('normal')}{S}b{END}{conceal('normal')}",)


def test_broken_markers_hide_the_whole_message() -> None:
    (message,) = clear_payload([native(f"a {END} b")], judge()).cleared.values
    assert message.texts == (HIDDEN,)
    found = judge(providers=Providers(remote_default=("normal", "sensitive")))
    text = "a [aforesaid:internal]b[aforesaid:sensitive]c"
    (message,) = clear_payload([native(text)], found).cleared.values
    assert message.texts == (HIDDEN,)


def test_a_local_provider_and_a_disabled_policy_get_everything() -> None:
    messages = [native(f"{S}a"), ours(f"{S}b")]
    for free in (judge("here", providers=Providers(local=("here",))), Judge(Policy())):
        payload = clear_payload(messages, free)
        assert (payload.cleared.values, payload.kept, payload.withheld) == (tuple(messages), (0, 1), ())


def test_what_cannot_be_judged_is_prohibited_and_the_call_goes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = judge()

    def fail(*_: object, **__: object) -> None:
        raise ValueError("x")

    for name in ("judge", "prohibited"):
        monkeypatch.setattr(broken, name, fail)
    payload = clear_payload([native("a", ""), ours("b")], broken)
    assert [message.texts for message in payload.cleared.values] == [(conceal("local-only"), "")]
    assert [left.reason for left in payload.withheld] == ["privacy-failed"]


def test_supplements_may_be_refused_together() -> None:
    payload = refuse_supplements([native(S), ours("b", id_="e1"), native("c")], judge(), "privacy-unreadable")
    assert [message.texts for message in payload.cleared.values] == [(S,), ("c",)]
    assert payload.kept == (0, 2)
    assert [(left.entry_id, left.reason) for left in payload.withheld] == [("e1", "privacy-unreadable")]


PIECES = st.lists(
    st.sampled_from([*(f"[aforesaid:{level}]" for level in LEVELS), *(f"[/aforesaid:{level}]" for level in LEVELS)])
    | st.sampled_from(["x", " ", "日本", "\n", "word "]),
    max_size=8,
).map("".join)


@given(st.lists(PIECES, max_size=4), st.sets(st.sampled_from(LEVELS)), st.sampled_from(LEVELS))
def test_what_is_left_of_a_message_may_go(texts: list[str], allowed: set[str], default: str) -> None:
    found = judge(default=default, providers=Providers(remote_default=tuple(sorted(allowed))))  # type: ignore[arg-type]
    whole = "\n".join(texts)
    payload = clear_payload([native(*texts)], found)
    (message,) = payload.cleared.values
    assert len(message.texts) == len(texts)
    if found.judge(whole).allowed:
        assert message.texts == tuple(texts)
        return
    stretches = found.prohibited(whole)
    assert stretches or not whole
    kept = [text for index, text in enumerate(whole) if not any(start <= index < end for start, end, _ in stretches)]
    shown = "\n".join(message.texts)
    for level in LEVELS:
        shown = shown.replace(conceal(level), "")
    assert "".join(shown.split()) == "".join("".join(kept).split())


SECRETS = ["password=hunter2Secret99", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "https://user:pass99word@host/"]


@given(st.lists(PIECES | st.sampled_from(SECRETS) | st.sampled_from([secret[:14] for secret in SECRETS]), max_size=8))
def test_replacing_secrets_never_moves_a_text_to_a_lower_class(pieces: list[str]) -> None:
    text = "".join(pieces)
    before, done = read_marks(text), redact(text)
    after = read_marks(done.text)
    assert [level for _, _, level in after.spans] == [level for _, _, level in before.spans]
    assert (after.broken, after.outside) == (before.broken, before.outside)
    assert redact(done.text).count == 0


def test_a_marker_hides_no_secret() -> None:
    for text in ('password="{}hunter2Secret99{}"', "https://user:{}pass99word{}@host/"):
        marked = redact(text.format(S, END))
        assert marked.count == 1
        assert S in marked.text
        assert END in marked.text
        assert "99" not in marked.text


# --- speed ----------------------------------------------------------------------------------------------------------


def test_known_messages_take_milliseconds_and_rules_twenty_megabytes_a_second() -> None:
    """In a process that is not traced; a busy machine slows some rounds down, but hardly each of them."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    command = [sys.executable, "-m", "tests.payloads"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=environment)
    found = json.loads(done.stdout)
    print(
        f"\n1,000 messages: {found['coldMs']:.1f} ms new, {found['knownMs']:.2f} ms known; "
        f"markers and rules: {found['mbPerSecond']:.0f} MB/s, {found['timesOneScan']:.0f} times one plain scan"
    )
    assert found["fastestMs"] < 5
    assert found["knownMs"] < found["coldMs"] / 3
    assert found["mbPerSecond"] > 20
