"""The same operations as single requests and as a batch, each from the same start: answers and tables after each."""

import json
from typing import Any
from uuid import uuid4

from edfi_api.core.models import Document
from edfi_api.core.storage.integrity import disagreements
from tests.conftest import ApiTestClient
from tests.features.loading.bulk.both_ways import rolled_back, stored
from tests.support.databases import DOCUMENTS, connection
from tests.web.batch.batch_client import BatchClient, parts

_MISSING = str(uuid4())
_LINKS = """
SELECT d.natural_key, ARRAY(
    SELECT target.natural_key FROM unnest(d.linked_ids) WITH ORDINALITY AS l (id, place)
      LEFT JOIN document target ON target.document_uuid = l.id ORDER BY place
) FROM document d ORDER BY d.resource_type_id, d.natural_key
"""


def both_ways(client: BatchClient, operations: list[dict[str, Any]], validators, **how: Any) -> tuple[Any, Any]:
    """Answers and tables of one after the other, then those of the batch; nothing of it stays in the database."""
    alone = rolled_back(lambda: (one_after_the_other(client.api, operations), tables(validators)))
    return alone, together(client, operations, validators, **how)


def together(client: BatchClient, operations: list[dict[str, Any]], validators, **how: Any) -> Any:
    """Answers and tables of the batch; nothing of it stays in the database."""
    return rolled_back(lambda: (as_batch(client, operations, **how), tables(validators)))


def one_after_the_other(api: ApiTestClient, operations: list[dict[str, Any]]) -> list[Any]:
    return [_single(api, operation) for operation in operations]


def as_batch(client: BatchClient, operations: list[dict[str, Any]], **how: Any) -> list[Any]:
    response = client.send(operations, **({"mode": "independent"} | how))
    if response.status_code != 200:
        return [response.status_code, response.json()]
    *results, summary = parts(response)
    assert [result["index"] for result in results] == list(range(len(operations)))
    assert summary["summary"]["refused"] == sum(result["status"] >= 400 for result in results)
    return [(result["status"], _comparable(result.get("problem"))) for result in results]


def _single(api: ApiTestClient, operation: dict[str, Any]) -> Any:
    """The request that does the same, as a client would send it that looks up the id of a natural key by reading."""
    kind, path = operation.get("op", "upsert"), f"/data{operation['resource']}"
    headers = {"HTTP_IF_MATCH": operation.get("ifMatch"), "HTTP_IF_NONE_MATCH": operation.get("ifNoneMatch")}
    headers = {name: value for name, value in headers.items() if value is not None}
    document = operation.get("document")
    if kind in ("create", "upsert"):
        extra = {"HTTP_IF_NONE_MATCH": "*"} if kind == "create" else {}
        response = api.post(path, document, **headers | extra)
    else:
        id_ = operation.get("id") or _id_of(operation)
        if "id" not in operation and api.get(f"{path}/{id_}").status_code != 200:
            id_ = _MISSING
        if kind == "delete":
            response = api.delete(f"{path}/{id_}", **headers)
        else:
            response = api.put(f"{path}/{id_}", {"id": id_} | document, **headers)
    return response.status_code, _comparable(json.loads(response.content) if response.content else None)


def _id_of(operation: dict[str, Any]) -> str:
    """Return the id by the values of the natural key, which are those of one document of the resource in
    these tests.
    """
    endpoint = operation["resource"].rpartition("/")[2]
    is_descriptor = endpoint.endswith("Descriptors")
    key = _comparable_values(operation["naturalKey"], is_descriptor)
    for found in Document.objects.filter(resource_type__endpoint=endpoint):
        if _comparable_values(_flat(found.body), is_descriptor) >= key:
            return str(found.document_uuid)
    return _MISSING


def _comparable_values(values: dict[str, Any], is_descriptor: bool) -> set[tuple[str, str]]:
    """The keys of descriptors are equal in any letter case."""
    return {(name, str(value).lower() if is_descriptor else str(value)) for name, value in values.items()}


def _flat(body: dict[str, Any]) -> dict[str, Any]:
    references = [value for value in body.values() if isinstance(value, dict)]
    values = {name: value for name, value in body.items() if not isinstance(value, dict | list)}
    return {name: value for each in references for name, value in each.items()} | values


def _comparable(problem: dict[str, Any] | None) -> Any:
    return problem and {name: value for name, value in problem.items() if name not in ("correlationId", "hints")}


def tables(validators) -> Any:
    assert list(disagreements(validators, DOCUMENTS)) == []
    with connection.cursor() as cursor:
        cursor.execute(_LINKS)
        return stored(), cursor.fetchall()
