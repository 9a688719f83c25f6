"""Documents of any resources → those of them that a client may read.

Errors name other documents than the requested one, such as referrers; this limits them to readable ones.
"""

from collections.abc import Mapping

from edfi_api.model.surface.resource import ResourceName, Surface
from edfi_api.storage.driver.execution import execute
from edfi_api.storage.driver.sql import Sql
from edfi_api.storage.row_policy import RowPolicy

from .actions import Action
from .authorization import row_policy
from .exceptions import UNAUTHORIZABLE
from .tokens import AuthenticatedClient

_READABLE = "SELECT d.id FROM document d WHERE d.id = ANY (%(rows)s::bigint[]) AND {is_allowed}"


def readable(client: AuthenticatedClient, surface: Surface, documents: Mapping[int, ResourceName]) -> set[int]:
    """The ids of the rows that the client may read; none of resources that are not served."""
    found: set[int] = set()
    for name in set(documents.values()):
        if name not in surface.by_name:
            continue
        rows = [row for row, resource_name in documents.items() if resource_name == name]
        try:
            found |= _allowed(rows, row_policy(client, surface.by_name[name], Action.READ, surface))
        except UNAUTHORIZABLE:
            continue  # Not readable; the reason is reported when the resource itself is requested.
    return found


def _allowed(rows: list[int], policy: RowPolicy | None) -> set[int]:
    if policy is None:
        return set(rows)
    statement = Sql(_READABLE, {"rows": rows}).fill(is_allowed=policy.using)
    return {row for (row,) in execute(statement, "default")}
