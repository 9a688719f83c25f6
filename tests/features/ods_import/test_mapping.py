"""The tables of an ODS → bodies: what the views make of a document becomes the document again."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connections

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.core.documents import json_text
from edfi_api.core.storage import resource_types
from edfi_api.features.ods_import.compatibility import ServedModel, queries
from edfi_api.features.ods_import.ods_source import opened
from edfi_api.features.sql_views.bodies import ResourceBodies
from edfi_api.features.sql_views.tables import sql_tables
from edfi_api.features.sql_views.views import View
from edfi_api.model.surface.resource import Surface
from tests.features.ods_import.canonical import canonical, differences
from tests.features.ods_import.ods import Ods, database, tables_script
from tests.features.sql_views.models import compiled, views_once
from tests.features.sql_views.random_bodies import RandomBodies, Rows
from tests.support.databases import DOCUMENTS
from tests.support.serving import LAKE_COUNTY, served

# How much of a body is there, and how many items its arrays have at most: minimal, full, random.
# References that have no column of their own: an ODS has them where another reference has their values.
_SHARED = tuple(
    f"$.{name}Reference: None is read as" for name in ("evaluationObjective", "locationSchool", "schoolYearType")
)
_KEY_OF_IDENTIFICATION_DOCUMENTS = ("identificationDocumentUseDescriptor", "personalInformationVerificationDescriptor")
FORMS = [(0.0, 1), (1.0, 2), (0.5, 3)]


@pytest.mark.django_db
def test_every_random_document_of_every_resource_is_read_as_it_was(ods, views, surface) -> None:
    assert list(_differences_of(ods, views, surface, ServedModel.current(DOCUMENTS))) == []


@pytest.mark.parametrize(
    "standard",
    [
        pytest.param(("3.3.1-b",), marks=pytest.mark.standards),
        pytest.param(("4.0",), marks=pytest.mark.standards),
        ("5.2", LAKE_COUNTY),
        pytest.param(("6.1",), marks=pytest.mark.standards),
    ],
    ids=["3.3.1-b", "4.0", "5.2 with an extension", "6.1"],
)
def test_so_it_is_in_other_standards_and_with_an_extension(api_without_check, standard) -> None:
    """The tables are those that the model says."""
    name, *extensions = standard
    model, of_test = compiled(BUNDLED_STANDARDS / name, *extensions), served(name, *extensions)
    tables, worker = sql_tables(model), os.environ.get("PYTEST_XDIST_WORKER", "only")
    with of_test.instead(), database(f"ods_of_a_standard_{worker}", script=tables_script(tables)) as ods:
        numbers = resource_types.numbers(DOCUMENTS)
        bodies = ResourceBodies(model, of_test.surface, numbers)
        views = views_once(model, of_test.surface, numbers)

        differences = _differences_of(ods, views, of_test.surface, ServedModel(of_test.surface, tables, bodies))

        assert list(differences) == []


def _differences_of(ods: Ods, views: list[View], surface: Surface, model: ServedModel) -> Iterator[tuple[int, str]]:
    """What is read otherwise than it was written, of random documents of all resources."""
    bodies = RandomBodies(surface, 1)
    rows = Rows(surface, bodies.validators)
    rows.write_what_others_name(RandomBodies(surface, 1))
    for resource in surface.resources:
        for fill, most_items in FORMS if not resource.is_descriptor else []:
            rows.write(resource, _with_whole_keys(bodies.body(resource, fill, most_items)))
    ods.fill(views)
    with opened(ods.address) as source:
        found = queries(model, source)
        read = {str(id_): body for query in found.values() for id_, body in source.stream(query.bodies())}
    with connections[DOCUMENTS].cursor() as cursor:
        cursor.execute("SELECT document_uuid::text, resource_type_id, body::text FROM document")
        stored = {id_: (type_, json_text.loads(body.encode())) for id_, type_, body in cursor.fetchall()}
    assert read.keys() == stored.keys()
    for id_, (type_, body) in stored.items():
        for difference in differences("$", canonical(body), canonical(json_text.loads(read[id_].encode()))):
            if not difference.startswith(_SHARED):
                yield type_, difference


def _with_whole_keys(body: dict[str, Any]) -> dict[str, Any]:
    """The model identifies these items by members of an inline common that is optional; an ODS needs them."""
    items = body.get("identificationDocuments", [])
    whole = [item for item in items if {*_KEY_OF_IDENTIFICATION_DOCUMENTS} <= item.keys()]
    return body | {"identificationDocuments": whole} if items else body
