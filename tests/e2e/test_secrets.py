"""Secrets of every kind go through a transcript into a store, and no file of the store nor any answer holds one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from aforesaid import Engine
from aforesaid.cli.bench.secret_corpus import cases

if TYPE_CHECKING:
    from pathlib import Path

ALLOWED = 0.02
"""Share of the secrets that may be missed; those are known (decision 9)."""


def rows(texts: list[str]) -> list[dict[str, object]]:
    """A Pi session that says each text: as a message, as a tool's result, or in a tool's arguments."""
    made: list[dict[str, object]] = [
        {"type": "session", "version": 3, "id": "s", "timestamp": "2026-11-30T02:00:00Z", "cwd": "/w"}
    ]
    for number, text in enumerate(texts):
        call = {"type": "toolCall", "id": f"c{number}", "name": "write", "arguments": {"path": "/w/x", "content": text}}
        message = [
            {"role": "user", "content": [{"type": "text", "text": text}]},
            {"role": "toolResult", "toolCallId": "c", "toolName": "bash", "content": [{"type": "text", "text": text}]},
            {"role": "assistant", "content": [call]},
        ][number % 3]
        made.append(
            {
                "type": "message",
                "id": f"e{number}",
                "parentId": f"e{number - 1}" if number else None,
                "timestamp": "2026-11-30T02:00:00.000Z",
                "message": message,
            }
        )
    made.append(
        {"type": "session_info", "id": "n", "parentId": None, "timestamp": "2026-11-30T02:00:00.000Z", "name": texts[0]}
    )
    return made


def test_no_secret_reaches_a_file_of_the_store(tmp_path: Path) -> None:
    chosen = [case for number, case in enumerate(cases(1)) if number % 7 == 0]
    cores = [case.text[case.start : case.end] for case in chosen]
    file = tmp_path / "session.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows([case.text for case in chosen])), encoding="utf-8")
    before = file.read_bytes()
    with Engine.open(tmp_path / "store") as engine:
        (report,) = engine.index(file).sessions
        assert report.error is None
        texts: list[str] = []
        for first in range(0, len(chosen), 100):
            ids = [f"e{number}" for number in range(first, min(first + 100, len(chosen)))]
            texts += [entry.text for entry in engine.expand(session=file, entries=ids, max_lines=10_000).entries]
        names = [session.name or "" for session in engine.sessions()]
    assert len(texts) == len(chosen)
    missed = [core for core, text in zip(cores, texts, strict=True) if core in text]
    assert len(missed) <= ALLOWED * len(cores)
    # Long texts are packed in the files, and `expand` has just read them; everything else stands there as it is.
    stored = b"".join(path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file())
    leaked = [core for core in cores if core.encode() in stored and core not in missed]
    assert leaked == []
    assert not any(cores[0] in name for name in names)
    assert file.read_bytes() == before
