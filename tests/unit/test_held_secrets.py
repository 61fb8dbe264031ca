"""Lines that a host hands over instead of a file: what is claimed of them is true of all of them."""

from __future__ import annotations

from tests.fakes.reader import PlainTranscripts
from tests.fakes.store import FakeStore

from aforesaid.indexing.held import take_lines
from aforesaid.language.secret_formats import VERSION

SECRET = "Tr0ub4" + "dor-9xK"
FIRST = f"#s\t\na\t-\tpassword={SECRET}\n".encode()
SECOND = FIRST + f"b\ta\tpassword={SECRET}\n".encode()


def test_lines_are_redacted_and_only_what_is_clear_as_a_whole_counts_as_clear() -> None:
    reader = PlainTranscripts()
    store = FakeStore()
    session = take_lines(store, reader, "pi:1", FIRST)
    assert session.checkpoint.redaction == VERSION
    with store.read(session.key) as snapshot:
        assert snapshot.entries([1])[0].text == "password=[redacted:password:8+]"
    assert take_lines(store, reader, "pi:1", SECOND).checkpoint.redaction == VERSION
    raw = take_lines(store, reader, "pi:2", FIRST, redacting=False)
    assert raw.checkpoint.redaction == 0
    assert take_lines(store, reader, "pi:2", SECOND).checkpoint.redaction == 0
    with store.read(raw.key) as snapshot:
        first, second = snapshot.entries([1, 2])
        assert SECRET in first.text
        assert SECRET not in second.text
