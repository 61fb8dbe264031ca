from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from aforesaid.cli.bench import service, setting
from aforesaid.errors import OperationError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_call_is_compared_with_an_echo_of_its_size_and_the_query_alone(tmp_path: Path) -> None:
    (row,) = service.measure(setting.prepare(100, str(tmp_path)), 1)
    assert row.name == "stdio call / echo + the same query in process"
    assert row.floor is not None
    assert row.figure is not None
    assert 0 < row.floor < 2 * row.figure
    assert row.limits_ratio
    assert row.bound == 1.2


def test_the_echo_gives_as_many_bytes_as_it_is_asked_for(tmp_path: Path) -> None:
    with service._child(["-c", service._ECHO], str(tmp_path / "home")) as echo:
        assert [len(echo(line)) for line in (b"7 whatever\n", b"40000 \n", b"1 \n")] == [7, 40_000, 1]


@pytest.mark.parametrize("answer", [b'{"error":{}}', b'{"result":{"status":"failed"}}'])
def test_a_failure_is_no_fast_answer(answer: bytes) -> None:
    with pytest.raises(OperationError):
        service._check(answer)
