"""Whether the tests notice small faults: breaks a random sample of lines, one at a time, and runs the tests of each.

`make mutants` runs it; `make test` does not, because every mutant costs some seconds. The sample is drawn with a seed,
so a run can be repeated. A survivor is a change that no test noticed: either a test is missing, or the change means
nothing (then nothing can notice it).
"""

from __future__ import annotations

import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "aforesaid"
TESTS: dict[str, tuple[str, ...]] = {
    "ranking.py": ("tests/golden", "tests/e2e/test_spec_1.py"),
    "evidence.py": ("tests/unit/test_evidence.py", "tests/fuzz/test_evidence.py"),
    "windows.py": ("tests/unit/test_evidence.py", "tests/fuzz/test_evidence.py"),
    "lineage.py": ("tests/unit/test_lineage.py", "tests/fuzz/test_branches.py"),
    "tombstones.py": ("tests/unit/test_tombstones.py", "tests/contract/test_forgetting_port.py"),
    "matching.py": ("tests/unit/test_matching.py", "tests/contract/test_store_port_search.py"),
    "privacy/markers.py": ("tests/unit/privacy/test_markers.py",),
    "privacy/rules.py": ("tests/unit/privacy/test_rules.py",),
    "privacy/policy.py": ("tests/unit/privacy/test_judge.py",),
    "privacy/judge.py": ("tests/unit/privacy/test_judge.py", "tests/unit/privacy/test_payload.py"),
    "privacy/payload.py": ("tests/unit/privacy/test_payload.py",),
    "privacy/paths.py": ("tests/unit/privacy/test_paths.py",),
    "withholding.py": ("tests/unit/test_withholding.py", "tests/unit/test_engine_privacy.py"),
    "variety.py": ("tests/unit/test_variety.py",),
    "pairs.py": ("tests/unit/test_pairs.py",),
    "recall/order.py": (
        "tests/unit/recall/test_order.py",
        "tests/e2e/test_recall_ranking.py",
        "tests/fuzz/test_recall.py",
    ),
    "recall/reading.py": (
        "tests/unit/recall/test_order.py",
        "tests/e2e/test_recall_ranking.py",
        "tests/fuzz/test_recall.py",
    ),
    "recall/topics.py": (
        "tests/unit/recall/test_topics.py",
        "tests/e2e/test_recall_ranking.py",
        "tests/fuzz/test_recall.py",
    ),
    "storage/sqlite/feeding.py": ("tests/unit/storage/test_feeding.py",),
    "storage/sqlite/weighing.py": ("tests/e2e/test_recall_ranking.py", "tests/contract/test_store_port.py"),
}
"""Modules and packages that must not break unseen, with the tests that guard them."""

_SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Continue: ast.Break, ast.Break: ast.Continue,
}  # fmt: skip


def mutate(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that may stand in a node's place: neighbours that a slip of the hand would write."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in _SWAPPED:
        yield ast.Compare(node.left, [_SWAPPED[type(node.ops[0])](), *node.ops[1:]], node.comparators)  # type: ignore[list-item]
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(_SWAPPED[type(node.op)](), node.values)  # type: ignore[arg-type]
    elif isinstance(node, ast.BinOp) and type(node.op) in _SWAPPED:
        yield ast.BinOp(node.left, _SWAPPED[type(node.op)](), node.right)  # type: ignore[arg-type]
    elif type(node) in (ast.Continue, ast.Break):
        yield _SWAPPED[type(node)]()


class _Replace(ast.NodeTransformer):
    """Puts one node in the place of the n-th that can be mutated."""

    def __init__(self, wanted: int) -> None:
        self.seen = -1
        self.wanted = wanted
        self.line = 0
        self.before = self.after = ""

    def visit(self, node: ast.AST) -> ast.AST:
        for other in mutate(node):
            self.seen += 1
            if self.seen == self.wanted:
                self.line = node.lineno  # type: ignore[attr-defined]
                self.before, self.after = ast.unparse(node), ast.unparse(other)
                return ast.copy_location(other, node)
        return self.generic_visit(node)


def run(number: int, seed: int, least: float, only: Collection[str] = ()) -> int:
    """Breaks `number` places, of all modules or of a few only; 1 if less than the share `least` was noticed."""
    places = []
    for name, tests in TESTS.items():
        if only and name not in only:
            continue
        path = SOURCE / name
        for module in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            tree = ast.parse(module.read_text("utf-8"))
            counter = _Replace(-2)
            counter.visit(deepcopy(tree))
            places += [(module.relative_to(SOURCE), tree, n, tests) for n in range(counter.seen + 1)]
    chosen = random.Random(seed).sample(places, min(number, len(places)))
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        broken = Path(folder) / "src"
        shutil.copytree(SOURCE.parent, broken, ignore=shutil.ignore_patterns("__pycache__"))
        for module, tree, place, tests in sorted(chosen, key=lambda one: (str(one[0]), one[2])):
            change = _Replace(place)
            changed = ast.unparse(ast.fix_missing_locations(change.visit(deepcopy(tree))))
            target = broken / "aforesaid" / module
            whole = target.read_text("utf-8")
            target.write_text(changed, "utf-8")
            noticed = _fail(broken, tests)
            target.write_text(whole, "utf-8")
            survivors += not noticed
            told = f"{module}:{change.line}: {change.before} -> {change.after}"
            print(f"{'noticed ' if noticed else 'SURVIVED'}  {told}", flush=True)
    share = 1 - survivors / len(chosen)
    print(f"{len(chosen)} of {len(places)} places broken, {share:.0%} noticed (at least {least:.0%} must be)")
    return int(share < least)


def _fail(source: Path, tests: tuple[str, ...]) -> bool:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            [*command, *(test for test in tests if (ROOT / test).exists())],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(source)},
            capture_output=True,
            timeout=300,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=40, help="places to break")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--least", type=float, default=0.85, help="share that must be noticed")
    parser.add_argument("--only", choices=TESTS, action="append", default=[], help="only this module; repeatable")
    given = parser.parse_args()
    sys.exit(run(given.number, given.seed, given.least, given.only))
