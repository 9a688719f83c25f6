"""What is left of a request once it is answered: nothing that would have to wait for the garbage collector."""

import gc
from typing import Any

import orjson
import pytest
from django.test import RequestFactory

from meadowlark.serving.lean_handler import LeanHandler
from tests.conftest import DATA, item_path

PATH = f"{DATA}/studentSchoolAssociations"


def answer(handler: LeanHandler, environ: dict[str, Any]) -> int:
    """The status, once the answer is read. It is not closed, which would close the connection of the test, too."""
    told = []
    b"".join(handler(environ, lambda status, headers: told.append(status)))
    return int(told[0].split()[0])


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
    assert (answer(handler, first), answer(handler, second)) == (200, 200)  # Whatever is made once is there now.

    gc.collect()
    gc.disable()
    try:
        assert answer(handler, third) == 200
        del third
        assert gc.collect() == 0
    finally:
        gc.enable()
