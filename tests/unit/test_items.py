"""Exact items: what of any text nobody can guess."""

from __future__ import annotations

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.words import any_text

from aforesaid.query import read_query
from aforesaid.query.commands import LONGEST, read_commands
from aforesaid.query.items import ITEM_KINDS, LONGEST_TEXT, read_items


@pytest.mark.parametrize(
    ("text", "item", "kind"),
    [
        ("see src/app/main.py:12 for it", "src/app/main.py", "path"),
        ("perché in C:\\Users\\jo\\notes.txt", "C:\\Users\\jo\\notes.txt", "path"),
        ("数据库在config/db.yaml里", "config/db.yaml", "path"),
        ("it was https://example.com/a?b=c.", "https://example.com/a?b=c", "url"),
        ("listening on localhost:8123", "localhost:8123", "url"),
        ("at 10.0.12.7:5432 now", "10.0.12.7:5432", "url"),
        ("calls getUserById twice", "getUserById", "identifier"),
        ("вызвать parse_port сейчас", "parse_port", "identifier"),
        ("mail jo.doe@example.com", "jo.doe@example.com", "identifier"),
        ("fixed by ABC-1234", "ABC-1234", "identifier"),
        ("it fails with TS2345", "TS2345", "error"),
        ("got ECONNREFUSED again", "ECONNREFUSED", "error"),
        ("in commit 7cf71da0278c", "7cf71da0278c", "hash"),
        ("it took 48213 rows", "48213", "number"),
        ("it cost 1,204,333.5", "1,204,333.5", "number"),
        ("version 3.972.11 of it", "3.972.11", "number"),
        ("the port 587 is taken", "", ""),
        ("in 2026 or 20261130 or 1.5 or 100000", "", ""),
        ("  1087\tdef run():", "", ""),
        ("  1087→def run():", "", ""),
    ],
)
def test_items_have_their_kind(text: str, item: str, kind: str) -> None:
    found = read_items(text)
    if item:
        assert found[item] == kind
    else:
        assert not found


def test_items_stand_in_the_order_of_the_text_with_commands_last() -> None:
    text = "run `make lint-all` on src/b.py, then read_items in src/a.py and src/b.py"
    assert list(read_items(text)) == ["src/b.py", "read_items", "src/a.py", "make lint-all"]


def test_what_a_text_quotes_of_json_ends_at_its_escapes() -> None:
    found = read_items(r'{"body": "done in src/app.py.\nVerification with \"parse_port\""}')
    assert found == {"src/app.py": "path", "parse_port": "identifier"}
    assert "C:\\new\\table.py" in read_items("it is in C:\\new\\table.py")


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("bash\ncommand: cd /tmp && pytest -q tests/unit 2>&1 | tail -5", ["pytest -q tests/unit"]),
        ("Bash\ncommand: FOO=1 BAR='x y' ./deploy.sh --prod\ndescription: npm run nothing", ["./deploy.sh --prod"]),
        ("exec\ncmd: our-tool migrate --all > log.txt; ls -la /somewhere/else", ["our-tool migrate --all"]),
        ("bash\ncommand: cat <<'EOF' > x.sh\nnpm run inside\nEOF\nnpm run outside", ["npm run outside"]),
        ("bash\ncommand: cat <<EOF\nnpm run inside", []),
        ("bash\ncommand: grep 'a;npm run b' src; docker compose \\\n  up -d", ["docker compose up -d"]),
        ("bash\ncommand: echo 'never closed; npm run build", ["npm run build"]),
        ("run `npm run build` and `our-tool migrate --all` and `getUserById(1)`", ["npm run build"]),
        ("```bash\n# first\nuv sync --frozen # quiet\ncargo test\n```\n```python\nnpm run build\n```",
         ["uv sync --frozen", "cargo test"]),
        ("$ kubectl get pods -A\nNAME  READY", ["kubectl get pods -A"]),
        ("bash\ncommand: git commit -m 'say it'\n", []),
        ("bash\ncommand: git push origin main\n", ["git push origin main"]),
        ("Use npm run build to make it", []),
        (f"bash\ncommand: pytest {'x' * LONGEST}", []),
    ],
)  # fmt: skip
def test_commands(text: str, commands: list[str]) -> None:
    assert list(read_commands(text)) == commands


def test_a_request_that_names_a_lost_item_asks_for_it_literally() -> None:
    """The query and the list of what was lost know the same names."""
    text = "src/app/main.py getUserById parse_port TS2345 7cf71da0278c https://example.com/a ECONNREFUSED ABC-1234"
    items = read_items(text)
    assert set(read_query(text).identifiers) == set(items) == set(text.split())


def test_the_middle_of_a_very_long_text_is_left_out() -> None:
    rest = "word " * (LONGEST_TEXT // 5)
    found = read_items(f"src/first.py {rest} src/middle.py {rest} src/last.py")
    assert found == {"src/first.py": "path", "src/last.py": "path"}


@given(text=any_text)
def test_any_text_has_items_that_stand_in_it(text: str) -> None:
    for item, kind in read_items(text).items():
        assert kind in ITEM_KINDS
        assert kind == "command" or item in text


@given(st.text(alphabet="`$;|&\n'\"<>E=\\ #(\ud800é漢ab-./", max_size=200))
def test_any_script_is_read(script: str) -> None:
    for command in read_commands(f"bash\ncommand: {script}"):
        assert command == " ".join(command.split())
        assert len(command) <= LONGEST


HARD = (
    "command: '",
    'command: "\\"',
    "`a ",
    "<<E ",
    "$ a=",
    "a=b ",
    "```\n",
    "1,234,",
    "1.2",
    "a/",
    "x_",
    "\\n",
    "cmd: \n",
)


@pytest.mark.parametrize("piece", HARD)
def test_time_grows_linearly(piece: str) -> None:
    def measure(length: int) -> float:
        text = piece * (length // len(piece))
        started = perf_counter()
        read_items(text)
        return perf_counter() - started

    measure(1_000)
    short = min(measure(10_000) for _ in range(3))
    assert min(measure(80_000) for _ in range(2)) < 30 * short + 0.05
