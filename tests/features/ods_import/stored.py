"""What is stored here, as tests compare it."""

from typing import Any, NamedTuple

from django.db import connections

from edfi_api.core.documents import json_text
from tests.features.ods_import.canonical import canonical
from tests.support.databases import DOCUMENTS

_STORED = """
SELECT d.document_uuid::text, t.endpoint, d.body::text, d.change_version, d.created_at, d.last_modified_at
  FROM document d JOIN resource_type t ON t.id = d.resource_type_id
"""


class Stored(NamedTuple):
    endpoint: str
    body: Any
    version: int
    created_at: Any
    modified_at: Any


def stored() -> dict[str, Stored]:
    """All documents, by id."""
    with connections[DOCUMENTS].cursor() as cursor:
        cursor.execute(_STORED)
        return {
            id_: Stored(endpoint, canonical(json_text.loads(body.encode())), *envelope)
            for id_, endpoint, body, *envelope in cursor.fetchall()
        }
