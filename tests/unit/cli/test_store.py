from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace
from tests.schemas import check
from tests.values import SESSION_ID, STATUS, make_session

from aforesaid.model import Header
from aforesaid.reports import VectorCount

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.cli.conftest import Done, FakeEngine

    Command = Callable[..., Done]


def test_sessions_are_listed_in_the_order_of_the_engine(command: Command, fake: FakeEngine) -> None:
    bare = make_session(header=Header(host="pi", session_id="bare"), name=None, updated=None, entries=1, requests=1)
    fake.answer = (make_session(name="a\x1bname"), bare)
    done = command("sessions", "--project", "p", "--host", "pi")
    assert done.out.splitlines() == [
        f"2026-11-30 02:14:36 UTC  {SESSION_ID}  a␛name",
        "    pi, 40 entries, 7 requests, /home/dev/sessions/a.jsonl",
        "    → aforesaid recall '' --session=/home/dev/sessions/a.jsonl",
        "unknown date  bare",
        "    pi, 1 entry, 1 request, /home/dev/sessions/a.jsonl",
        "    → aforesaid recall '' --session=/home/dev/sessions/a.jsonl",
    ]
    assert fake.calls == [("sessions", (), {"project": "p", "host": "pi"})]
    document = check("sessions", command("sessions", "--json").out)
    assert [session["sessionId"] for session in document["sessions"]] == [SESSION_ID, "bare"]


def test_a_store_without_sessions_says_what_to_do(command: Command, fake: FakeEngine) -> None:
    fake.answer = ()
    done = command("sessions")
    assert done.status == 0
    assert done.out == "The store knows no session yet. `aforesaid index PATH` brings sessions in.\n"
    for chosen in (("--host", "pi"), ("--project", "p")):
        assert command("sessions", *chosen).out.startswith("The store knows no such session.")
    assert check("sessions", command("sessions", "--json").out)["sessions"] == []


def test_a_store_that_is_not_there_is_said_to_be_missing(command: Command, fake: FakeEngine) -> None:
    fake.stored = False
    fake.answer = ()
    missing = "warning: there is no store in {}; `aforesaid index PATH` makes one\n"
    assert command("sessions", "--store", "mistyped\x1b").err == missing.format(Path.cwd() / "mistyped␛")
    assert check("sessions", command("sessions", "--json").out)["sessions"] == []
    fake.answer = STATUS
    done = command("status")
    assert "store       /home/dev/store (not there; `aforesaid index PATH` makes it)\n" in done.out
    assert done.err == ""
    assert check("status", command("status", "--json").out)["store"]["damaged"] == []


def test_the_status_shows_place_size_content_damage_and_warnings(command: Command, fake: FakeEngine) -> None:
    count = VectorCount(provider="p\x1b", model="m", dimensions=64, destination="local", sessions=1, vectors=1234)
    fake.answer = replace(STATUS, damaged=("k\x1b1",), writable=False, erasing=True, vectors=(count,))
    done = command("status", "--set", "project.maxFiles=9")
    assert done.status == 0
    for part in (
        "/home/dev/store (read-only)",
        "123.5 kB",
        "2 sessions, 80 entries",
        "1 session; `aforesaid rebuild` derives them again:",
        "k␛1",
        "vectors     1,234 of p␛/m (64 numbers, local) in 1 session",
        "forgetting  was interrupted; `aforesaid forget --verify` finishes it",
        "not-in-this-version project.maxFiles",
        "not in this version (-v lists them)",
    ):
        assert part in done.out
    assert "project.enabled" not in done.out
    assert "project.enabled" in command("status", "-v").out


def test_a_healthy_status(command: Command, fake: FakeEngine) -> None:
    fake.answer = STATUS
    done = command("status")
    assert "damaged     none" in done.out
    assert "forgetting" not in done.out
    assert "no warnings" in done.out
    assert "(read-only)" not in done.out
    assert check("status", command("status", "--json").out)["store"]["damaged"] == []
