"""Deletes many documents of one resource with one statement, as far as that is certain.

Those that the policy denies, that have changed, or that others refer to, are left; to delete one alone finds out why.
"""

from collections.abc import Sequence
from uuid import UUID

from django.db import IntegrityError, OperationalError

from edfi_api.model.surface.resource import Resource
from edfi_api.storage import resource_types
from edfi_api.storage.driver.execution import StatementAborted, execute
from edfi_api.storage.driver.sql_files import statements_beside
from edfi_api.storage.row_policy import SetConditions

_DELETE_UNREFERENCED = statements_beside(__file__)("delete_unreferenced")


def delete_unreferenced(
    resource: Resource, document_uuids: Sequence[UUID], conditions: SetConditions, using: str, client: int
) -> set[UUID]:
    """Those of the ids whose documents were deleted."""
    statement = _DELETE_UNREFERENCED.fill(is_allowed=conditions.using).with_values(
        ids=list(document_uuids), resource_type=resource_types.numbers(using)[resource.name], client=client
    )
    try:
        return {id_ for (id_,) in execute(statement, using)}
    except (IntegrityError, OperationalError, StatementAborted):
        return set()  # A concurrent write is in the way of one of them.
