"""Documents about students, contacts and staff, and which organizations reach them."""

import json
from random import Random
from typing import Any

from django.db import connection
from django.db.backends.utils import CursorWrapper

from edfi_api.core.models import Document, ReachedDocument
from edfi_api.features.loading.bulk import Candidate, write_documents
from tests.core.security.strategies.scenario import Scenario

STUDENTS, CONTACTS, STAFF, SCHOOLS = ("S1", "S2"), ("C1", "C2"), ("T1",), (11, 12)


def assert_consistent_with_documents() -> None:
    """The table that triggers fill has the rows of the view that computes them from all documents."""
    with connection.cursor() as cursor:
        for one, other in (("authorization_path", "reached_document"), ("reached_document", "authorization_path")):
            cursor.execute(f"TABLE {one} EXCEPT TABLE {other}")
            rows = cursor.fetchall()
            assert rows == [], rows


def reached_from(organization: int) -> set[str]:
    """Natural keys, without their prefix, of the documents that an organization reaches."""
    rows = ReachedDocument.objects.filter(organization=organization).values("document_id")
    return {key.partition("=")[2] for key in Document.objects.filter(pk__in=rows).values_list("natural_key", flat=True)}


def some_body(scenario: Scenario, chance: Random) -> tuple[str, dict[str, Any]]:
    """The name and the body of an association, or of a document about a student."""
    contact = scenario.contact_name
    student = {"studentReference": {"studentUniqueId": chance.choice(STUDENTS)}}
    school = {"educationOrganizationReference": {"educationOrganizationId": chance.choice(SCHOOLS)}}
    staff = {"staffReference": {"staffUniqueId": chance.choice(STAFF)}}
    related = {f"{contact.lower()}Reference": {f"{contact.lower()}UniqueId": chance.choice(CONTACTS)}}
    name, members = chance.choice(
        [
            ("StudentSchoolAssociation", student | {"schoolReference": {"schoolId": chance.choice(SCHOOLS)}}),
            ("StudentEducationOrganizationResponsibilityAssociation", student | school),
            (f"Student{contact}Association", student | related),
            ("StaffEducationOrganizationEmploymentAssociation", staff | school),
            ("PostSecondaryEvent", student),
            ("StaffLeave", staff),
        ]
    )
    return name, scenario.body(name, **members)


def load(scenario: Scenario, bodies: list[tuple[str, dict[str, Any]]]) -> None:
    """Write pairs of name and body in bulk. Batches are of one resource each, in the given order."""
    for done in write_documents([Candidate.of(scenario.resource(name), body, name) for name, body in bodies]):
        assert not isinstance(done.result, Exception), done


def insert(cursor: CursorWrapper, rows: list[dict[str, Any]]) -> list[int]:
    """The ids of new documents with empty bodies, inserted by one statement."""
    cursor.execute(
        """
        INSERT INTO document (document_uuid, resource_type_id, body, organization, student, contact, staff,
                              opens_pathway)
        SELECT gen_random_uuid(), (SELECT min(id) FROM resource_type), '{}', row.*
          FROM jsonb_to_recordset(%s) AS row (organization bigint, student text, contact text, staff text,
                                              opens_pathway boolean)
        RETURNING id
        """,
        [json.dumps(rows)],
    )
    return [id_ for (id_,) in cursor.fetchall()]
