"""What a client may read besides the requested document: resources, and rows of any resources.

Lists of related documents, and errors that name other documents, such as referrers, are limited to these.
"""

from collections.abc import Iterable, Iterator, Mapping

from edfi_api.model.surface.resource import Resource, ResourceName, Surface
from edfi_api.storage.driver.execution import execute
from edfi_api.storage.driver.sql import Sql
from edfi_api.storage.row_policy import Predicate

from .actions import Action
from .exceptions import UNAUTHORIZABLE, NoNamespacePrefixes
from .row_policies import row_policy
from .tokens import AuthenticatedClient

_READABLE = "SELECT d.id FROM document d WHERE d.id = ANY (%(rows)s::bigint[]) AND {is_allowed}"


def readable_resources(
    client: AuthenticatedClient, resources: Iterable[Resource], surface: Surface, using: str
) -> Iterator[tuple[Resource, Predicate | None]]:
    """The resources of which the client may read documents, each with the condition on them; None if there is none.

    Others are left out: the reason is reported when the resource itself is requested.
    """
    for resource in resources:
        try:
            policy = row_policy(client, resource, Action.READ, surface, using)
            yield resource, None if policy is None else policy.predicate()
        except (*UNAUTHORIZABLE, NoNamespacePrefixes):
            continue


def readable_rows(
    client: AuthenticatedClient, surface: Surface, using: str, documents: Mapping[int, ResourceName]
) -> set[int]:
    """The ids of the rows that the client may read; none of resources that are not served."""
    names = set(documents.values())
    served = [surface.by_name[name] for name in names if name in surface.by_name]
    found: set[int] = set()
    for resource, predicate in readable_resources(client, served, surface, using):
        rows = [row for row, name in documents.items() if name == resource.name]
        found |= _allowed(rows, predicate, using)
    return found


def _allowed(rows: list[int], predicate: Predicate | None, using: str) -> set[int]:
    if predicate is None:
        return set(rows)
    statement = Sql(_READABLE, {"rows": rows}).fill(is_allowed=predicate.for_one_row)
    return {row for (row,) in execute(statement, using)}
