"""Every view shows what the API returns, for random documents of every resource."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pytest
from django.db import connection

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.core.storage import resource_types
from edfi_api.features.sql_views.shape import Envelope, RowKind
from edfi_api.features.sql_views.views import View
from edfi_api.model.metaed.model import ADDITIONS_KINDS, Entity, Model
from edfi_api.model.surface.declarations import RESOURCE_KINDS
from edfi_api.model.surface.resource import Resource
from tests.features.sql_views.models import compiled, views_once
from tests.features.sql_views.random_bodies import RandomBodies, Rows
from tests.features.sql_views.reader import Object, Stored, is_shown, objects
from tests.support.serving import LAKE_COUNTY, Served, served

# How much of a body is there, and how many items its arrays have at most: minimal, full, random.
FORMS = [(0.0, 1), (1.0, 2), (0.5, 3)]
_LARGEST_PAGE = 500
_ENVELOPE = {str(column) for column in Envelope} - {"id"}

# The model identifies these rows by members of an inline common that is optional, so documents may lack them.
_WITHOUT_KEY = (
    "edfi.studentidentificationdocument",
    "edfi.applicantprofileidentificationdocument",
    "edfi.candidateidentificationdocument",
    "edfi.staffdemographicidentificationdocument",
    "edfi.studentdemographicidentificationdocument",
)

Row = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A standard as it is served, with its model."""

    served: Served
    model: Model

    @cached_property
    def views(self) -> list[View]:
        return views_once(self.model, self.served.surface, resource_types.numbers("default"))

    def views_of(self, resource: Resource) -> list[View]:
        """The views of an entity, of its bases, and of what projects add to it."""
        entity = next(entity for entity in self.model.of_kind(*RESOURCE_KINDS) if self._declares(entity, resource))
        additions = {e.key for e in self.model.entities.values() if e.kind in ADDITIONS_KINDS and e.base == entity.key}
        declarations = additions | {base.key for base in self.model.lineage(entity)}
        return [v for v in self.views if v.table and v.table.entity and v.table.entity.key in declarations]

    def _declares(self, entity: Entity, resource: Resource) -> bool:
        return (self.model.project(entity.namespace).name, entity.name) == (
            resource.name.project,
            resource.name.resource,
        )


@pytest.fixture(
    params=[
        pytest.param(("3.3.1-b",), marks=pytest.mark.standards),
        pytest.param(("4.0",), marks=pytest.mark.standards),
        ("5.2", LAKE_COUNTY),
        pytest.param(("6.1",), marks=pytest.mark.standards),
    ],
    ids=["3.3.1-b", "4.0", "5.2 with an extension", "6.1"],
)
def case(request: pytest.FixtureRequest) -> Case:
    standard, *extensions = request.param
    return Case(served(standard, *extensions), compiled(BUNDLED_STANDARDS / standard, *extensions))


def test_the_views_of_every_resource_show_what_the_api_returns(api_without_check, case: Case, seed: int) -> None:
    surface = case.served.surface
    with case.served.instead():
        bodies = RandomBodies(surface, seed)
        rows = Rows(surface, bodies.validators)
        rows.write_what_others_name(RandomBodies(surface, seed))
        resources = [resource for resource in surface.resources if not resource.is_descriptor]
        for resource in resources:
            for fill, most_items in FORMS:
                rows.write(resource, bodies.body(resource, fill, most_items))
        stored = stored_numbers()
        differences = [
            difference
            for resource in resources
            if resource.identity != () and resource.kind.value == "entity"
            for difference in differences_of(api_without_check, resource, case.views_of(resource), stored)
        ]

    assert differences == []


def differences_of(api: Any, resource: Resource, views: list[View], stored: Stored) -> Iterator[str]:
    """What the views of a resource show otherwise than the API."""
    listed = api.get(f"/data{resource.url_path}?limit={_LARGEST_PAGE}").json()
    shown = {view: rows_of(view, stored) for view in views}
    yield from (difference for view, rows in shown.items() for difference in _wrong_nulls_and_keys(view, rows))
    for document in listed:
        of_document = {view: rows.get(document["id"], []) for view, rows in shown.items()}
        for difference in _differences(document, of_document):
            yield f"{resource.name.resource}: {difference}"


def _wrong_nulls_and_keys(view: View, shown: Mapping[str, list[Row]]) -> Iterator[str]:
    table = view.table
    if table is None:
        return
    for rows in shown.values():
        missing = {
            column.name for column in table.columns if not column.is_nullable for row in rows if column.name not in row
        }
        # Also in the schema with texts of descriptors.
        has_key = str(view).replace("_text.", ".") not in _WITHOUT_KEY
        if missing and has_key:
            yield f"{view} has NULL in {missing}"
        keys = [tuple(row.get(name) for name in table.primary_key) for row in rows]
        if len(set(keys)) < len(keys) and has_key:
            yield f"{view} has two rows with the key {max(keys, key=keys.count)}"


def _differences(document: dict[str, Any], shown: dict[View, list[Row]]) -> Iterator[str]:
    main = {view: rows for view, rows in shown.items() if view.table and view.table.rows is RowKind.DOCUMENT}
    yield from (f"{view} has {len(rows)} rows" for view, rows in main.items() if len(rows) != 1)
    places = objects(document)
    (root,) = places.pop("$")
    row = {f"{view}.{name}": value for view, (row,) in main.items() for name, value in row.items()}
    names = {name.rpartition(".")[2]: value for name, value in row.items()}
    if names["id"] != document["id"] or names["lastmodifieddate"] != document["_lastModifiedDate"]:
        yield f"the envelope is {names}"
    yield from (f"{name} = {value!r} is not shown" for name, value in root.values if not is_shown(name, value, names))
    yield from (f"{view} shows {row}" for view, (row,) in main.items() if not _is_explained(row, root))
    others = {view: rows for view, rows in shown.items() if view not in main}
    matches = {(place, view) for place, items in places.items() for view, rows in others.items() if _same(items, rows)}
    for place, items in places.items():
        is_empty = not any(item.values for item in items)
        if not is_empty and place not in {matched for matched, _ in matches}:
            yield f"{place} is shown nowhere: {items[0].values}"
    for view, rows in others.items():
        if rows and view not in {matched for _, matched in matches}:
            yield f"{view} shows {rows}"


def _same(items: list[Object], rows: list[Row]) -> bool:
    """Whether the rows are these objects, each once."""
    left = list(rows)
    for item in items:
        row = next((row for row in left if _shows(row, item)), None)
        if row is None:
            return False
        left.remove(row)
    return not left


def _shows(row: Row, item: Object) -> bool:
    return all(is_shown(name, value, row) for name, value in item.values) and _is_explained(row, item)


def _is_explained(row: Row, item: Object) -> bool:
    """Whether every value of the row is one of the object or of those around it."""
    known = list(item.with_enclosing())
    columns = {name: value for name, value in row.items() if name not in _ENVELOPE and name != "id"}
    return all(any(is_shown(member, v, {name: value}) for member, v in known) for name, value in columns.items())


def rows_of(view: View, stored: Stored) -> dict[str, list[dict[str, Any]]]:
    """The rows of a view by document, without what is NULL, and with values as JSON has them."""
    found = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT d.document_uuid, {', '.join(f'{e} AS {n}' for n, e in view.columns)} {view.source}")
        names = [column.name for column in cursor.description]
        for values in cursor.fetchall():
            row = dict(zip(names, values, strict=True))
            for text in view.texts:
                uri = stored.uris.get(row[f"{text}id"], "")
                assert (row.pop(text) or "") == uri.partition("#")[2]
            document = str(row.pop("document_uuid"))
            found[document].append({name: stored.value(name, v) for name, v in row.items() if v is not None})
    return found


def stored_numbers() -> Stored:
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, substr(d.natural_key, 4) FROM document d WHERE d.natural_key LIKE 'NK#uri://%'")
        uris = dict(cursor.fetchall())
        cursor.execute("SELECT id, coalesce(student, contact, staff) FROM document WHERE is_person")
        return Stored(uris, dict(cursor.fetchall()))


def test_no_accepted_document_makes_a_view_fail(db, case: Case, seed: int) -> None:
    surface = case.served.surface
    with case.served.instead():
        bodies = RandomBodies(surface, seed, extremes=True)
        rows = Rows(surface, bodies.validators)
        rows.write_what_others_name(RandomBodies(surface, seed))
        for resource in surface.resources:
            rows.write(resource, bodies.body(resource, fill=1, most_items=2))
        with connection.cursor() as cursor:
            for view in case.views:
                # The whole row has every column computed.
                cursor.execute(f"SELECT count(v) FROM ({view.select}) AS v")
            shown = answers_to_users(cursor, case.views)

    assert len(case.views) > 500
    assert all(shown[:-1])
    assert shown[-1] == 1


# Where codes of students are; newer standards have a resource for them.
_CODES, _NEWER_CODES = "studenteducationorganizationassociationstudentidentifica_c15030", "studentidentificationcode"
# In the style of products that read an ODS: joins on numbers, descriptors by their tables, CTEs of all columns that are
# used twice, shortened names, objects built on the tables, the catalog.
OF_USERS = (
    "SELECT count(*) FROM edfi.student s JOIN edfi.descriptor d ON d.descriptorid = s.birthsexdescriptorid",
    "SELECT count(*) FROM edfi.gradeleveldescriptor g JOIN edfi.descriptor d ON d.descriptorid ="
    " g.gradeleveldescriptorid WHERE d.discriminator = 'edfi.GradeLevelDescriptor' AND d.codevalue LIKE 'Value%'",
    "WITH enrolled AS (SELECT * FROM edfi.studentschoolassociation) SELECT count(*) FROM enrolled a"
    " JOIN enrolled b USING (studentusi) LEFT JOIN edfi.student s USING (studentusi)",
    "CREATE SCHEMA reports; CREATE MATERIALIZED VIEW reports.codes AS SELECT a.studentusi, c.identificationcode"
    " FROM edfi.studenteducationorganizationassociation a"
    f" LEFT JOIN edfi.{_CODES} c USING (studentusi);"
    " CREATE VIEW reports.schools AS SELECT o.id, o.createdate, o.lastmodifieddate, o.nameofinstitution, s.schoolid"
    " FROM edfi.educationorganization o JOIN edfi.school s ON s.schoolid = o.educationorganizationid"
    " WHERE o.discriminator = 'edfi.School'; SELECT count(*) FROM reports.codes",
    "SELECT count(*) FROM reports.schools",
    "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'edfi' AND table_name = 'student'",
)


def answers_to_users(cursor: Any, views: list[View]) -> list[int]:
    """How many rows each statement finds, over the views that it needs."""
    cursor.execute("CREATE SCHEMA edfi")
    codes = _CODES if _CODES in {view.name for view in views} else _NEWER_CODES
    statements = [statement.replace(_CODES, codes) for statement in OF_USERS]
    named = set(re.findall(r"edfi\.(\w+)", " ".join(statements)))
    for view in views:
        if view.schema == "edfi" and view.name in named | {"student"}:
            cursor.execute(f"CREATE VIEW {view} AS {view.select}")
    found = []
    for statement in statements:
        cursor.execute(statement)
        while cursor.nextset():
            pass
        found.append(cursor.fetchone()[0])
    return found
