"""Members of our documents: those of the contract, those that decision 40 adds, and no others."""

from __future__ import annotations

import json
import re
from itertools import product
from typing import Any

import pytest
from tests.conftest import ROOT

from aforesaid.answers import PART_NAMES
from aforesaid.hosts.tools import read_tools

SCHEMAS = ROOT / "tests" / "contract" / "schemas"
RECORD = (ROOT / "docs" / "decisions" / "0040-additions.md").read_text(encoding="utf-8")
ITEM = "{kind,entryId,classification,score,tokens,groupId,reason}"
KINDS = "{path,command,number,identifier,error,hash,url}"

CONTRACT: dict[str, str] = {
    "index": (
        "schema sessions sessions[].{file,host,sessionId,entries,added,removed,invalidLines,status,error}"
        " sessions[].invalidLines[].{line,byte,reason} totals durationMs"
    ),
    "retrieval": (
        "schema status query query.{identifiers,phrases,files,symbols,errors,technologies,keywords,terms} hits"
        " hits[].{entryId,sessionId,role,timestamp,tier,score,scoreParts,matched,reason,excerpt}"
        " hits[].{excerptStart,excerptEnd,windows,redacted,tokens,sha256,evidence}"
        " hits[].matched.{identifiers,phrases,terms}"
        " hits[].windows[].{start,end,text}"
        " hits[].scoreParts.{identifier,phrase,fts,extraTerms,branch,file,symbol,error,authority,recency}"
        " hits[].scoreParts.{tokens,semantic}"
        " diagnostics diagnostics.{candidateCount,eligibleCount,duplicateCount,inContextCount}"
        " diagnostics.alternateBranchCandidates"
        " diagnostics.{privacyExcludedCount,plannerExcludedCount,selectedTokens,maxTokens,maxResults,durationMs}"
        " diagnostics.{semantic,coverage,warnings} diagnostics.coverage.{complete,reasons}"
    ),
    "recall": (
        "schema status hits hits[].{ref,entryId,sessionId,host,role,timestamp,branch,derived,score,snippet,matched}"
        " hits[].follow hits[].follow.{command,ref} next coverage"
        " coverage.{complete,indexedSessions,eligibleSessions,staleSessions,reasons}"
    ),
    "expand": (
        "schema entries entries[].{entryId,sessionId,role,timestamp,text,startLine,lines,complete,redacted,sha256}"
        " entries[].verified next"
    ),
    "plan": (
        "schema status reason messages messages[].{role,content,source,entryId} manifest"
        " manifest.{schema,model,limits,included,excluded,retrievedEventIds,messagesSha256,sampled}"
        f" manifest.limits.{{window,reserve,target,soft,hard}} manifest.{{included,excluded}}[].{ITEM}"
    ),
    "lost": (
        "schema compactions compactions[].{entryId,timestamp,lostEntries,survival,items}"
        f" compactions[].survival.{KINDS} compactions[].survival.{KINDS}.{{before,visible}}"
        " compactions[].items[].{item,kind,lastEntryId,count}"
    ),
    "eval": (
        "schema set data questions arms arms.*.{hit@1,hit@5,hit@10,recall@5,recall@10,recall@12,mrr}"
        " arms.*.{sessionHit@1,sessionHit@5,irrelevantTokens,falseInjections,coverage,early,hit@12,tokensWithoutNeed}"
        " arms.*.{msPerQuery,interval}"
    ),
    "view": (
        "schema view view.{kind,advisory,scope,session,follow,navigation,evidence,counts,ranges,diagnostic}"
        " view.follow.{tool,arguments} view.follow.arguments.{session,scope,query}"
        " view.evidence[].{entryId,role,quotes} view.counts.{total,selected,omitted}"
        " view.ranges[].{firstEntryId,lastEntryId,entries} bytes diagnostics"
    ),
    "error": "error error.{code,message,hint}",
}
"""The members that section 2 of the contract gives, by document."""
NAMED = {"manifest"}
"""Documents of the contract that stand in others."""


def expand(pattern: str) -> set[str]:
    """The members that a pattern with alternatives in braces stands for."""
    pieces = [piece.split(",") for piece in re.split(r"[{}]", pattern)]
    return {"".join(choice) for choice in product(*pieces)}


def members(schema: Any, root: Any, path: str = "") -> set[str]:
    """The members that a schema names, with the way to each."""
    if not isinstance(schema, dict):
        return set()
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    found: set[str] = set()
    for name, inner in schema.get("properties", {}).items():
        found |= {path + name, *members(inner, root, f"{path}{name}.")}
    found |= members(schema.get("additionalProperties"), root, f"{path}*.")
    found |= members(schema.get("items"), root, f"{path.removesuffix('.')}[].")
    for several in ("oneOf", "anyOf", "allOf"):
        for inner in schema.get(several, []):
            found |= members(inner, root, path)
    return found


def read_schema(name: str) -> Any:
    return json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading of the record, without its head."""
    part = RECORD.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


ADDED: dict[str, set[str]] = {}
for document_, members_, _ in rows("Added to documents whose members the contract gives"):
    for name_ in quoted(document_):
        for pattern_ in quoted(members_):
            ADDED.setdefault(name_, set()).update(expand(pattern_))
OWN = {
    name
    for documents, _ in rows("Documents of which the contract gives the name or the command alone")
    for name in quoted(documents)
}


@pytest.mark.parametrize("name", CONTRACT)
def test_a_document_has_the_members_of_the_contract_and_those_that_the_record_adds(name: str) -> None:
    promised = set().union(*map(expand, CONTRACT[name].split()))
    schema = read_schema(name)
    found = members(schema, schema)
    added = ADDED.get(name, set())
    assert promised - found == set(), "the contract has them"
    assert found - promised - added == set(), "neither the contract nor docs/decisions/0040-additions.md has them"
    assert added - found == set(), "they are in the record and nowhere else"
    assert added & promised == set(), "they are no additions"


def test_the_record_is_about_documents_of_the_contract() -> None:
    assert set(ADDED) <= {*CONTRACT, "tools"}
    assert len(ADDED) > 6


def test_every_schema_and_every_document_is_known() -> None:
    assert {path.stem for path in SCHEMAS.glob("*.json")} <= {*CONTRACT, *OWN}
    sources = (path for suffix in ("py", "ts", "json") for path in (ROOT / "src").rglob(f"*.{suffix}"))
    named = {
        name for path in sources for name in re.findall(r'"aforesaid\.([a-z-]+)/1"', path.read_text(encoding="utf-8"))
    }
    assert named == {*CONTRACT, *OWN, *NAMED} - {"error"}
    assert not OWN & CONTRACT.keys()


def test_the_parts_of_a_score_are_those_of_the_ranking() -> None:
    schema = read_schema("retrieval")
    found = {name.rpartition(".")[2] for name in members(schema, schema) if ".scoreParts." in name}
    assert found == set(PART_NAMES)


@pytest.mark.parametrize(("tool", "name"), [("history_recall", "recall"), ("history_expand", "expand")])
def test_a_tool_adds_its_warning_and_nothing_else(tool: str, name: str) -> None:
    (offered,) = [one for one in read_tools() if one.name == tool]
    schema = read_schema(name)
    assert members(offered.result, offered.result) - members(schema, schema) == ADDED["tools"] == {"warning"}
    assert members(schema, schema) <= members(offered.result, offered.result)


def test_a_member_that_nobody_wrote_down_is_noticed() -> None:
    schema = read_schema("recall")
    schema["properties"]["hits"]["items"]["properties"]["extra"] = {"type": "array", "items": {"properties": {"x": {}}}}
    schema["properties"]["more"] = {"$ref": "#/$defs/d"}
    schema["$defs"] = {"d": {"oneOf": [{"additionalProperties": {"properties": {"y": True}}}]}}
    known = members(read_schema("recall"), schema)
    assert members(schema, schema) - known == {"hits[].extra", "hits[].extra[].x", "more", "more.*.y"}
    assert expand("a.{b,c}[].{d,e}") == {"a.b[].d", "a.b[].e", "a.c[].d", "a.c[].e"}
