"""Absolute paths, without what they tell of the user."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.privacy.paths import Paths

LINUX = Paths(project="/home/dev/shop", home="/home/dev")
WINDOWS = Paths(project="C:\\Users\\Anna Maria\\shop", home="C:\\Users\\Anna Maria")


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("see /home/dev/shop/src/db.py:12", "see src/db.py:12"),
        ("cd /home/dev/shop && ls", "cd . && ls"),
        ("/home/dev/shop/", "./"),
        ("/home/dev/shopping/list", "~/shopping/list"),
        ("/home/dev/.ssh/id_rsa", "~/.ssh/id_rsa"),
        ("HOME=/home/dev", "HOME=~"),
        ("/home/dev.", "~."),
        ("/home/developer/x", "~/x"),
        ("/home/other/x", "~/x"),
        ("/Users/mary/Library", "~/Library"),
        ("/mnt/c/Users/mary/x", "~/x"),
        ("/c/Users/mary/x", "~/x"),
        ("C:\\Users\\mary\\x", "~\\x"),
        ("c:/users/mary/x", "~/x"),
        ('"C:\\\\Users\\\\mary\\\\x"', '"~\\\\x"'),
        ("file:///home/dev/shop/a.md", "file://a.md"),
        ("看/home/dev/shop/a.md", "看a.md"),
        ("/Users/Shared/x", "/Users/Shared/x"),
        ("/etc/hosts and /usr/lib", "/etc/hosts and /usr/lib"),
        ("docs/home/dev", "docs/home/dev"),
        ("no path", "no path"),
        ("", ""),
        ("~/x ./y ../z", "~/x ./y ../z"),
    ],
)
def test_paths_are_relative_to_the_project_or_begin_at_home(text: str, short: str) -> None:
    assert LINUX.shorten(text) == short


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("C:\\Users\\Anna Maria\\shop\\src\\a.py", "src\\a.py"),
        ("c:\\users\\anna maria\\Shop", "."),
        ("C:/Users/Anna Maria/x", "~/x"),
        ("C:\\\\Users\\\\Anna Maria\\\\shop\\\\a", "a"),
    ],
)
def test_windows_paths(text: str, short: str) -> None:
    assert WINDOWS.shorten(text) == short


@pytest.mark.parametrize(
    ("label", "short"),
    [
        ("/tmp/dev/cache", "/tmp/~/cache"),
        ("/run/media/dev", "/run/media/~"),
        ("dev@laptop:~/x", "~@laptop:~/x"),
        ("-home-dev-shop", "~-shop"),
        ("-Users-mary-shop", "~-shop"),
        ("developer@laptop", "developer@laptop"),
        ("dev server", "dev server"),
        ("/home/dev/shop/a", "a"),
    ],
)
def test_labels_do_not_name_the_user(label: str, short: str) -> None:
    assert LINUX.shorten_label(label) == short


def test_unknown_folders_and_roots_tell_nothing() -> None:
    for paths in (Paths(project=None, home=None), Paths(project="/", home="/"), Paths(project="C:\\", home="")):
        assert paths.shorten("/srv/app/x and C:\\x") == "/srv/app/x and C:\\x"
        assert paths.shorten_label("/srv/app/x") == "/srv/app/x"
        assert paths.shorten("/home/dev/x") == "~/x"
    assert Paths(project="/root", home="/root").shorten("/root/x /rooted") == "x /rooted"


@given(st.lists(st.sampled_from(["/home/dev", "/shop", "/", "\\", " ", "C:", "Users", "x", "é", "~", "\ud800"])))
def test_nothing_gets_longer_and_the_user_is_not_named_in_a_home(pieces: list[str]) -> None:
    text = "".join(pieces)
    short = LINUX.shorten(text)
    assert len(short) <= len(text)
    assert not short.startswith("/home/dev")
    assert " /home/dev" not in short
