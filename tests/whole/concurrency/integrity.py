"""Compares aliases, references and links with those computed from all stored bodies."""

from django.db import connection

from edfi_api.core.documents.document_validator import DocumentValidator
from edfi_api.core.models import Document
from edfi_api.model.surface.resource import ResourceName, Surface
from references.models import Alias
from tests.support.factories import STORED_URIS

_ORPHANS = """
SELECT document_id::text, alias_id::text
  FROM reference r
 WHERE NOT EXISTS (SELECT FROM alias a WHERE a.referential_id = r.alias_id)
    OR NOT EXISTS (SELECT FROM document d WHERE d.id = r.document_id)
 UNION ALL
SELECT document_id::text, referential_id::text
  FROM alias a
 WHERE NOT EXISTS (SELECT FROM document d WHERE d.id = a.document_id)
"""


def assert_integrity(surface: Surface) -> None:
    """Asserts that each reference in a body has exactly one row, which leads to its target, and no others exist."""
    with connection.cursor() as cursor:
        assert cursor.execute(_ORPHANS).fetchall() == []
    validators: dict[ResourceName, DocumentValidator] = {}
    ids = dict(Alias.objects.values_list("referential_id", "document__document_uuid"))
    documents = Document.objects.select_related("resource_type").prefetch_related("aliases", "references")
    for document in documents:
        name = ResourceName(document.resource_type.project, document.resource_type.name)
        if name not in validators:
            validators[name] = DocumentValidator(surface.by_name[name])
        incoming = validators[name].validate(document.body, STORED_URIS)
        assert document.natural_key == incoming.identity.natural_key
        assert {alias.pk for alias in document.aliases.all()} == set(incoming.identity.aliases)
        assert {reference.alias_id for reference in document.references.all()} == set(incoming.targets)
        assert (document.linked_ids or []) == [ids[referential_id] for referential_id in incoming.linked]
