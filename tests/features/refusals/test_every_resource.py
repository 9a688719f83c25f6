"""Refusals of every resource, for bodies broken in every way: the entry has what the answer said, and the natural key
as far as it can be read. An ordinary run takes some resources; `--every-refusal` takes all of them."""

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from django.db import connection

from edfi_api.features.refusals.models import Refusal
from edfi_api.model.surface.resource import Resource, Surface
from tests.conftest import ApiTestClient
from tests.core.security.profiles.distinct import DistinctBody
from tests.features.refusals.recorder import RecorderInTest

# The ordinary run takes every so many resources.
EVERY = 30
# A shorter value of a body may be part of something else.
SHORTEST = 6
UNREADABLE: list[Any] = [None, {}, [], True]
DESCRIPTOR = [("codeValue",), ("namespace",)]
# The ledger keeps 60 characters of a quoted value.
# URIs of descriptors are kept whole.
TOO_LONG = re.compile(r"'((?!uri://)[^']{60})[^']+'")
Body = dict[str, Any]


def key_elements(resource: Any) -> list[tuple[str, ...]]:
    if resource.is_descriptor:
        return DESCRIPTOR
    return [path.steps for path in resource.identity]


def value_at(body: Body, steps: tuple[str, ...]) -> Any:
    for step in steps:
        body = body[step]
    return body


def changed(body: Body, steps: tuple[str, ...], value: Any) -> Body:
    """Return the body with this value at a path; None removes what is there."""
    copy = deepcopy(body)
    parent = value_at(copy, steps[:-1])
    if value is None:
        del parent[steps[-1]]
    else:
        parent[steps[-1]] = value
    return copy


def natural_key(body: Body, elements: list[tuple[str, ...]], unreadable: set[tuple[str, ...]]) -> str | None:
    if unreadable == set(elements):
        return None
    if elements == DESCRIPTOR and not unreadable:
        return f"NK#{body['namespace']}#{body['codeValue']}"
    return "NK" + "".join(
        f"#{name}={'?' if steps in unreadable else _text(value_at(body, steps))}"
        for name, steps in sorted((".".join(steps), steps) for steps in elements)
    )


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def broken(body: Body, elements: list[tuple[str, ...]]) -> Iterator[tuple[Body, str | None]]:
    """Bodies that are refused as invalid, and the keys that can be read of them."""
    full = natural_key(body, elements, set())
    for steps in elements:
        is_boolean = isinstance(value_at(body, steps), bool)
        for value in UNREADABLE[: 3 if is_boolean else 4]:
            yield changed(body, steps, value), natural_key(body, elements, {steps})
        if len(steps) > 1:
            inside = {other for other in elements if other[:1] == steps[:1]}
            yield body | {steps[0]: 7}, natural_key(body, elements, inside)
    roots = {steps[0] for steps in elements}
    yield {name: value for name, value in body.items() if name not in roots}, None
    yield body | {"id": "mine"}, full
    for name in body.keys() - roots:
        yield body | {name: [[]]}, full


def kept(messages: dict[str, list[str]]) -> dict[str, list[str]]:
    """Messages of an answer, as an entry has them."""
    return {path: [TOO_LONG.sub(r"'\1…'", text) for text in texts] for path, texts in messages.items()}


def sent(api: ApiTestClient, recorder: RecorderInTest, path: str, body: Body) -> tuple[Body, Refusal]:
    """The answer, and the only entry."""
    Refusal.objects.all().delete()
    answer = api.post(path, body)
    recorder.flush()
    assert answer.status_code in (400, 409), (path, body, answer.content)
    return answer.json(), Refusal.objects.get()


@pytest.fixture(params=[EVERY, pytest.param(1, marks=pytest.mark.long)])
def resources(surface: Surface, request) -> tuple[Resource, ...]:
    """Return every so many resources."""
    return surface.resources[:: request.param]


def test_an_entry_has_what_the_answer_said(api, recorder, resources, documents) -> None:
    refused = 0
    for resource in resources:
        body, elements = documents.minimal_body(resource), key_elements(resource)
        path = f"/data{resource.url_path}"
        cases = list(broken(body, elements))
        if any("Reference" in name for name in body):
            cases.append((body, natural_key(body, elements, set())))
        for case, key in cases:
            answer, entry = sent(api, recorder, path, case)
            said = (answer["status"], answer["title"], kept(answer["validationErrors"]), answer["errors"])
            assert (entry.status, entry.title, entry.paths, entry.errors) == said
            assert f"urn:ed-fi:api:{entry.problem}" == answer["type"]
            assert (entry.resource, entry.count) == (resource.url_path, 1)
            assert entry.natural_key == key, (path, case)
            refused += 1
    assert refused > 100


def test_no_value_of_a_body_is_kept_beside_the_identity_and_the_answer(
    api, recorder, resources, documents, caplog
) -> None:
    looked_for: list[str] = []
    for resource in resources:
        distinct = DistinctBody(resource, documents)
        answer, entry = sent(api, recorder, f"/data{resource.url_path}", distinct.body | {"id": "mine"})
        said = f"{answer} {entry.natural_key}"
        hidden = {value for value in distinct.markers.values() if len(value) >= SHORTEST and value not in said}
        kept_text = api.get("/submissions/v1/refusals", HTTP_ACCEPT="text/csv").content.decode()
        with connection.cursor() as cursor:
            cursor.execute("SELECT string_agg(refusal::text, ' ') FROM refusal")
            kept_text += cursor.fetchone()[0]
        assert not {value for value in hidden if value in kept_text}, resource.url_path
        looked_for += hidden
    assert len(looked_for) > 50
    assert "meadowlark.requests" in caplog.text
    assert not {value for value in set(looked_for) if value in caplog.text}


@pytest.mark.parametrize("method", ["put", "delete"])
def test_what_an_address_does_not_find_is_recorded_with_the_id(api, recorder, surface, documents, method) -> None:
    id_ = "0193a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b"
    for resource in surface.resources[::EVERY]:
        if resource.is_descriptor:
            continue
        Refusal.objects.all().delete()
        body = documents.minimal_body(resource)
        answer = api.request(method, f"/data{resource.url_path}/{id_}", body | {"id": id_})
        recorder.flush()

        entry = Refusal.objects.get()

        assert (entry.status, str(entry.document_uuid)) == (answer.status_code, id_)
        assert f"urn:ed-fi:api:{entry.problem}" == answer.json()["type"]
