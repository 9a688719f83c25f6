"""Finds the references of a document that do not resolve, to report them all.

The results only describe an error; whether there is one is decided by the foreign keys.
"""

from collections.abc import Callable, Set
from uuid import UUID

from edfi_api.documents.incoming import IncomingDocument
from edfi_api.documents.violations import as_many_as_reported
from edfi_api.model.surface.naming import is_descriptor_name
from edfi_api.storage import resource_types
from references import resolution
from references.exceptions import UnresolvedReference
from references.identity import descriptor_natural_key, referential_id


def unresolved_reference(incoming: IncomingDocument, using: str) -> UnresolvedReference | None:
    """The references of a document that do not resolve; None if all do."""
    wanted = {each.referential_id for each in incoming.sent_references}
    missing = resolution.missing(wanted, using) - set(incoming.identity.aliases)
    return unresolved(incoming, missing, lambda uris: stored_uris(uris, using)) if missing else None


def unresolved(
    incoming: IncomingDocument, missing: Set[UUID], stored: Callable[[Set[str]], Set[str]]
) -> UnresolvedReference:
    """The references, and descriptors in reference keys, whose target is among the `missing` ids; at most as many as
    are reported. `stored` returns which of some URIs belong to a stored descriptor of any type."""
    references = [reference for reference in incoming.sent_references if reference.referential_id in missing]
    documents = as_many_as_reported(reference for reference in references if reference.value is None)
    descriptors = as_many_as_reported(reference for reference in references if reference.value is not None)
    of_another_type = stored({reference.value for reference in descriptors if reference.value})
    return UnresolvedReference(
        documents=[reference.as_missing() for reference in documents],
        descriptors=[reference.as_missing(reference.value in of_another_type) for reference in descriptors],
        ids=frozenset([reference.referential_id for reference in references]),
    )


def stored_uris(uris: Set[str], using: str) -> Set[str]:
    """Which of these URIs belong to a stored descriptor of any type; one query."""
    if not uris:
        return set()
    names = [name for name in resource_types.numbers(using) if is_descriptor_name(name.resource)]
    keys = {uri: descriptor_natural_key(uri.lower()) for uri in uris}
    ids = {referential_id(name.project, name.resource, key): uri for uri, key in keys.items() for name in names}
    return {ids[found] for found in resolution.stored(ids, using)}
