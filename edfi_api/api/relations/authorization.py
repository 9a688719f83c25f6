"""The related resources that a client may read, by the same rules as for GET of each; others are omitted."""

from collections.abc import Iterable, Iterator

from edfi_api.api.relations.related import Readable
from edfi_api.model.surface.resource import Resource, Surface
from edfi_api.security.actions import Action
from edfi_api.security.authorization import row_policy
from edfi_api.security.exceptions import UNAUTHORIZABLE, NoNamespacePrefixes
from edfi_api.security.tokens import AuthenticatedClient


def readable(client: AuthenticatedClient, resources: Iterable[Resource], surface: Surface) -> Iterator[Readable]:
    """The resources on which the client's claim set grants Read, each with the conditions of its strategies."""
    for resource in resources:
        try:
            policy = row_policy(client, resource, Action.READ, surface)
            yield Readable(resource, () if policy is None else (policy.predicate(),))
        except (*UNAUTHORIZABLE, NoNamespacePrefixes):
            continue
