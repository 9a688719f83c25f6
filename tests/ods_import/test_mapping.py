"""The tables of an ODS → bodies: what the views make of a document becomes the document again."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connections

from edfi_api.documents import json_text
from edfi_api.ods_import.fitting import ServedModel, queries
from edfi_api.ods_import.ods_source import opened
from tests.analysis.sql_views.random_bodies import RandomBodies, Rows
from tests.databases import DOCUMENTS
from tests.ods_import.canonical import canonical

# How much of a body is there, and how many items its arrays have at most: minimal, full, random.
# References that have no column of their own: an ODS has them where another reference has their values.
_SHARED = ("$.locationSchoolReference: None is read as", "$.schoolYearTypeReference: None is read as")
_KEY_OF_IDENTIFICATION_DOCUMENTS = ("identificationDocumentUseDescriptor", "personalInformationVerificationDescriptor")
FORMS = [(0.0, 1), (1.0, 2), (0.5, 3)]


@pytest.mark.django_db
def test_every_random_document_of_every_resource_is_read_as_it_was(ods, views, surface) -> None:
    bodies = RandomBodies(surface, 1)
    rows = Rows(surface, bodies.preparers)
    rows.write_what_others_name(RandomBodies(surface, 1))
    for resource in surface.resources:
        for fill, most_items in FORMS if not resource.is_descriptor else []:
            rows.write(resource, _with_whole_keys(bodies.body(resource, fill, most_items)))
    ods.fill(views)

    with opened(ods.address) as source:
        found = queries(ServedModel.current(DOCUMENTS), source)
        read = {str(id_): body for query in found.values() for id_, body in source.stream(query.bodies())}

    with connections[DOCUMENTS].cursor() as cursor:
        cursor.execute("SELECT document_uuid::text, resource_type_id, body::text FROM document")
        stored = {id_: (type_, json_text.loads(body.encode())) for id_, type_, body in cursor.fetchall()}
    assert read.keys() == stored.keys()
    differences = [
        (type_, difference)
        for id_, (type_, body) in stored.items()
        for difference in _differences("$", canonical(body), canonical(json_text.loads(read[id_].encode())))
    ]
    assert [difference for _, difference in differences if not difference.startswith(_SHARED)] == []


def _with_whole_keys(body: dict[str, Any]) -> dict[str, Any]:
    """The model identifies these items by members of an inline common that is optional; an ODS needs them."""
    items = body.get("identificationDocuments", [])
    whole = [item for item in items if {*_KEY_OF_IDENTIFICATION_DOCUMENTS} <= item.keys()]
    return body | {"identificationDocuments": whole} if items else body


def _differences(place: str, one: Any, other: Any) -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted(one.keys() | other.keys()):
            yield from _differences(f"{place}.{name}", one.get(name), other.get(name))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, pair in enumerate(zip(one, other, strict=True)):
            yield from _differences(f"{place}[{number}]", *pair)
    elif one != other:
        yield f"{place}: {one!r} is read as {other!r}"
