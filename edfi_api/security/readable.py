"""Documents of any resources → those of them that a client may read.

Errors name other documents than the requested one, such as referrers; this limits them to readable ones.
"""

from collections.abc import Mapping

from edfi_api.model.surface.resource import ResourceName, Surface
from edfi_api.storage.driver.execution import execute
from edfi_api.storage.guards import STORED, Guard

from .actions import Action
from .authorization import guard
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
            found |= _allowed(rows, guard(client, surface.by_name[name], Action.READ, surface))
        except UNAUTHORIZABLE:
            continue  # Not readable; the reason is reported when the resource itself is requested.
    return found


def _allowed(rows: list[int], rules: Guard | None) -> set[int]:
    if rules is None:
        return set(rows)
    statement = _READABLE.format(is_allowed=rules.sql(STORED))
    return {row for (row,) in execute(statement, {"rows": rows, **rules.parameters}, "default")}
