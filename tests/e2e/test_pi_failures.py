"""Whatever fails, Pi's request goes out unchanged and in time, the user is told once, and the next one works.

Where time is what is tested the timers are the product's own, and `Watch` measures in Pi how long each request was held
up. Elsewhere they are long, so that a busy machine adds no trouble of its own.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from itertools import count
from typing import TYPE_CHECKING

import pytest
from tests.realpi import (
    QUESTION,
    Home,
    Model,
    Pi,
    Watch,
    carries_the_fact,
    evidence,
    fill,
    lose_the_fact,
    needs_pi,
    text_of,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [needs_pi, pytest.mark.skipif(sys.platform != "linux", reason="signals, and children in /proc")]

GARBAGE = "import sys\nfor line in sys.stdin: print('no answer at all', flush=True)\n"
SLOW = "import sys, time\nfor line in sys.stdin: time.sleep(10)\n"
DEAF = "import time\ntime.sleep(600)\n"
DYING = "raise SystemExit(3)\n"
HUGE = "import sys\nsys.stdin.readline()\nwhile True: sys.stdout.write('x' * 1000000)\n"
WRONG = (
    "import sys, json\n"
    "for line in sys.stdin:\n"
    "    asked = json.loads(line)\n"
    "    answer = {'jsonrpc': '2.0', 'id': asked.get('id'), 'result': {'messages': 7}}\n"
    "    print(json.dumps(answer), flush=True)\n"
)
REFUSING = (
    "import sys, json\n"
    "for line in sys.stdin:\n"
    "    asked = json.loads(line)\n"
    "    error = {'code': -32000, 'message': 'no', 'data': {'code': 'store-full', 'message': 'the disk is full'}}\n"
    "    print(json.dumps({'jsonrpc': '2.0', 'id': asked.get('id'), 'error': error}), flush=True)\n"
)


# Stands between Pi and the service: holds back lines that name a method while a file is there, and says `seen` to it.
HOLDING = (
    "import os, subprocess, sys, time\n"
    "method, mark = sys.argv[1].encode(), sys.argv[2]\n"
    "serve = [sys.executable, '-P', '-m', 'aforesaid', 'serve', *sys.argv[3:]]\n"
    "child = subprocess.Popen(serve, stdin=subprocess.PIPE)\n"
    "for line in sys.stdin.buffer:\n"
    "    while method in line and os.path.exists(mark):\n"
    "        time.sleep(0.02)\n"
    "    child.stdin.write(line)\n"
    "    child.stdin.flush()\n"
    "child.stdin.close()\n"
    "child.wait()\n"
)
# A disk of its own for the store, filled up while a file is there.
FULL = (
    "import os, subprocess, sys, threading, time\n"
    "store, mark = sys.argv[1:3]\n"
    "os.makedirs(store, exist_ok=True)\n"
    "subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', store], check=True)\n"
    "filler = os.path.join(store, 'filler')\n"
    "def fill():\n"
    "    while True:\n"
    "        if os.path.exists(mark):\n"
    "            try:\n"
    "                with open(filler, 'ab', buffering=0) as file:\n"
    "                    while True: file.write(bytes(4096))\n"
    "            except OSError: pass\n"
    "        elif os.path.exists(filler): os.unlink(filler)\n"
    "        time.sleep(0.01)\n"
    "fill_once = threading.Thread(target=fill, daemon=True)\n"
    "fill_once.start()\n"
    "time.sleep(0.5)\n"
    "raise SystemExit(subprocess.run([sys.executable, '-P', '-m', 'aforesaid', 'serve']).returncode)\n"
)
SLOW_ONCE = (
    "import os, subprocess, sys, time\n"
    "serve = [sys.executable, '-P', '-m', 'aforesaid', 'serve']\n"
    "child = subprocess.Popen(serve, stdin=subprocess.PIPE)\n"
    "for line in sys.stdin.buffer:\n"
    "    if b'session/context' in line and os.path.exists(sys.argv[1]):\n"
    "        os.unlink(sys.argv[1])\n"
    "        time.sleep(10)\n"
    "    child.stdin.write(line)\n"
    "    child.stdin.flush()\n"
    "child.stdin.close()\n"
    "child.wait()\n"
)
# PR_CAPBSET_DROP, CAP_DAC_OVERRIDE: a superuser may then write no more than others.
POWERLESS = (
    "import ctypes, os, sys\n"
    "ctypes.CDLL(None).prctl(24, 1)\n"
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])\n"
)


FIRST_MS, NEXT_MS = 1500, 250
"""How long a request may be held up: the first one of a session, and every other."""


@pytest.fixture
def hasty(tmp_path: Path, model: Model) -> Home:
    """A user whose timeouts are the product's own."""
    made = Home(tmp_path, model, hasty=True)
    made.aforesaid("install", "pi")
    return made


def goes_out_unchanged(pi: Pi, model: Model) -> None:
    """Asks, and sees the request as Pi alone would send it."""
    pi.prompt(QUESTION)
    request = model.calls[-1]
    assert evidence(request) == []
    assert text_of(request[-1]) == QUESTION
    assert [text_of(message) for message in request[1:]].count(QUESTION) >= 1


def told(pi: Pi) -> list[str]:
    """All that the user was told without asking."""
    return [notice for notice in pi.notices if notice.startswith("aforesaid")]


def slowness_is_told_once(notices: list[str], before: int) -> bool:
    """Whether a slow answer was told, or had been within ten minutes before: a busy machine makes answers slow, too."""
    slow = [place for place, notice in enumerate(notices) if "no answer within" in notice]
    return len(slow) == 1 and len(notices) == max(before, slow[0] + 1)


def works_again(pi: Pi, model: Model, patience: float = 30) -> int:
    """Asks until the request carries its evidence; how many did not."""
    deadline = time.monotonic() + patience
    for missed in count():
        pi.prompt(QUESTION)
        if carries_the_fact(model.calls[-1]):
            return missed
        assert time.monotonic() < deadline, pi.say("/context health")
        time.sleep(0.2)
    raise AssertionError


def test_a_killed_service_is_started_again_and_each_time_that_it_costs_a_call_is_told_once(
    hasty: Home, model: Model
) -> None:
    watch = Watch(hasty)
    with Pi(hasty) as pi:
        lose_the_fact(pi)
        works_again(pi, model)
        for _ in range(3):
            before, asked = len(told(pi)), len(watch.held)
            (service,) = pi.children()
            os.kill(service, signal.SIGKILL)
            missed = works_again(pi, model)
            notices = told(pi)[before:]
            assert len(notices) == min(1, missed), notices
            assert all(": the service" in notice and "ended" in notice for notice in notices), notices
            assert all(watch.kept(place, NEXT_MS) for place in range(asked, len(watch.held))), watch.held
            assert "started" in pi.say("/context health")
        assert pi.faults == []


def test_a_hung_service_costs_its_time_and_is_replaced(hasty: Home, model: Model) -> None:
    watch = Watch(hasty)
    with Pi(hasty) as pi:
        lose_the_fact(pi)
        works_again(pi, model)
        before, asked = len(told(pi)), len(watch.held)
        (service,) = pi.children()
        os.kill(service, signal.SIGSTOP)
        goes_out_unchanged(pi, model)
        works_again(pi, model)
        assert pi.children() != [service]
        assert all(watch.kept(place, NEXT_MS) for place in range(asked, len(watch.held))), watch.held
        assert slowness_is_told_once(told(pi), before), told(pi)
        assert pi.faults == []


@pytest.mark.parametrize("program", ["GARBAGE", "SLOW", "DEAF", "DYING", "HUGE", "WRONG", "REFUSING"])
def test_a_service_that_is_none_changes_nothing(hasty: Home, model: Model, program: str) -> None:
    file = hasty.folder / "program.py"
    file.write_text(globals()[program])
    hasty.launch(sys.executable, str(file))
    watch = Watch(hasty)
    with Pi(hasty) as pi:
        for _ in range(4):
            goes_out_unchanged(pi, model)
        assert watch.kept(0, FIRST_MS), watch.held
        assert all(watch.kept(place, NEXT_MS) for place in range(1, 4)), watch.held
        assert len(told(pi)) == 1, told(pi)
        assert pi.faults == []
        assert pi.close() == 0


def test_a_missing_interpreter_is_told_once(hasty: Home, model: Model) -> None:
    hasty.launch(str(hasty.folder / "no-python"), "-m", "aforesaid", "serve")
    watch = Watch(hasty)
    with Pi(hasty) as pi:
        for _ in range(3):
            goes_out_unchanged(pi, model)
        (notice,) = told(pi)
        assert "no-python" in notice
        assert "`aforesaid install pi`" in notice
        assert all(watch.kept(place, NEXT_MS) for place in range(3)), watch.held
        shown = pi.say("/context status")
        assert "no-python" in shown
        # What is known without the service is shown without it.
        assert "the first model call was held up for" in shown
        assert "the last model call: service-down" in shown
        assert pi.faults == []
        assert pi.close() == 0


def test_the_first_call_has_its_own_time_although_the_service_is_there(hasty: Home, model: Model) -> None:
    """The session is open and its index is still being loaded: that was taken for a service that is ready."""
    with Pi(hasty) as pi:
        lose_the_fact(pi)
    program, mark = hasty.folder / "program.py", hasty.folder / "mark"
    program.write_text(HOLDING)
    hasty.launch(sys.executable, str(program), "session/context", str(mark))
    hasty.aforesaid("config", "set", "host.firstCallTimeoutMs", "10000")
    watch = Watch(hasty)
    mark.touch()
    with Pi(hasty, "-c") as pi:
        pi.say("/context health")  # the service is ready
        threading.Timer(1, mark.unlink).start()
        pi.prompt(QUESTION)
        assert carries_the_fact(model.calls[-1])
        assert watch.held[0] > NEXT_MS
        assert (told(pi), pi.faults) == ([], [])


@pytest.mark.parametrize("wanted", ["file", "option"])
def test_how_long_the_first_call_may_wait_counts_before_the_service_is_there_to_say_it(
    hasty: Home, model: Model, wanted: str
) -> None:
    if wanted == "file":
        hasty.aforesaid("config", "set", "host.firstCallTimeoutMs", "9999")
    else:
        hasty.aforesaid("install", "pi", "--set", "host.firstCallTimeoutMs=9999")
    with Pi(hasty) as pi:
        lose_the_fact(pi)
    program, mark = hasty.folder / "program.py", hasty.folder / "mark"
    program.write_text(HOLDING)
    given = ("--set", "host.firstCallTimeoutMs=9999") if wanted == "option" else ()
    hasty.launch(sys.executable, str(program), "initialize", str(mark), *given)
    watch = Watch(hasty)
    mark.touch()
    with Pi(hasty, "-c") as pi:
        pi.ask("get_state")  # Pi's own start does not count
        threading.Timer(3, mark.unlink).start()
        pi.prompt(QUESTION)
        assert carries_the_fact(model.calls[-1])
        assert watch.held[0] > FIRST_MS
        assert (told(pi), pi.faults) == ([], [])


def test_an_index_that_takes_long_is_waited_for_once_and_told_once(hasty: Home, model: Model) -> None:
    with Pi(hasty) as pi:
        lose_the_fact(pi)
    program, mark = hasty.folder / "program.py", hasty.folder / "mark"
    program.write_text(HOLDING)
    hasty.launch(sys.executable, str(program), "session/open", str(mark))
    mark.touch()
    watch = Watch(hasty)
    with Pi(hasty, "-c") as pi:
        for _ in range(4):
            goes_out_unchanged(pi, model)
        assert watch.kept(0, FIRST_MS), watch.held
        assert all(watch.kept(place, 0) for place in range(1, 4)), f"nothing is waited for any more: {watch.held}"
        (notice,) = told(pi)
        assert "the index of this session is still being made" in notice or "did not start" in notice
        mark.unlink()
        works_again(pi, model)
        assert (len(told(pi)), pi.faults) == (1, [])


def test_print_mode_tells_on_standard_error_and_ends_well(home: Home, model: Model) -> None:
    home.launch(str(home.folder / "no-python"), "-m", "aforesaid", "serve")
    done = home.print(QUESTION)
    assert (done.returncode, done.stdout.strip()) == (0, b"fine")
    assert done.stderr.startswith(b"aforesaid: nothing was added")
    assert done.stderr.count(b"aforesaid:") == 1


def test_a_package_that_is_gone_is_told_at_the_start(home: Home, model: Model) -> None:
    content = home.loader.read_text().replace("extension/index.ts", "extension/gone.ts")
    home.loader.write_text(content)
    with Pi(home) as pi:
        goes_out_unchanged(pi, model)
        assert any("could not be loaded" in notice for notice in pi.notices)
        assert pi.faults == []
    assert home.print("hello").returncode == 0


def test_a_store_that_is_no_folder_is_told_once(home: Home, model: Model) -> None:
    home.store.write_text("no folder")
    with Pi(home) as pi:
        lose_the_fact(pi)
        for _ in range(2):
            goes_out_unchanged(pi, model)
        assert len(told(pi)) == 1
        home.store.unlink()
        works_again(pi, model)
        assert pi.faults == []


def test_a_corrupted_store_is_made_anew(home: Home, model: Model) -> None:
    with Pi(home) as pi:
        lose_the_fact(pi)
        pi.prompt(QUESTION)
        assert carries_the_fact(model.calls[-1])
    for file in home.store.rglob("*.db*"):
        file.write_bytes(b"no database at all" * 1000)
    with Pi(home, "-c") as pi:
        works_again(pi, model)
        assert pi.faults == []


def test_a_full_store_is_told_once_and_an_emptied_one_works(home: Home, model: Model) -> None:
    home.aforesaid("install", "pi", "--set", "storage.maxBytes=40000")
    with Pi(home) as pi:
        lose_the_fact(pi)
        for _ in range(2):
            goes_out_unchanged(pi, model)
        (notice,) = told(pi)
        assert "store-full" in notice
        assert pi.faults == []
    home.aforesaid("install", "pi")
    with Pi(home, "-c") as pi:
        works_again(pi, model)


def test_a_full_disk_is_told_once_and_used_when_it_has_room_again(home: Home, model: Model) -> None:
    program, mark = home.folder / "program.py", home.folder / "mark"
    program.write_text(FULL)
    private = ["-Urm", sys.executable, str(program)]
    try:
        there = subprocess.run(["unshare", "-Urm", "mount", "-t", "tmpfs", "tmpfs", str(home.work)], check=False)
    except FileNotFoundError:
        pytest.skip("there is no unshare")
    if there.returncode != 0:
        pytest.skip("this user may mount nothing, not even in a namespace of its own")
    home.launch("/usr/bin/env", "unshare", *private, str(home.store), str(mark))
    with Pi(home) as pi:
        lose_the_fact(pi)
        works_again(pi, model)
        assert told(pi) == []
        mark.touch()
        time.sleep(0.5)
        for _ in range(12):
            pi.prompt("keep this: " + secrets.token_hex(30_000))
            if told(pi):
                break
        (notice,) = told(pi)
        assert "store-full" in notice
        goes_out_unchanged(pi, model)
        mark.unlink()
        time.sleep(0.5)
        pi.ask("compact")
        works_again(pi, model)
        assert (len(told(pi)), pi.faults) == (1, [])


def test_an_unwritable_store_is_told_once_and_used_when_it_can_be_written(home: Home, model: Model) -> None:
    program = home.folder / "program.py"
    program.write_text(POWERLESS)
    home.launch(sys.executable, str(program), "-P", "-m", "aforesaid", "serve")
    home.store.mkdir(mode=0o500)
    attempt = [sys.executable, str(program), "-c", "import sys; open(sys.argv[1], 'w')", str(home.store / "new")]
    if subprocess.run(attempt, capture_output=True, check=False).returncode == 0:
        pytest.skip("this user may write everywhere, and cannot give that up")
    with Pi(home) as pi:
        lose_the_fact(pi)
        for _ in range(2):
            goes_out_unchanged(pi, model)
        assert "(read-only)" in pi.say("/context health")
        home.store.chmod(0o700)
        works_again(pi, model)
        (notice,) = told(pi)
        assert "store-read-only" in notice
        assert pi.faults == []


def test_a_service_that_is_slow_once_costs_one_call(hasty: Home, model: Model) -> None:
    """Ten seconds for one answer: the call does not wait for it, and the service is replaced."""
    program, mark = hasty.folder / "program.py", hasty.folder / "mark"
    program.write_text(SLOW_ONCE)
    hasty.launch(sys.executable, str(program), str(mark))
    watch = Watch(hasty)
    with Pi(hasty) as pi:
        lose_the_fact(pi)
        works_again(pi, model)
        before, asked = len(told(pi)), len(watch.held)
        mark.touch()
        goes_out_unchanged(pi, model)
        assert not mark.exists()
        works_again(pi, model)
        assert all(watch.kept(place, NEXT_MS) for place in range(asked, len(watch.held))), watch.held
        assert slowness_is_told_once(told(pi), before), told(pi)
        assert pi.faults == []


def test_the_service_ends_with_pi(home: Home, model: Model) -> None:
    with Pi(home) as pi:
        fill(pi, 1)
        (service,) = pi.children()
        pi.process.kill()
        pi.process.wait(20)
    _ends(service)
    with Pi(home) as pi:
        fill(pi, 1)
        (service,) = pi.children()
    _ends(service)


def test_a_hung_service_does_not_outlive_pi(home: Home, model: Model) -> None:
    with Pi(home) as pi:
        fill(pi, 1)
        (service,) = pi.children()
        os.kill(service, signal.SIGSTOP)
        goes_out_unchanged(pi, model)
    _ends(service)


def _ends(process: int) -> None:
    for _ in range(100):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    raise AssertionError(f"{process} is still there")


def test_a_folder_with_modules_of_the_same_names_is_not_where_python_looks(home: Home, model: Model) -> None:
    for name in ("aforesaid", "json", "msgspec", "apsw"):
        (home.work / f"{name}.py").write_text("raise SystemExit('taken over')")
    with Pi(home) as pi:
        lose_the_fact(pi)
        pi.prompt(QUESTION)
        assert carries_the_fact(model.calls[-1])
