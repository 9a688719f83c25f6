"""Which of the neighbouring resources a client may read, as if it asked for each of them; others are left out."""

from collections.abc import Iterable, Iterator

from edfi_api.relations.related import Readable
from edfi_api.security.actions import Action
from edfi_api.security.claims import strategies
from edfi_api.security.exceptions import ActionAccessDenied, ResourceAccessDenied
from edfi_api.security.tokens import AuthenticatedClient
from edfi_api.surface.resource import Resource


def readable(client: AuthenticatedClient, resources: Iterable[Resource]) -> Iterator[Readable]:
    """Those on which the client's claim set grants Read."""
    for resource in resources:
        if _may_read(client, resource):
            yield Readable(resource)


def _may_read(client: AuthenticatedClient, resource: Resource) -> bool:
    try:
        strategies(client, resource, Action.READ)
    except (ResourceAccessDenied, ActionAccessDenied):
        return False
    return True
