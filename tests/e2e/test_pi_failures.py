"""Whatever fails, Pi's request goes out unchanged and in time, the user is told once, and the next one works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from tests.realpi import QUESTION, Home, Model, Pi, carries_the_fact, evidence, fill, lose_the_fact, needs_pi, text_of

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


@pytest.fixture
def home(tmp_path: Path, model: Model) -> Home:
    """A user whose timeouts are the product's own."""
    made = Home(tmp_path, model, hasty=True)
    made.aforesaid("install", "pi")
    return made


def goes_out_unchanged(pi: Pi, model: Model, *, within: float = 2.0) -> None:
    """Asks, and sees the request as Pi alone would send it."""
    pi.ask("get_state")  # Pi's own start does not count
    began = time.monotonic()
    pi.ask("prompt", message=QUESTION)
    pi.wait(lambda event: event.get("type") == "agent_settled")
    assert time.monotonic() - began < within
    request = model.calls[-1]
    assert evidence(request) == []
    assert text_of(request[-1]) == QUESTION
    assert [text_of(message) for message in request[1:]].count(QUESTION) >= 1


def told(pi: Pi) -> list[str]:
    return [notice for notice in pi.notices if notice.startswith("aforesaid: nothing was added")]


def works_again(pi: Pi, model: Model, patience: float = 20) -> None:
    deadline = time.monotonic() + patience
    while True:
        pi.prompt(QUESTION)
        if carries_the_fact(model.calls[-1]):
            return
        assert time.monotonic() < deadline, pi.say("/context health")
        time.sleep(0.2)


def test_a_killed_service_is_started_again(home: Home, model: Model) -> None:
    with Pi(home) as pi:
        lose_the_fact(pi)
        for _ in range(3):
            (service,) = pi.children()
            os.kill(service, signal.SIGKILL)
            works_again(pi, model)
        assert pi.faults == []
        # On a busy machine a call may have run out of time before: that is a kind of its own.
        assert len([notice for notice in told(pi) if "SIGKILL" in notice]) <= 1


def test_a_hung_service_costs_its_time_and_is_replaced(home: Home, model: Model) -> None:
    with Pi(home) as pi:
        lose_the_fact(pi)
        pi.prompt(QUESTION)
        assert carries_the_fact(model.calls[-1])
        (service,) = pi.children()
        os.kill(service, signal.SIGSTOP)
        goes_out_unchanged(pi, model)
        assert len(told(pi)) == 1
        works_again(pi, model)
        assert pi.children() != [service]
        assert (len(told(pi)), pi.faults) == (1, [])


@pytest.mark.parametrize("program", ["GARBAGE", "SLOW", "DEAF", "DYING", "HUGE", "WRONG", "REFUSING"])
def test_a_service_that_is_none_changes_nothing(home: Home, model: Model, program: str) -> None:
    file = home.folder / "program.py"
    file.write_text(globals()[program])
    home.launch(sys.executable, str(file))
    with Pi(home) as pi:
        goes_out_unchanged(pi, model, within=4)
        for _ in range(3):
            goes_out_unchanged(pi, model)
        assert len(told(pi)) == 1
        assert pi.faults == []
        assert pi.close() == 0


def test_a_missing_interpreter_is_told_once(home: Home, model: Model) -> None:
    home.launch(str(home.folder / "no-python"), "-m", "aforesaid", "serve")
    with Pi(home) as pi:
        for _ in range(3):
            goes_out_unchanged(pi, model)
        (notice,) = told(pi)
        assert "no-python" in notice
        assert "no-python" in pi.say("/context status")
        assert pi.faults == []
        assert pi.close() == 0


def test_print_mode_tells_on_standard_error_and_ends_well(home: Home, model: Model) -> None:
    home.launch(str(home.folder / "no-python"), "-m", "aforesaid", "serve")
    began = time.monotonic()
    done = home.print(QUESTION)
    assert (done.returncode, done.stdout.strip()) == (0, b"fine")
    assert done.stderr.startswith(b"aforesaid: nothing was added")
    assert time.monotonic() - began < 10


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
        assert len([notice for notice in told(pi) if "store-read-only" in notice]) == 1
        assert pi.faults == []


def test_a_service_that_is_slow_once_costs_one_call(home: Home, model: Model) -> None:
    """Ten seconds for one answer: the call does not wait for it, and the service is replaced."""
    program, mark = home.folder / "program.py", home.folder / "mark"
    program.write_text(SLOW_ONCE)
    home.launch(sys.executable, str(program), str(mark))
    with Pi(home) as pi:
        lose_the_fact(pi)
        works_again(pi, model)
        mark.touch()
        goes_out_unchanged(pi, model)
        assert not mark.exists()
        works_again(pi, model)
        assert len([notice for notice in told(pi) if "no answer within" in notice]) == 1
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
