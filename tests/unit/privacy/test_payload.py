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


def result(*texts: str, call: tuple[str, ...] | None = ()) -> Outgoing:
    return Outgoing(texts=texts, result=True, call=call)


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


def test_a_default_and_rules_by_project_empty_no_call() -> None:
    """What they say holds for every text of the session, which the user has with this provider."""
    for found in (
        judge(default="sensitive", providers=Providers(remote_default=("internal",))),
        judge(rules=(Rule(classification="local-only", project="/p"),)),
    ):
        payload = clear_payload([native("a", "b"), result("c"), ours("d")], found)
        assert [message.texts for message in payload.cleared.values] == [("a", "b"), ("c",)]
        assert (payload.concealed, len(payload.withheld)) == (0, 1)


def test_rules_by_path_count_for_what_tools_gave_back_and_not_for_what_is_said() -> None:
    found = judge(rules=(Rule(classification="sensitive", path="secrets/**"),))
    messages = [
        native("do not read secrets/a"),
        result("x", "", call=("cat secrets/a",)),
        result("x", call=("cd secrets && cat a",)),
        result("x", call=("secrets",)),
        result("x", call=("./docs/../secrets/a",)),
        result("secrets/a: x", call=("grep -r x .",)),
        result("x", call=("cat docs/a", "the secrets of it")),
        result("x", call=("cat docs/a",)),
        result("x", call=None),
    ]
    cleared = [message.texts for message in clear_payload(messages, found).cleared.values]
    assert cleared == [
        ("do not read secrets/a",), (HIDDEN, ""), (HIDDEN,), (HIDDEN,), (HIDDEN,), (HIDDEN,), (HIDDEN,), ("x",),
        (HIDDEN,),
    ]  # fmt: skip
    free = judge(rules=(Rule(classification="internal", path="secrets/**"),))
    assert clear_payload(messages, free).concealed == 0


def test_lists_are_exact_for_stretches_too() -> None:
    found = judge(providers=Providers(remote_default=("sensitive",)))
    text = f"a {S}b{END} [aforesaid:internal]c[/aforesaid:internal]"
    (message,) = clear_payload([native(text)], found).cleared.values
    assert message.texts == (f"a {S}b{END} {conceal('internal')}",)


def test_what_was_made_for_another_provider_is_prohibited() -> None:
    stale = Outgoing(texts=("a",), supplement=True, fresh=False, entry_id="e1")
    answer = Outgoing(texts=("a", " "), supplement=True, stays=True, fresh=False)
    fresh = Outgoing(texts=("a",), supplement=True, stays=True)
    payload = clear_payload([stale, answer, fresh], judge())
    assert [message.texts for message in payload.cleared.values] == [(conceal("normal"), " "), ("a",)]
    assert payload.kept == (1, 2)
    assert [left.reason for left in payload.withheld] == ["privacy-stale", "privacy-stale"]
    here = judge("here", providers=Providers(local=("here",)))
    assert clear_payload([stale, answer], here).kept == (0, 1)


def test_an_answer_of_our_tools_stays_without_its_words() -> None:
    answer = Outgoing(texts=(f"a {S}b{END}", "c"), supplement=True, stays=True)
    payload = clear_payload([answer], judge())
    assert [message.texts for message in payload.cleared.values] == [(HIDDEN, HIDDEN)]
    assert (payload.kept, payload.withheld[0].reason) == ((0,), "privacy-marker")
    rules = (Rule(classification="sensitive", path="secrets/**"),)
    named = clear_payload([Outgoing(texts=("see secrets/a",), supplement=True, stays=True)], judge(rules=rules))
    assert [
        (message.texts, left.reason) for message, left in zip(named.cleared.values, named.withheld, strict=True)
    ] == [((HIDDEN,), "privacy-path")]


def test_an_answer_about_entries_that_were_judged_is_no_text_of_the_session() -> None:
    """Under a default that withholds every entry the model still learns that there is nothing for it."""
    answer = Outgoing(texts=('{"hits": []}',), supplement=True, stays=True)
    assert clear_payload([answer], judge(default="local-only")).cleared.values == (answer,)


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

    for name in ("judge", "find_prohibited"):
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
def test_what_is_left_of_a_message_is_all_of_what_may_go_and_nothing_else(
    texts: list[str], allowed: set[str], default: str
) -> None:
    """By the words of the page: what stands between markers of a level that the provider may not see goes."""
    found = judge(default=default, providers=Providers(remote_default=tuple(sorted(allowed))))  # type: ignore[arg-type]
    whole = "\n".join(texts)
    marks = read_marks(whole)
    secret = [span for span in marks.spans if span[2] not in found.policy.providers.allowed("")]
    if marks.broken:
        secret = [] if set(marks.broken) <= found.policy.providers.allowed("") else [(0, len(whole), marks.broken[0])]
    (message,) = clear_payload([native(*texts)], found).cleared.values
    assert len(message.texts) == len(texts)
    if not secret:
        assert message.texts == tuple(texts)
    kept = [text for index, text in enumerate(whole) if not any(start <= index < end for start, end, _ in secret)]
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
