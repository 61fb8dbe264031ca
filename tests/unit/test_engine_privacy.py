"""`Engine` and the privacy policy: final messages, counts, changed configurations, shortened paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests import pi

from aforesaid import Engine
from aforesaid.config import Config
from aforesaid.errors import StoreBusy
from aforesaid.evidence import unframe
from aforesaid.model import Tally
from aforesaid.privacy.payload import Outgoing
from aforesaid.storage.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

    from aforesaid.answers import Evidence

ON: dict[str, Any] = {"privacy.enabled": True, "privacy.localProviders": ["here"]}
SECRET = "[aforesaid:sensitive]x[/aforesaid:sensitive]"
OURS = Outgoing(texts=(f"ours {SECRET}",), supplement=True, entry_id="e1")
NATIVE = Outgoing(texts=(f"native {SECRET}",))


def session(folder: Path, *texts: str, cwd: str = "/home/dev/shop", name: str = "one") -> Path:
    rows = pi.conversation(texts)
    rows.append(pi.compaction("cccccccc", rows[-1]["id"], "cccccccc", minute=9))
    return pi.write(folder / f"{name}.jsonl", [pi.header(name, cwd=cwd), *rows])


# --- final messages -------------------------------------------------------------------------------------------------


def test_final_messages_are_for_the_provider_that_is_called(tmp_path: Path) -> None:
    file = session(tmp_path, "a", "b")
    with Engine.open(tmp_path / "store", settings=ON) as engine:
        engine.index(file)
        remote = engine.clear([NATIVE, OURS], session=file, provider="there")
        assert [message.texts for message in remote.cleared.values] == [("native [withheld by aforesaid: sensitive]",)]
        assert (remote.kept, remote.withheld[0].entry_id) == ((0,), "e1")
        assert engine.clear([NATIVE, OURS], session=file).kept == (0,)
        assert engine.clear([NATIVE, OURS], session=file, provider="here").cleared.values == (NATIVE, OURS)


def test_without_a_policy_final_messages_go_as_they_are(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "store") as engine:
        assert engine.clear([NATIVE, OURS], session="nowhere", provider="x").cleared.values == (NATIVE, OURS)


def test_a_session_that_is_not_known_is_in_every_project(tmp_path: Path) -> None:
    rules = [{"project": "/home/dev/acme", "classification": "sensitive"}]
    file = session(tmp_path, "a", "b")
    plain = Outgoing(texts=("a",), supplement=True)
    with Engine.open(tmp_path / "store", settings={**ON, "privacy.rules": rules}) as engine:
        engine.index(file)
        assert engine.clear([plain], session=file).kept == (0,)
        assert engine.clear([plain], session="nowhere").kept == ()


def test_while_the_policy_is_not_known_nothing_of_ours_goes_out(tmp_path: Path) -> None:
    (tmp_path / "named.json").write_text('{"privacy": {"enabled": "yes"}}')
    with Engine.open(tmp_path / "store", tmp_path / "named.json") as engine:
        payload = engine.clear([NATIVE, Outgoing(texts=("plain",), supplement=True)], session="nowhere")
    assert payload.cleared.values == (NATIVE,)
    assert [left.reason for left in payload.withheld] == ["privacy-unreadable"]


def test_a_changed_configuration_counts_at_once(tmp_path: Path) -> None:
    file = session(tmp_path, f"walnut {SECRET}", "b")
    with Engine.open(tmp_path / "store", settings=ON) as engine:
        assert engine.retrieve(session=file, query="walnut").hits == ()
        engine.config = Config.load(settings={**ON, "privacy.remoteDefaultAllowed": ["normal", "sensitive"]})
        assert len(engine.retrieve(session=file, query="walnut").hits) == 1
        engine.config = Config.load(settings=ON)
        assert engine.retrieve(session=file, query="walnut").hits == ()


def test_a_session_without_a_file_is_judged_by_its_lines_too(tmp_path: Path) -> None:
    rows = pi.conversation(["the walnut table", "walnut"])
    rows[0]["message"]["content"].append({"type": "thinking", "thinking": SECRET})
    rows.append(pi.compaction("cccccccc", rows[-1]["id"], "cccccccc", minute=9))
    lines = pi.write(tmp_path / "s.jsonl", [pi.header("one"), *rows]).read_bytes()
    for settings, found in ((ON, []), ({}, ["e0000000"])):
        with Engine.in_memory(Config.load(settings=settings)) as engine:
            engine.hold("held", lines)
            answer = engine.retrieve(session="held", query="walnut table")
            assert [hit.ranked.candidate.entry.id for hit in answer.hits if hit.ranked.candidate.position == 0] == found


def test_each_session_of_a_wider_search_is_judged_by_its_own_project(tmp_path: Path) -> None:
    rules = [{"project": "/home/dev/acme", "classification": "sensitive"}]
    theirs = session(tmp_path, "walnut for acme", "b", cwd="/home/dev/acme/app", name="theirs")
    ours = session(tmp_path, "walnut for us", "b", cwd="/home/dev/shop", name="ours")
    with Engine.open(tmp_path / "store", settings={**ON, "privacy.rules": rules}) as engine:
        engine.index(theirs, ours)
        for provider, found in (("there", ["ours"]), ("here", ["ours", "theirs"])):
            page = engine.recall("walnut", session=ours, scope="host-wide", provider=provider)
            assert sorted(hit.session_id for hit in page.hits) == found


@pytest.fixture
def linked(tmp_path: Path) -> tuple[Path, Path]:
    """A folder, and a link to it."""
    real, link = tmp_path / "data" / "acme", tmp_path / "acme-link"
    real.mkdir(parents=True)
    try:
        link.symlink_to(real, target_is_directory=True)
    except OSError:
        pytest.skip("needs links")
    return real, link


@pytest.mark.parametrize("below", ["", "app"])
@pytest.mark.parametrize("ending", ["", "/**"])
@pytest.mark.parametrize(("named", "worked"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_a_rule_knows_a_project_by_its_path_and_by_where_links_lead(
    tmp_path: Path, linked: tuple[Path, Path], named: int, worked: int, ending: str, below: str
) -> None:
    rules = [{"project": f"{linked[named]}{ending}", "classification": "sensitive"}]
    theirs = session(tmp_path, "walnut for acme", "b", cwd=str(linked[worked] / below), name="theirs")
    ours = session(tmp_path, "walnut for us", "b", cwd=str(tmp_path / "acme"), name="ours")
    with Engine.open(tmp_path / "store", settings={**ON, "privacy.rules": rules}) as engine:
        engine.index(theirs, ours)
        page = engine.recall("walnut", scope="host-wide", provider="there")
        assert [hit.session_id for hit in page.hits] == ["ours"]
        assert not engine.retrieve(session=theirs, query="walnut for acme", provider="there").hits
        assert engine.clear([OURS], session=theirs, provider="there").kept == ()
        assert len(engine.recall("walnut", scope="host-wide", provider="here").hits) == 2


def test_a_link_that_leads_elsewhere_by_now_leaves_what_the_rule_names_withheld(
    tmp_path: Path, linked: tuple[Path, Path]
) -> None:
    real, link = linked
    rules = [{"project": str(link), "classification": "sensitive"}]
    named, led = (session(tmp_path, "walnut", "b", cwd=str(cwd), name=cwd.name) for cwd in (link, real))
    with Engine.open(tmp_path / "store", settings={**ON, "privacy.rules": rules}) as engine:
        engine.index(named, led)
        assert not engine.recall("walnut", session=named, provider="there").hits
        assert not engine.recall("walnut", session=led, provider="there").hits
        link.unlink()
        (tmp_path / "else").mkdir()
        link.symlink_to(tmp_path / "else", target_is_directory=True)
        assert not engine.recall("walnut", session=named, provider="there").hits
        assert not engine.recall("walnut", session=led, provider="there").hits, "what a rule names is looked up once"
    with Engine.open(tmp_path / "store", settings={**ON, "privacy.rules": rules}) as engine:
        assert not engine.recall("walnut", session=named, provider="there").hits
        assert engine.recall("walnut", session=led, provider="there").hits, "nothing tells of the link any more"


def test_a_folder_that_becomes_a_link_to_a_project_is_in_it_at_once(tmp_path: Path, linked: tuple[Path, Path]) -> None:
    real, link = linked
    link.unlink()
    rules = [{"project": str(real), "classification": "sensitive"}]
    file = session(tmp_path, "walnut", "b", cwd=str(link))
    with Engine.open(tmp_path / "store", settings={**ON, "privacy.rules": rules}) as engine:
        engine.index(file)
        assert engine.recall("walnut", session=file, provider="there").hits
        link.symlink_to(real, target_is_directory=True)
        assert not engine.recall("walnut", session=file, provider="there").hits


def test_without_rules_no_link_is_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(folder: str) -> tuple[str, ...]:
        raise AssertionError(folder)

    monkeypatch.setattr("aforesaid.config.privacy.spellings", never)
    file = session(tmp_path, "walnut", "b")
    with Engine.open(tmp_path / "store", settings=ON) as engine:
        engine.index(file)
        assert engine.recall("walnut", session=file, provider="there").hits


# --- counts ---------------------------------------------------------------------------------------------------------


def test_what_was_withheld_is_counted_over_processes(tmp_path: Path) -> None:
    file = session(tmp_path, f"walnut {SECRET}", "walnut [aforesaid:local-only]y", "walnut table")
    for _ in range(2):
        with Engine.open(tmp_path / "store", settings=ON) as engine:
            found = engine.retrieve(session=file, query="walnut")
            assert len(found.withheld) == 2
            engine.retrieve(session=file, query="walnut", provider="here")
            made = engine.plan(session=file, query="walnut", context_window=100_000, model="there/x", keep=False)
        with Engine.open(tmp_path / "store", settings=ON) as engine:
            engine.keep_manifest(made, session=file)
    with Engine.open(tmp_path / "store") as engine:
        assert engine.withheld() == (
            Tally(reason="privacy-marker", classification="local-only", count=4),
            Tally(reason="privacy-marker", classification="sensitive", count=4),
        )


def test_a_count_that_fails_fails_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = session(tmp_path, f"walnut {SECRET}", "walnut table")

    def fail(*_: object) -> None:
        raise StoreBusy("busy", "wait")

    for name in ("count_withheld", "withheld"):
        monkeypatch.setattr(SqliteStore, name, fail)
    with Engine.open(tmp_path / "store", settings=ON) as engine:
        assert len(engine.retrieve(session=file, query="walnut").hits) == 1
        assert engine.withheld() == ()


def test_asking_for_counts_makes_no_store(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "store") as engine:
        assert engine.withheld() == ()
    assert not (tmp_path / "store").exists()


# --- paths ----------------------------------------------------------------------------------------------------------

TEXT = "the walnut is in /home/dev/shop/src/db.py and /home/other/x"
SHORT = "the walnut is in src/db.py and ~/x"


def hit_of(folder: Path, **settings: object) -> Evidence:
    file = session(folder, TEXT, "b")
    with Engine.open(folder / "store", settings=settings) as engine:
        (hit,) = engine.retrieve(session=file, query="walnut").hits
    return hit


def test_quoted_text_is_verbatim_by_default(tmp_path: Path) -> None:
    hit = hit_of(tmp_path)
    assert (hit.excerpt, unframe(hit.message)) == (TEXT, TEXT)


def test_quoted_text_is_shortened_if_asked_for(tmp_path: Path) -> None:
    before, hit = hit_of(tmp_path), hit_of(tmp_path, **{"privacy.shortenPaths": True})
    assert (hit.excerpt, unframe(hit.message)) == (SHORT, SHORT)
    (window,) = hit.windows
    assert (window.start, window.end, window.text) == (0, len(TEXT), SHORT)
    assert hit.tokens < before.tokens
    assert (hit.ranked, hit.message.splitlines()[:6]) == (before.ranked, before.message.splitlines()[:6])


def test_recall_and_expand_are_shortened_too(tmp_path: Path) -> None:
    file = session(tmp_path, TEXT, "b")
    with Engine.open(tmp_path / "store", settings={"privacy.shortenPaths": True}) as engine:
        (found,) = engine.recall("/home/dev/[a-z]+/src", session=file, mode="regex").hits
        assert (found.snippet, found.matched) == (SHORT, ("src",))
        (passage,) = engine.expand(found.ref).entries
        assert (passage.text, passage.verified) == (SHORT, True)
    with Engine.open(tmp_path / "store") as engine:
        (found,) = engine.recall("walnut", session=file).hits
        assert found.snippet == TEXT
        assert engine.expand(found.ref).entries[0].text == TEXT


def test_a_hit_without_paths_is_the_same(tmp_path: Path) -> None:
    file = session(tmp_path, "the walnut table", "b")
    found = []
    for short in (False, True):
        with Engine.open(tmp_path / "store", settings={"privacy.shortenPaths": short}) as engine:
            found.append(engine.retrieve(session=file, query="walnut").hits)
    assert found[0] == found[1]


def test_the_frame_of_evidence_names_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but quoted text may hold a path: ids, times, roles and reasons have none, whatever the folders are."""
    home = tmp_path / "home" / "someuser"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    file = session(home, "the walnut table", "b", cwd=str(home / "shop"))
    with Engine.open(home / "store") as engine:
        (hit,) = engine.retrieve(session=file, query="walnut").hits
        made = engine.plan(session=file, context_window=100_000, query="walnut")
        page = engine.recall("walnut", session=file)
    for text in (hit.message, repr(made.manifest), repr([found.snippet for found in page.hits])):
        assert "someuser" not in text
        assert str(tmp_path) not in text
