"""The pages about the command line say what the program does, and nothing else."""

from __future__ import annotations

import json
import re
from importlib import import_module

import pytest
from tests.conftest import ROOT
from tests.schemas import check

from aforesaid import errors
from aforesaid.cli import COMMANDS
from aforesaid.cli.parser import make_parser

COMMANDS_PAGE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
ERRORS_PAGE = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
NOT_RAISED = "not raised in this version"


def sections(page: str) -> dict[str, str]:
    parts = re.split(r"^## (.+)$", page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def tree(root: type[errors.AforesaidError] = errors.AforesaidError) -> list[type[errors.AforesaidError]]:
    return [root, *(found for child in root.__subclasses__() for found in tree(child))]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_section_with_each_of_its_options_and_no_other(name: str) -> None:
    described = sections(COMMANDS_PAGE)[name]
    parser = make_parser(name)
    common = {option for action in parser._actions for option in action.option_strings}
    import_module(f"aforesaid.cli.{name}").add_arguments(parser)
    own = {option for action in parser._actions for option in action.option_strings} - common
    usage = described.split("```")[1]
    assert set(re.findall(r"--[a-z-]+", usage)) == own
    for option in own:
        assert f"| `{option}" in described, f"{option} is in no table"


def test_the_options_of_every_command_are_described() -> None:
    parser = make_parser("status")
    options = {action.option_strings[-1] for action in parser._actions} - {"--help", "--version"}
    described = {
        re.split(r"[ `]", cell[0].strip("`"))[0] for cell in rows(sections(COMMANDS_PAGE)["Options of every command"])
    }
    assert described == options


def test_every_example_is_a_valid_document() -> None:
    examples = re.findall(r"```json\n(.+?)```", COMMANDS_PAGE, re.DOTALL)
    names = [check(json.loads(text)["schema"].split(".")[1].split("/")[0], text)["schema"] for text in examples]
    assert sorted(names) == sorted(
        f"aforesaid.{name}/1"
        for name in (
            *("index", "retrieval", "recall", "expand", "plan", "sessions", "status", "rebuild", "config"),
            *("config-path", "doctor", "forget", "eval", "installation", "lost", "view"),
        )
    )
    (error,) = re.findall(r"```json\n(.+?)```", ERRORS_PAGE, re.DOTALL)
    check("error", error)


def test_every_error_code_is_listed_once_with_its_exit_status() -> None:
    listed = {cells[0].strip("`"): int(cells[1]) for cells in rows(sections(ERRORS_PAGE)["Codes"])}
    expected = {error.code: error.exit_status for error in tree()}
    # The full-text search has an error of its own that no command ever ends with.
    expected["fts-failed"] = 0
    assert listed == {**expected, "interrupted": 130, "internal": 1}
    assert len(expected) == len(tree()), "two classes have one code"


def test_every_error_code_names_a_test_that_exists_unless_nothing_raises_it() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    classes = {error.code: error.__name__ for error in tree()}
    for cells in rows(sections(ERRORS_PAGE)["Codes"]):
        code, test = cells[0].strip("`"), cells[-1].strip("`")
        if test == NOT_RAISED:
            assert not re.search(rf"raise {classes[code]}\b", source), f"{code} is raised and needs a test"
            continue
        file, _, function = test.partition("::")
        assert f"def {function}(" in (ROOT / file).read_text(encoding="utf-8"), f"{code} points at nothing"


def test_every_reason_of_a_flaw_is_explained() -> None:
    from aforesaid.model import Flaw

    reasons = set(re.findall(r"`([a-z0-9-]+)`", str(Flaw.__doc__).split("reason:")[1].split("id:")[0]))
    explained = {cells[0].strip("`") for cells in rows(sections(ERRORS_PAGE)["Codes in documents"])}
    assert reasons <= explained
    of_retrieve = {"stale", "source-missing", "store-rebuilt"}
    of_recall = {"pattern-budget", "terms-dropped", "privacy-policy", "not-indexed", "sessions-not-opened"}
    of_recall |= {"redacted", "redacted-query"}
    of_lineage = {"ancestor-missing", "ancestor-unverified", "ancestor-unknown"}
    assert explained - reasons == of_retrieve | of_recall | of_lineage


def test_the_page_on_the_architecture_names_every_room() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = {part for name in re.findall(r"`([a-z_/]+)`", page) for part in name.split("/")}
    source = ROOT / "src" / "aforesaid"
    rooms = {path.stem for folder in (source, source / "hosts") for path in folder.iterdir() if path.suffix == ".py"}
    rooms |= {path.parent.name for folder in (source, source / "hosts") for path in folder.glob("*/__init__.py")}
    assert {room for room in rooms if not room.startswith("__")} - named == set()
