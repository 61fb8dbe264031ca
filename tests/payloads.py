"""How long final messages take to be judged; run as a process of its own, which nothing traces: `-m tests.payloads`."""

from __future__ import annotations

import json
from random import Random
from statistics import median
from time import perf_counter, process_time

from aforesaid.privacy.judge import Judge, Readings
from aforesaid.privacy.markers import read_marks
from aforesaid.privacy.payload import Outgoing, clear_payload
from aforesaid.privacy.policy import Policy
from aforesaid.privacy.rules import Rule, Rules

MESSAGES, LENGTH = 1000, 2000
GLOBS = ("secrets/**", "*.pem", "id_*", "~/.ssh", ".env")


def texts_of(count: int, length: int) -> list[str]:
    random = Random(1)
    words = ["walnut", "gateway", "port", "return", "self.value", "=", "{", "}", "für", "8443", "\n", "def", "if"]
    return [" ".join(random.choices(words, k=length // 6)) + f" {number}" for number in range(count)]


def measure() -> dict[str, float]:
    """Milliseconds for a payload, new and known, and the speed of the rules beside one plain scan of the same texts."""
    texts = texts_of(MESSAGES, LENGTH)
    policy = Policy(enabled=True, rules=tuple(Rule(classification="sensitive", path=glob) for glob in GLOBS))
    rules, readings = Rules(policy.rules, project="/p", home="/home/dev"), Readings()

    def judge() -> float:
        fresh = [Outgoing(texts=((text + ".")[:-1],)) for text in texts]  # as from a host: equal, and new objects
        bench = Judge(policy, provider="there", rules=rules, readings=readings)
        started = perf_counter()
        payload = clear_payload(fresh, bench)
        took = perf_counter() - started
        assert len(payload.kept) == MESSAGES
        return took * 1000

    cold = judge()
    known = [judge() for _ in range(31)]
    # Other processes take time from rounds that are longer than those above; time of this process alone is compared.
    size = sum(len(text.encode()) for text in texts) / 1e6
    speeds, ratios = [], []
    for _ in range(7):
        started = process_time()
        for text in texts:
            read_marks(text)
            rules.of([text])
        judged = process_time() - started
        started = process_time()
        for text in texts:
            _ = "no such literal" in text
        ratios.append(judged / (process_time() - started))
        speeds.append(size / judged)
    return {
        "coldMs": cold, "knownMs": median(known), "fastestMs": min(known), "mbPerSecond": max(speeds),
        "timesOneScan": median(ratios),
    }  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(measure()))
