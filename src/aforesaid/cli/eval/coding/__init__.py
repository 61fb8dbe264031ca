"""Floor 9: the set `coding`: made-up coding sessions with labelled requests, which ships with the product.

`stories` holds what matters, written by hand: turns, requests, and which turns answer them. `sessions` puts filler,
compactions and abandoned branches around it, the same in every run. `docs/evaluation.md` explains the labels.
"""

from __future__ import annotations

from aforesaid.cli.eval.coding.sessions import read

__all__ = ["read"]
