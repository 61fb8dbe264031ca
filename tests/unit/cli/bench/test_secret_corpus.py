"""The corpus of secrets and look-alikes, and the gate: how many are found, and how often nothing is taken for one."""

from __future__ import annotations

from collections import Counter, defaultdict

from aforesaid.cli.bench.look_alikes import lines
from aforesaid.cli.bench.secret_corpus import SEED, cases
from aforesaid.cli.bench.secret_kinds import KINDS
from aforesaid.privacy.secrets import find_secrets

RECALL = 0.98
RECALL_OF_A_KIND = 0.8
RECALL_OF_A_WRAPPING = 0.9
FALSE_ALARMS = 0.005


def test_there_are_sixty_kinds_in_eight_wrappings_each_and_the_same_in_every_run() -> None:
    once, again = list(cases(1)), list(cases(1))
    assert once == again
    assert once != list(cases(1, SEED + 1))
    wrappings: dict[str, set[str]] = defaultdict(set)
    for case in once:
        wrappings[case.kind].add(case.wrapping)
        assert 0 <= case.start < case.end <= len(case.text)
    assert len(wrappings) == len(KINDS) + 4 >= 60
    assert min(map(len, wrappings.values())) >= 8


def test_there_are_five_thousand_clean_lines_no_two_alike() -> None:
    clean = list(lines(6000))
    assert len(set(clean)) == 6000
    assert clean[:100] == list(lines(100))
    assert not any("{" + name in line for line in clean for name in ("hex", "word", "uuid"))


def test_secrets_are_found_in_whatever_they_stand() -> None:
    total: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for case in cases(2, SEED + 7):
        names = ("all", f"kind {case.kind}", f"wrapping {case.wrapping}")
        total.update(names)
        if not any(secret.start <= case.start and case.end <= secret.end for secret in find_secrets(case.text)):
            missed.update(names)
    assert missed["all"] <= (1 - RECALL) * total["all"]
    for name, count in missed.items():
        least = RECALL_OF_A_KIND if name.startswith("kind") else RECALL_OF_A_WRAPPING
        assert name == "all" or count <= (1 - least) * total[name], name


def test_clean_lines_stay_clean() -> None:
    clean = list(lines(6000, seed=2))
    alarms = [line for line in clean if find_secrets(line)]
    assert len(alarms) <= FALSE_ALARMS * len(clean), alarms[:5]


def test_clean_lines_stay_clean_in_one_text() -> None:
    clean = list(lines(3000, seed=3))
    found = find_secrets("\n".join(clean))
    assert len(found) <= FALSE_ALARMS * len(clean)
