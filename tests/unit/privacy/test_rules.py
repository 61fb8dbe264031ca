"""Rules by project and by path."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import pytest

from aforesaid.privacy.rules import Rule, Rules, fixed_part, read_rule

if TYPE_CHECKING:
    from aforesaid.model import Level

HOME = "/home/dev"
PROJECT = "/home/dev/shop"


def rules(*given: Rule, project: str | None = PROJECT, home: str | None = HOME) -> Rules:
    return Rules(given, project=project, home=home)


def path(glob: str, level: Level = "sensitive", project: str | None = None) -> Rule:
    return Rule(classification=level, path=glob, project=project)


@pytest.mark.parametrize(
    "found",
    [
        {"path": "*.pem", "classification": "sensitive"},
        {"project": "~/acme", "classification": "local-only"},
        {"project": "~/acme", "path": "docs", "classification": "normal"},
    ],
)
def test_a_rule_names_a_level_and_what_it_is_about(found: dict[str, object]) -> None:
    rule = read_rule(found)
    assert rule is not None
    assert {name: value for name in found if (value := getattr(rule, name))} == found


@pytest.mark.parametrize(
    "found",
    [
        {},
        {"path": "*.pem"},
        {"classification": "sensitive"},
        {"path": "*.pem", "classification": "secret"},
        {"path": "*.pem", "classification": "Sensitive"},
        {"path": "*.pem", "classification": ["sensitive"]},
        {"path": ["*.pem"], "classification": "sensitive"},
        {"path": "", "classification": "sensitive"},
        {"project": "/", "classification": "sensitive"},
        {"project": None, "classification": "sensitive"},
        {"path": "*.pem", "classification": "sensitive", "provider": "x"},
    ],
)
def test_anything_else_is_no_rule(found: dict[str, object]) -> None:
    assert read_rule(found) is None


@pytest.mark.parametrize(
    ("glob", "texts"),
    [
        (
            "secrets/**",
            [
                "secrets/a",
                "see ./secrets/a.txt.",
                "/x/secrets/b",
                "C:\\x\\Secrets\\b",
                "看secrets/b文件",
                "cat 'secrets'/z",
                "secrets%2Fz",
                "secrets\u2044w",
            ],
        ),
        ("secrets/", ["secrets/a", "grep -r x secrets/"]),
        ("secrets", ["cat secrets", "secrets/deep/er", "`secrets`", "secrets.", "in=secrets,x"]),
        ("*.pem", ["server.pem", "a/b/server.pem:", "(server.pem)", "ключ.pem", '"x.pem"']),
        ("**/*.pem", ["server.pem", "a/b/server.pem"]),
        ("id_*", ["id_rsa", "~/.ssh/id_ed25519.pub"]),
        ("deploy/*/keys", ["deploy/prod/keys", "deploy/prod/keys/x"]),
        ("deploy/**/keys", ["deploy/keys", "deploy/a/b/keys/x"]),
        ("/home/dev/shop/private", ["/home/dev/shop/private/x", "private/x", "~/shop/private/x", "$HOME/shop/private"]),
        ("~/notes", ["/home/dev/notes/a", "~/notes/a", "${HOME}/notes", "\\home\\dev\\notes"]),
        ("my docs/**", ["my docs/a", "my\\ docs/a"]),
        (".env", [".env", "/app/.env", "cat .env | sort"]),
        (".env.*", [".env.local"]),
        ("file?.txt", ["file1.txt"]),
        ("[ab].key", ["a.key", "x/b.key"]),
        ("[!a].key", ["b.key"]),
        ("[z-a].key", ["[z-a].key"]),
        ("*", ["anything"]),
        ("ключи/**", ["ключи/a", "КЛЮЧИ/a", "дом/ключи/b"]),
        ("日本/*.txt", ["日本/a.txt"]),
        ("Straße.txt", ["straße.txt", "STRASSE/straße.TXT"]),
    ],
)
def test_a_text_that_names_a_path_is_raised(glob: str, texts: list[str]) -> None:
    for text in texts:
        assert rules(path(glob)).of(["first", text]) == "sensitive", text


@pytest.mark.parametrize(
    ("glob", "texts", "others"),
    [
        (
            "secrets/**",
            ["cd secrets", "secrets", "ls ./Secrets | cat", "/x/secrets", "a/secrets/b"],
            ["mysecrets", "secret"],
        ),
        ("secrets/", ["cd 'secrets'", "secrets\\x"], ["secrets2"]),
        ("deploy/*/keys/**", ["ls deploy/a/keys"], ["ls deploy", "keys"]),
        ("~/notes/**", ["cd ~/notes", "cd /home/dev/notes"], ["cd notes"]),
        ("**/keys/**", ["cd keys"], ["cd monkeys"]),
        ("a/*/**", ["a/b/c"], ["a", "a/b"]),
        ("*/**", ["x/y"], ["x"]),
    ],
)
def test_the_bare_name_of_a_folder_counts_where_something_is_done_to_files(
    glob: str, texts: list[str], others: list[str]
) -> None:
    found = rules(path(glob))
    for text in texts:
        assert found.of([text], acts=True) == "sensitive", text
    assert found.of(others, acts=True) == "normal"


def test_the_highest_level_counts_whichever_rule_is_about_the_folder() -> None:
    found = rules(path("secrets/**", "local-only"), path("docs/**", "internal"))
    assert found.of(["cp docs/a secrets"], acts=True) == "local-only"
    assert found.of(["cp docs/a secrets"]) == "internal"


@pytest.mark.parametrize(
    ("glob", "texts"),
    [
        ("secrets/**", ["secrets", "mysecrets/a", "secrets-old/a", "secret/s"]),
        ("secrets", ["mysecrets", "secrets2", "secrets_old", "secret"]),
        ("*.pem", ["server.pem2", "pem", "server.pemx", "a.pe"]),
        ("id_*", ["android_x", "xid_rsa", "id-rsa"]),
        ("deploy/*/keys", ["deploy/keys", "deploy/a/b/keys"]),
        ("/home/dev/shop/private", ["shopprivate/x", "other/home"]),
        (".env", ["x.env", "process.env", "environment"]),
        ("file?.txt", ["file.txt", "file12.txt", "file/.txt"]),
        ("[!a].key", ["a.key"]),
        ("a.b", ["axb"]),
    ],
)
def test_a_text_that_names_another_path_is_not(glob: str, texts: list[str]) -> None:
    for text in texts:
        assert rules(path(glob)).of([text]) == "normal", text


def test_the_highest_rule_counts_whatever_their_order() -> None:
    found = rules(path("a.txt", "internal"), path("*.txt", "local-only"), path("b.txt", "sensitive"))
    assert found.of(["a.txt"]) == "local-only"
    assert rules(path("a.txt", "internal"), path("b.txt", "sensitive")).of(["b.txt", "a.txt"]) == "sensitive"
    assert rules(path("a.txt", "internal"), path("b.txt", "sensitive")).of(["a.txt"]) == "internal"
    assert found.unknown == "local-only"
    assert rules().unknown == "normal"


@pytest.mark.parametrize(
    ("glob", "within"),
    [
        ("/home/dev/shop", True),
        ("/home/dev/shop/", True),
        ("/home/dev/shop/**", True),
        ("/home/dev", True),
        ("~/shop", True),
        ("~", True),
        ("~/s*", True),
        ("shop", True),
        ("\\Home\\Dev\\Shop", True),
        ("/home/dev/sho", False),
        ("/home/dev/shop/src", False),
        ("/home/*/other", False),
        ("hop", False),
    ],
)
def test_a_project_is_its_folder_and_all_below(glob: str, within: bool) -> None:
    rule = Rule(classification="sensitive", project=glob)
    assert rules(rule).floor == ("sensitive" if within else "normal")
    assert rules(rule, project="/HOME/dev/shop/").floor == ("sensitive" if within else "normal")


def test_a_session_whose_folder_nobody_knows_may_be_in_every_project() -> None:
    rule = Rule(classification="sensitive", project="/somewhere/else")
    assert rules(rule).floor == "normal"
    assert rules(rule, project=None).floor == "sensitive"


def test_a_rule_by_project_and_path_needs_both() -> None:
    here, there = path("*.pem", project="~/shop"), path("*.pem", project="~/other")
    assert (rules(here).of(["a.pem"]), rules(here).floor) == ("sensitive", "normal")
    assert rules(there).of(["a.pem"]) == "normal"
    assert rules(there).by_path is False
    assert rules(here).by_path is True


def test_a_windows_project() -> None:
    rule = Rule(classification="sensitive", project="C:\\Users\\dev\\shop")
    assert rules(rule, project="c:\\users\\dev\\Shop\\src").floor == "sensitive"
    assert rules(rule, project="d:\\users\\dev\\shop").floor == "normal"


def test_files_are_resolved_from_the_folder_of_the_session() -> None:
    assert rules().resolve("../other/./x") == ("/home/dev/other/x",)
    assert rules().resolve("/etc/x") == ("/etc/x",)
    assert rules(project=None).resolve("a/../b") == ("b",)
    linked = Rules((), project=PROJECT, home=HOME, links=("/data/shop/",))
    assert linked.resolve("../x") == ("/home/dev/x", "/data/x")


@pytest.mark.parametrize("glob", ["/data/real", "~/shop", "/data/*", "real"])
def test_a_folder_is_in_a_project_by_any_of_its_paths(glob: str) -> None:
    rule = Rule(classification="sensitive", project=glob)
    assert Rules([rule], project=PROJECT, home=HOME, links=("/data/real",)).floor == "sensitive"
    assert Rules([rule], project="/data/real", home=HOME, links=(PROJECT,)).floor == "sensitive"
    assert Rules([rule], project="/home/dev/other", home=HOME, links=("/srv/other",)).floor == "normal"


def test_a_path_may_be_written_from_any_path_of_the_folder() -> None:
    linked = Rules([path("/data/real/private")], project=PROJECT, home=HOME, links=("/data/real",))
    assert linked.of(["cat private/x"]) == "sensitive"
    assert rules(path("/data/real/private")).of(["cat private/x"]) == "normal"


@pytest.mark.parametrize(
    ("glob", "parts"),
    [
        ("/a/b", ("/a/b", "")), ("/a/b/", ("/a/b", "")), ("/a/b/**", ("/a/b", "/**")), ("/a/*/c", ("/a", "/*/c")),
        ("~/x/s?", ("/home/dev/x", "/s?")), ("~", ("/home/dev", "")), ("C:\\x\\[ab]", ("C:/x", "/[ab]")),
        ("/*", ("", "/*")), ("b/c", ("", "b/c")), ("**/b", ("", "**/b")), ("~other/x", ("", "~other/x")),
    ],
)  # fmt: skip
def test_a_glob_of_a_project_begins_with_a_folder_or_holds_at_any_depth(glob: str, parts: tuple[str, str]) -> None:
    assert fixed_part(glob, HOME) == parts


def test_a_long_line_of_near_misses_takes_no_time() -> None:
    text = "id_ a.pe secrets- deploy/ " * 40_000
    found = rules(path("*.pem"), path("id_*.key"), path("deploy/**/keys"), path("secrets/**"))
    started = perf_counter()
    assert found.of([text]) == "normal"
    assert perf_counter() - started < 20
