"""Floor 5: semantic retrieval: `sources` makes a session's vectors, `matrix` searches them, `channel` serves requests.

Nothing imports this while `retrieval.semantic` is off. `docs/semantic.md` says how it works.
"""
