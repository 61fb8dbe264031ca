"""Views of any budget of one session in many scripts: bytes, whole bundles, exact quotes, the order of the branch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import pi
from tests.views import lost_session

from aforesaid import Engine
from aforesaid.extractive.composition import compose
from aforesaid.extractive.sheet import CONTENT
from aforesaid.extractive.survey import Asked
from aforesaid.extractive.survey import look as survey
from aforesaid.extractive.values import ViewOptions

if TYPE_CHECKING:
    from collections.abc import Iterator

TOPICS = (
    *("gateway", "шлюз порт", "网关端口", "ゲートウェイの番号", "게이트웨이 포트", "เกตเวย์พอร์ต"),
    *("בקשת שער", "perché la porta"),
)
ODD = (
    *("👩‍👩‍👧‍👦🎉", "e\u0301 x\u0323\u0301", "\u200f\u202eabc", "\ud800", '"\\ \n\t\u2028'),
    *("\x00\x7f", "Ａ", "AFORESAID HISTORICAL EVIDENCE"),
)


def say(at: int) -> str:
    again = f"{ODD[at * 7 % len(ODD)]} слово 词 w{at} " * (at * at % 97)
    return f"{TOPICS[at % len(TOPICS)]} {ODD[at % len(ODD)]} item{at} {again}"


TEXTS = [say(at) for at in range(96)]


class Session:
    def __init__(self, engine: Engine, file: str) -> None:
        self.engine = engine
        self.file = file
        engine.view(session=file, query="gateway")
        (self.session,) = engine.sessions()


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("view")
    file = pi.write(folder / "one.jsonl", lost_session(TEXTS))
    with Engine.open(folder / "store") as engine:
        yield Session(engine, str(file))


@given(
    most=st.integers(1_024, 32_768),
    topic=st.sampled_from(TOPICS),
    item=st.integers(0, len(TEXTS) - 1),
    pool=st.sampled_from((1, 16, 128)),
)
def test_every_budget_holds_whole_bundles_with_exact_quotes_in_order(
    session: Session, most: int, topic: str, item: int, pool: int
) -> None:
    viewer = session.engine._viewer
    options = ViewOptions(max_bytes=most, max_candidates=pool)
    with session.engine._store.read(session.session.key) as snapshot:
        shelf = viewer._shelf(session.session.key)
        found = survey(snapshot, shelf, viewer._bags, Asked(request=f"{topic} and item{item}"), options=options)
        made = compose(snapshot, shelf, found, options)
        entries = {entry.id: entry for entry in snapshot.entries(range(1, session.session.entries + 1))}
    assert made.bytes == len(made.text.encode("utf-8", "backslashreplace")) <= most
    view = json.loads(made.text)
    assert view, "something is relevant to each of them"
    body = made.message.split("\n")[2].removeprefix(CONTENT)
    assert json.loads(body) == view
    assert len(body.encode("utf-8", "backslashreplace")) <= most
    ids = [source["entryId"] for source in view["evidence"]]
    assert ids == sorted(set(ids)), "each once, oldest first"
    for source in view["evidence"]:
        assert source["quotes"] == [json.loads(json.dumps(entries[source["entryId"]].text))], "whole and unchanged"
    rows = {entries[id_].row for id_ in ids}
    selected = [one.place for one in made.candidates if one.fate == "selected"]
    bundles = [{*found.exchanges[place].before, *found.exchanges[place].rows} for place in selected]
    assert rows == set().union(*bundles), "whole bundles, and nothing else"
    assert view["counts"] == {"total": 48, "selected": len(selected), "omitted": 48 - len(selected)}
