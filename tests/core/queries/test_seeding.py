"""`make bench-data` on an empty database."""

from itertools import groupby

import pytest
from django.db import connection

from edfi_api.core.models import Document
from edfi_api.core.storage.integrity import disagreements
from edfi_api.features.loading.bulk import BulkWriter
from tests.tools.seeding.seed import TABLES, seed

pytestmark = pytest.mark.django_db

_SIZE = 9_000  # One school and a part of another.
_DEFINITIONS = """
SELECT conname, pg_get_constraintdef(oid), convalidated FROM pg_constraint
 WHERE contype IN ('f', 'p', 'u') AND conrelid = ANY (%(tables)s::regclass[])
 UNION ALL
SELECT relname, pg_get_indexdef(indexrelid), indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
 WHERE indrelid = ANY (%(tables)s::regclass[])
 ORDER BY 1, 2
"""


@pytest.mark.long
def test_rows_in_another_order_than_their_documents_are_cloned_with_their_own_keys(monkeypatch, validators):
    """Several connections write concurrently, so row ids are assigned in any order."""
    write = BulkWriter.write

    def backwards(self, candidates):
        by_resource = groupby(candidates, key=lambda candidate: candidate.resource)
        return write(self, [candidate for _, group in by_resource for candidate in reversed(list(group))])

    monkeypatch.setattr(BulkWriter, "write", backwards)

    seed(_SIZE, processes=0)

    assert Document.objects.count() == _SIZE
    assert list(disagreements(validators, "default")) == []


def test_indexes_and_constraints_are_as_before():
    before = _definitions()

    seed(_SIZE, processes=0)

    assert _definitions() == before


def _definitions():
    with connection.cursor() as cursor:
        cursor.execute(_DEFINITIONS, {"tables": list(TABLES)})
        return cursor.fetchall()
