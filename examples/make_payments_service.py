"""Writes `pi/payments-service.jsonl`: a made-up but realistic Pi session with a compaction and an abandoned branch.

The file is committed; this script says how it was made. Run it from anywhere: `python examples/make_payments_service.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "pi" / "payments-service.jsonl"
CWD = "/home/dev/payments-service"

rows: list[dict[str, Any]] = [
    {
        "type": "session",
        "version": 3,
        "id": "01a1f0c2-7d10-7a3e-9b52-4c6f1f2a9e01",
        "timestamp": "2026-11-27T09:00:00.000Z",
        "cwd": CWD,
    }
]


def add(kind: str, **fields: Any) -> str:
    """Appends an entry behind the last one, two minutes later, and returns its id."""
    number = len(rows)
    id_ = f"{0x5EED0000 + number:08x}"
    parent = fields.pop("parent", rows[-1].get("id") if number > 1 else None)
    stamp = f"2026-11-27T{9 + number // 30:02}:{2 * number % 60:02}:00.000Z"
    rows.append({"type": kind, "id": id_, "parentId": parent, "timestamp": stamp, **fields})
    return id_


def user(text: str, **fields: Any) -> str:
    """A message of the user."""
    return add("message", message={"role": "user", "content": [{"type": "text", "text": text}]}, **fields)


def assistant(text: str) -> str:
    """A message of the assistant."""
    content = [{"type": "text", "text": text}]
    return add("message", message={"role": "assistant", "content": content, "model": "small-1", "stopReason": "stop"})


def tool(name: str, arguments: dict[str, Any], result: str, *, failed: bool = False) -> None:
    """A call of a tool and its result."""
    call = f"call_{len(rows)}"
    block = {"type": "toolCall", "id": call, "name": name, "arguments": arguments}
    add("message", message={"role": "assistant", "content": [block], "model": "small-1", "stopReason": "toolUse"})
    content = [{"type": "text", "text": result}]
    answer = {"role": "toolResult", "toolCallId": call, "toolName": name, "content": content, "isError": failed}
    add("message", message=answer)


def shell(command: str, output: str, code: int = 0) -> None:
    """A command that the user ran."""
    message = {"role": "bashExecution", "command": command, "output": output, "exitCode": code, "cancelled": False}
    add("message", message={**message, "truncated": False})


add("model_change", provider="local", modelId="small-1")
user("Let's get the payments service ready for the certificate change. Start with how it listens today.")
tool(
    "read",
    {"path": "config/gateway.toml"},
    '[server]\nhost = "0.0.0.0"\nport = 8443\nfallback_port = 9443\n\n[pool]\nlimit = 8\nidle_timeout = "45s"',
)
assistant(
    "The gateway listens on port 8443 and falls back to 9443. The pool keeps 8 connections, idle ones for 45 seconds."
)
tool(
    "bash",
    {"command": "rg -n fallback_port src"},
    "src/gateway/listener.py:118:    return settings.fallback_port if tls_failed else settings.port\nsrc/gateway/settings.py:31:    fallback_port: int = 9443",
)
user("Why did the staging deployment fall back last night?")
shell(
    "journalctl -u payments@staging --since yesterday | tail -n 4",
    "payments[4127]: loading /etc/payments/certs/staging-chain.pem\npayments[4127]: ssl.SSLCertVerificationError: certificate verify failed: unable to get local issuer certificate (_ssl.c:1006)\npayments[4127]: listener: TLS failed, using fallback port 9443\npayments[4127]: health check on :8443 refused (ECONNREFUSED)",
)
assistant(
    "The chain in /etc/payments/certs/staging-chain.pem lacks the intermediate: SSLCertVerificationError, then the listener silently used 9443, and the health check on 8443 got ECONNREFUSED."
)
user("Decisione: niente più porta di riserva. Se il TLS fallisce il servizio deve fermarsi con codice di uscita 78.")
assistant(
    "Understood: no fallback port. On a TLS failure the service exits with code 78 (EX_CONFIG), and systemd does not restart it on that code."
)
tool(
    "edit",
    {
        "path": "src/gateway/listener.py",
        "edits": [
            {
                "oldText": "    return settings.fallback_port if tls_failed else settings.port",
                "newText": "    if tls_failed:\n        raise SystemExit(78)\n    return settings.port",
            }
        ],
    },
    "Successfully replaced 1 block in src/gateway/listener.py.",
)
tool(
    "bash",
    {"command": "make test-gateway PYTEST_ADDOPTS='-k listener --maxfail=1'"},
    "tests/gateway/test_listener.py ....F\nE   AssertionError: expected 78, got 1\nFAILED tests/gateway/test_listener.py::test_exit_code_without_chain - AssertionError\nmake: *** [Makefile:37: test-gateway] Error 1",
    failed=True,
)
assistant("SystemExit is caught in `run_supervised` and turned into 1. I let it pass there.")
tool(
    "edit",
    {
        "path": "src/gateway/supervisor.py",
        "edits": [{"oldText": "except BaseException:", "newText": "except Exception:"}],
    },
    "Successfully replaced 1 block in src/gateway/supervisor.py.",
)
tool("bash", {"command": "make test-gateway"}, "118 passed in 4.10s")
user("E il rinnovo dei certificati? Ogni quanto gira?")
tool(
    "read",
    {"path": "deploy/renew-certs.timer"},
    "[Timer]\nOnCalendar=*-*-01,15 03:20:00\nRandomizedDelaySec=900\nUnit=renew-certs.service",
)
assistant("Il timer renew-certs gira il 1 e il 15 di ogni mese alle 03:20, con un ritardo casuale fino a 900 secondi.")
user("Let's decide about the pool too. Eight connections are too many for the small database.")
assistant(
    "Decision recorded as DEC-0054: pool.limit = 4, idle_timeout stays at 45s, and max_overflow = 2 for the nightly settlement job."
)
fork = rows[-1]["id"]

# An attempt that the user gave up: none of this may ever come back on the active branch.
user("Alternatively, try a pool of sixteen with pgbouncer in front.")
assistant("With pgbouncer on port 6432 the pool limit would be 16 and idle_timeout 5s; DEC-0054 would be replaced.")
tool(
    "bash",
    {"command": "docker compose up -d pgbouncer"},
    "pgbouncer listening on 0.0.0.0:6432, pool_mode=transaction, default_pool_size=16",
)
assistant("pgbouncer runs, but prepared statements fail with InvalidSqlStatementName in transaction mode.")

user("No, back to the pool of four. Write the migration for the settlement table.", parent=fork)
tool(
    "write",
    {
        "path": "migrations/0042_settlement_batches.sql",
        "content": "ALTER TABLE settlement_batches ADD COLUMN retry_after timestamptz;\nCREATE INDEX CONCURRENTLY idx_settlement_retry ON settlement_batches (retry_after) WHERE retry_after IS NOT NULL;",
    },
    "Successfully wrote migrations/0042_settlement_batches.sql.",
)
tool(
    "bash",
    {"command": "alembic upgrade head --sql | psql postgresql://payments@db-staging:5433/payments"},
    "psql: error: SQLSTATE 25001: CREATE INDEX CONCURRENTLY cannot run inside a transaction block",
    failed=True,
)
assistant(
    "CREATE INDEX CONCURRENTLY cannot run inside a transaction (SQLSTATE 25001). I mark the migration with `autocommit_block()`; the staging database listens on db-staging:5433."
)
tool(
    "bash",
    {"command": "alembic upgrade 0042 && alembic current"},
    "INFO  [alembic.runtime.migration] Running upgrade 0041 -> 0042, settlement batches\n0042 (head)",
)
user("Quale commit ha introdotto il fallback?")
shell(
    "git log -S fallback_port --oneline -- src/gateway/settings.py", "7be4d19 Fallback port for the spring migration\n"
)
assistant(
    "Il commit è 7be4d19, «Fallback port for the spring migration». La migrazione è finita in primavera, quindi si può togliere."
)
user("What did the load test say before the change?")
tool(
    "bash",
    {"command": "k6 run --vus 50 --duration 60s load/charges.js"},
    "http_req_duration: avg=41.7ms p(95)=183.2ms max=912.4ms\nhttp_req_failed: 0.31% (93 of 29981)\niterations: 29981 499.7/s",
)
assistant("Before the change: p95 183.2 ms at 499.7 requests a second, 0.31 % failed (93 of 29,981).")
user(
    "Ricordati che il webhook di prova usa l'intestazione X-Payments-Signature con HMAC-SHA256 e tolleranza di 300 secondi."
)
assistant(
    "Annotato: X-Payments-Signature, HMAC-SHA256, tolleranza 300 secondi; il verificatore è verify_webhook_signature in src/webhooks/verify.py."
)

kept = user("Now the runbook. Keep it short.")
tool(
    "write",
    {
        "path": "docs/runbook.md",
        "content": "# Runbook\n\n1. Check the certificate chain.\n2. Restart the unit.\n3. Tell the channel.",
    },
    "Successfully wrote docs/runbook.md.",
)
assistant("The runbook has three steps: check the chain, restart the unit, tell the channel.")
add(
    "compaction",
    summary="## Goal\nPrepare the payments service for the certificate change.\n\n## Done\n- Removed the fallback port; TLS failures now stop the service.\n- Smaller connection pool.\n- Settlement migration applied on staging.\n- Runbook written.\n\n## Next\n- Release notes.",
    firstKeptEntryId=kept,
    tokensBefore=18431,
    details={"readFiles": ["config/gateway.toml"], "modifiedFiles": ["src/gateway/listener.py"]},
    fromHook=False,
)
user("Write the release notes.")
assistant(
    "Release notes drafted in docs/releases/2026-12.md: no fallback port, a smaller pool, the settlement migration."
)
user("Which exit code does the service use when TLS fails, and what was DEC-0054 exactly?")

FILE.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8", newline="\n")
