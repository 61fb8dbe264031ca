"""Semantic retrieval through the engine: what it never does."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st
from tests.conftest import ROOT
from tests.fakes.embedding import Recorder, settings
from tests.pi import compaction, conversation, header, message, path_of, write

from aforesaid.engine import Engine

if TYPE_CHECKING:
    from pathlib import Path

from tests.unit.likenesses import RANKINGS, ask, file, ids, opened, told

__all__ = ["file"]


def forked(siblings: int) -> list[dict[str, Any]]:
    """A short branch, and siblings that are more similar to anything about cars."""
    rows = [message("root0000", None, "Start here.")]
    rows += [
        message(f"s{number:07}", "root0000", "car vehicle automobile car vehicle", "assistant", number)
        for number in range(siblings)
    ]
    rows += [
        message("mine0000", "root0000", "A vehicle that is mine, with a garden.", "user", 900),
        message("leaf0000", "mine0000", "The end.", "assistant", 901),
    ]
    return [header(), *rows]


@RANKINGS
def test_siblings_do_not_displace_the_branch(tmp_path: Path, ranking: str) -> None:
    file = write(tmp_path / "s.jsonl", forked(300))
    with opened(tmp_path, retrieval__ranking=ranking, retrieval__embedding__candidatePool=1) as engine:
        found = ask(engine, file, "automobile", leaf="leaf0000")
        assert ids(found) == ["mine0000"]
        assert told(found).candidates == 1
        assert found.diagnostics.alternate_branch_candidates == 0


@RANKINGS
def test_withheld_entries_do_not_displace_others(tmp_path: Path, ranking: str) -> None:
    secret = "[aforesaid:local-only]vehicle vehicle car[/aforesaid:local-only]"
    rows = conversation([*[f"{secret} {number}" for number in range(200)], "A vehicle with a garden.", "Fine."])
    file = write(tmp_path / "s.jsonl", [header(), *rows])
    with opened(
        tmp_path, privacy__enabled=True, retrieval__ranking=ranking, retrieval__embedding__candidatePool=1
    ) as engine:
        found = ask(engine, file, "automobile")
        assert ids(found) == ["e0000200"]
        assert told(found).candidates == 1
        # A model on this machine may see all of them.
        local = ask(engine, file, "automobile", provider="ollama")
        assert len(ids(local)) == 1
        assert ids(local) != ["e0000200"]


MEANT_NEAR = ("a car", "the vehicle", "an automobile", "cash", "the funds")
MEANT = st.sampled_from([*MEANT_NEAR, "a boat", "nothing", "Ship"])


@profile(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 30), MEANT), min_size=1, max_size=25),
    st.data(),
    st.sampled_from(["documented", "contextual"]),
    st.integers(1, 5),
)
def test_no_other_branch_and_nothing_visible_ever_returns(
    entries: list[tuple[int, str]], data: st.DataObject, ranking: str, pool: int
) -> None:
    import tempfile
    from pathlib import Path

    rows = [header()]
    for number, (parent, text) in enumerate(entries):
        before = f"e{parent % number:07}" if number else None
        role = "assistant" if parent % 3 == 0 else "user"
        rows.append(message(f"e{number:07}", before, f"{text} number{number}", role, number))
    if len(entries) > 3 and data.draw(st.booleans()):
        rows.append(compaction("c0000000", f"e{len(entries) - 1:07}", f"e{len(entries) - 2:07}", minute=500))
    leaf = data.draw(st.sampled_from([row["id"] for row in rows[1:]]))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        file = write(Path(folder) / "s.jsonl", rows)
        port = Recorder()
        more: dict[str, object] = {"retrieval__ranking": ranking, "retrieval__embedding__candidatePool": pool}
        with Engine.open(Path(folder) / "store", settings=settings(port, **more), embedding=port) as engine:
            branch = {row["id"] for row in path_of(rows, leaf)}
            visible = data.draw(st.sets(st.sampled_from(sorted(branch)), max_size=3))
            found = ask(engine, file, "automobile funds", leaf=leaf, context_entries=sorted(visible))
            assert set(ids(found)) <= branch - visible
            assert found.diagnostics.alternate_branch_candidates == 0
            # Whatever of the branch is most similar is there, whatever stands elsewhere.
            meant = [
                row
                for row in path_of(rows, leaf)
                if row["id"] in branch - visible
                and row["type"] == "message"
                and row["message"]["content"][0]["text"].split(" number")[0] in MEANT_NEAR
            ]
            assert bool(found.hits) == bool(meant)


def test_while_it_is_off_nothing_of_it_is_imported_or_read(tmp_path: Path, file: Path) -> None:
    with opened(tmp_path) as engine:
        ask(engine, file, "funds")
    code = (
        "import os, sys\n"
        "real = os.open\n"
        "from aforesaid.engine import Engine\n"
        f"engine = Engine.open({str(tmp_path / 'store')!r}, settings={{'retrieval.semantic': False}})\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event in ('open', 'os.listdir',"
        " 'os.scandir') else None)\n"
        f"found = engine.retrieve(session={str(file)!r}, query='the blue box', context_entries=())\n"
        "assert found.hits and found.diagnostics.semantic is None\n"
        "names = [name for name in sys.modules if name.startswith('aforesaid.')]\n"
        "late = ('embedd', 'semantic', 'fusion', 'passages', 'similarity', 'sqlite.vectors', 'concepts')\n"
        "assert not [name for name in names if any(part in name for part in late)], names\n"
        "assert 'numpy' not in sys.modules\n"
        "assert not [name for name in opened if '/store/vectors' in name.replace(os.sep, '/')], opened\n"
        "engine.close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr
