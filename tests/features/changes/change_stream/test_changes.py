"""A change and its line."""

import json

from edfi_api.features.changes.change_stream.documents import Change, Operation
from tests.features.changes.change_stream.changes import change


def test_a_line_is_one_line_of_json() -> None:
    line = change(7, Operation.UPDATE).line()

    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert json.loads(line) == {
        "changeVersion": 7,
        "operation": "update",
        "resource": "ed-fi/students",
        "id": "00000000-0000-0000-0000-000000000007",
        "naturalKey": "NK#studentUniqueId=1",
        "time": "2026-11-21T12:00:00Z",
        "client": "key",
        "body": {"studentUniqueId": "1"},
    }


def test_a_change_comes_back_from_its_line_with_every_digit() -> None:
    sent = change(7, text='{"amount": 1234567890123456.7890}')

    back = Change.from_line(sent.line().decode())

    assert back.line() == sent.line().replace(b" ", b"")
    assert (back.version, back.operation, back.body) == (sent.version, sent.operation, sent.body)
