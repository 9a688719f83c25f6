"""Requests leave no reference cycles for the garbage collector."""

import gc
from typing import Any

import orjson
import pytest
from django.test import RequestFactory

from meadowlark.serving.lean_handler import LeanHandler
from tests.conftest import DATA, item_path

PATH = f"{DATA}/studentSchoolAssociations"


def answer(handler: LeanHandler, environ: dict[str, Any]) -> int:
    """The status, after the answer is read. Closing the answer would also close the connection of the test."""
    statuses = []
    b"".join(handler(environ, lambda status, headers: statuses.append(status)))
    return int(statuses[0].split()[0])


@pytest.mark.parametrize("kind", ["GET", "page", "POST"])
def test_a_request_leaves_no_reference_cycles(api, documents, resource_named, kind: str) -> None:
    resource = resource_named("StudentSchoolAssociation")
    body = documents.minimal_body(resource)
    documents.store_targets(resource, body)
    written = api.post(PATH, body)
    client, sent = RequestFactory(), {"HTTP_AUTHORIZATION": f"Bearer {api.token}"}
    requests = {
        "GET": lambda: client.get(item_path(written), **sent),
        "page": lambda: client.get(PATH, **sent),
        "POST": lambda: client.post(PATH, orjson.dumps(body), "application/json", **sent),
    }
    handler = LeanHandler()
    first, second, third = (requests[kind]().environ for _ in range(3))
    assert (answer(handler, first), answer(handler, second)) == (200, 200)  # Fills the caches.

    gc.collect()
    gc.disable()
    try:
        assert answer(handler, third) == 200
        del third
        assert gc.collect() == 0
    finally:
        gc.enable()
