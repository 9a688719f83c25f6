"""Pages of the admin: their kinds, and rows for all of them."""

import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.contrib.auth.models import Group

from edfi_api.core.models import Document
from edfi_api.features.changes.change_queries.models import ChangeConsumer
from edfi_api.features.changes.change_stream.models import DeadLetter
from edfi_api.model.surface.resource import ResourceName
from tests.support.factories import DocumentFactory

_ENROLLMENT = ResourceName("Ed-Fi", "StudentSchoolAssociation")
_ENROLLMENTS = "/studentSchoolAssociations"


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


def kind_of(address: str) -> str:
    """An address without the parts that differ between pages of one kind: numbers, names of guides, and values of the
    query string."""
    parts = urlsplit(address)
    names = ",".join(sorted(name for name, _ in parse_qsl(parts.query, keep_blank_values=True)))
    path = re.sub(r"(?<=/)\d+(?=/|$)", "N", re.sub(r"^/guides/.+", "/guides/NAME", parts.path))
    return f"{path}?{names}" if names else path
