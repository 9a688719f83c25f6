"""Pages of the admin: their kinds, and rows for all of them."""

import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

from django.contrib.auth.models import Group
from django.db import connection
from django.utils import timezone

from edfi_api.core.models import Document
from edfi_api.core.security.models import ApiClient
from edfi_api.features.changes.change_queries.models import ChangeConsumer
from edfi_api.features.changes.change_stream.models import DeadLetter
from edfi_api.features.refusals.models import Refusal
from edfi_api.model.surface.resource import ResourceName
from tests.support.factories import DocumentFactory

_ENROLLMENT = ResourceName("Ed-Fi", "StudentSchoolAssociation")
_ENROLLMENTS = "/studentSchoolAssociations"

_RULE = """
INSERT INTO validation_rule (source, identifier, version, digest, file, language, resource, severity, category,
                             short_description, description, help_url, external_id, logic, is_active, document_types)
SELECT 'tests', 'EN-1', '1', '', '', 'sql', 'Student', 'major', 'Enrolments', 'A student has one enrolment.',
       'Enrolments overlap.', '', '', '', true, ARRAY[id] FROM resource_type WHERE name = 'Student'
"""
_RESULT = """
INSERT INTO validation_result (result_uuid, result_key, episode, rule_id, digest, document_uuid, resource_type_id,
                               natural_key, organization, message, first_run)
SELECT gen_random_uuid(), gen_random_uuid(), 1, r.id, sha256('1'), d.document_uuid, d.resource_type_id, d.natural_key,
       1, 'Two enrolments overlap.', 1
  FROM validation_rule r, document d JOIN resource_type t ON t.id = d.resource_type_id AND t.name = 'Student'
 LIMIT 1
"""


def fill_every_table(api: Any, documents: DocumentFactory) -> None:
    """Insert a row in each of the admin's tables; `api` is a client that may write enrollments."""
    documents.store(documents.surface.by_name[_ENROLLMENT])
    body = Document.objects.get(resource_type__name=_ENROLLMENT.resource).body | {"entryDate": "2025-08-21"}
    created = api.post(_ENROLLMENTS, body)
    assert created.status_code == 201, created.content
    deleted = api.delete(f"{_ENROLLMENTS}/{Document.objects.latest('id').document_uuid}")
    assert deleted.status_code == 204, deleted.content
    ChangeConsumer.objects.create(name="lake")
    DeadLetter.objects.create(
        handler="handler", change_version=1, resource="Student", natural_key="NK#", change="{}", error="x", attempts=1
    )
    Group.objects.create(name="stewards")
    _add_refusal()
    with connection.cursor() as cursor:
        cursor.execute(_RULE)
        cursor.execute(_RESULT)


def _add_refusal() -> None:
    client, now = ApiClient.objects.order_by("pk").first(), timezone.now()
    assert client
    Refusal.objects.create(
        id=uuid4(),
        client=client.pk,
        data_store=0,
        resource="/ed-fi/studentSchoolAssociations",
        subject=uuid4(),
        has_identity=True,
        natural_key="NK#entryDate=2026-09-07#schoolReference.schoolId=1#studentReference.studentUniqueId=91002",
        operation="upsert",
        is_batch=False,
        is_summary=False,
        status=409,
        problem="data-conflict:unresolved-reference",
        title="Unresolved Reference",
        paths={"$.studentReference": ["The referenced Student item does not exist."]},
        errors=[],
        hints=["$.studentReference: there is no Student. Correct the key, or send the item first."],
        cause=uuid4(),
        cause_text="Student NK#studentUniqueId=91002 is missing",
        awaited_resource="Student",
        awaited=uuid4(),
        correlation_id="cf0c19a8",
        first_at=now,
        last_at=now,
        count=12,
        sequence=1,
    )


def kind_of(address: str) -> str:
    """An address without the parts that differ between pages of one kind: numbers, names of guides, and values of the
    query string."""
    parts = urlsplit(address)
    names = ",".join(sorted(name for name, _ in parse_qsl(parts.query, keep_blank_values=True)))
    path = re.sub(r"(?<=/)\d+(?=/|$)", "N", re.sub(r"^/guides/.+", "/guides/NAME", parts.path))
    return f"{path}?{names}" if names else path
