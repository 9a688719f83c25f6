"""Whatever is sent to `/batch`: the server never fails, and each answer is a problem or ends with its summary."""

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.web.batch.batch_client import BatchClient, parts
from tests.web.batch.generated import EXAMPLES
from tests.web.batch.operations import DESCRIPTORS, period, school, student

anything = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))

TEXTS = st.sampled_from(["", "x", "\0", "\ud800", "a" * 300, "uri://ed-fi.org/TermDescriptor#x", "2010-13-45", "*"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS | st.just(10**400)
MEMBERS_OF_KEYS = ["studentUniqueId", "schoolId", "schoolReference", "classPeriodName", "descriptor", "codeValue"]
NAMES = st.sampled_from([*MEMBERS_OF_KEYS, "namespace", "id", "$"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)
RESOURCES = ["/ed-fi/students", "ClassPeriod", "TermDescriptor", "/ed-fi/schools", "/", "x"]
MEMBERS = {
    "op": st.sampled_from(["create", "UPSERT", "update", "delete"]) | VALUES,
    "resource": st.sampled_from(RESOURCES) | VALUES,
    "id": st.sampled_from(["0" * 32, "00000000-0000-0000-0000-000000000000"]) | VALUES,
    "naturalKey": VALUES,
    "document": st.sampled_from([student(1)["document"], period("A")["document"]]) | VALUES,
    "payload": VALUES,
    "ifMatch": st.sampled_from(["*", '"1-l"', '""', ","]) | VALUES,
    "ifNoneMatch": st.just("*") | VALUES,
    "profile": st.sampled_from(["application/json", "application/vnd.ed-fi.student.x.writable+json"]) | VALUES,
    "tag": VALUES,
    "more": VALUES,
}
SIGNS = st.sampled_from([b'"', b"[", b"}", b"\\", b",", b"\n", b"]"])
OPERATIONS = st.lists(st.fixed_dictionaries({}, optional=MEMBERS) | VALUES, max_size=4)
HOW = st.fixed_dictionaries(
    {},
    optional={
        "mode": st.sampled_from(["atomic", "independent"]),
        "order": st.sampled_from(["given", "free"]),
        "return_": st.sampled_from(["all", "refused"]),
    },
)


def assert_is_an_answer(response: Any) -> None:
    assert response.status_code < 500, response.content
    if response.status_code == 200:
        *results, summary = parts(response)
        assert set(summary) == {"summary"}
        assert all(result["status"] < 500 for result in results), results
    else:
        assert response["Content-Type"] == "application/problem+json"


@anything
@given(operations=OPERATIONS, how=HOW, is_lines=st.booleans())
def test_any_operations_are_answered(batch: BatchClient, operations: list[Any], how: dict, is_lines: bool) -> None:
    assert_is_an_answer(batch.lines(operations, **how) if is_lines else batch.send(operations, **how))


@anything
@given(data=st.data(), how=HOW, is_lines=st.booleans())
def test_any_text_is_answered(batch: BatchClient, data: st.DataObject, how: dict, is_lines: bool) -> None:
    whole = b"\n".join(json.dumps(each).encode() for each in [*DESCRIPTORS, school(1)])
    text = bytearray(whole if is_lines else b"[" + whole.replace(b"\n", b",") + b"]")
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = start + data.draw(st.integers(0, 8))
        text[start:end] = data.draw(st.binary(max_size=4) | SIGNS)

    content_type = "application/x-ndjson" if is_lines else "application/json"

    assert_is_an_answer(batch.send(bytes(text), content_type=content_type, **how))
