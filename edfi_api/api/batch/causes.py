"""Finds the earlier failed operation that may have caused the failure of a later one."""

from collections.abc import Iterable, Iterator
from typing import Any

from edfi_api.api.batch.natural_keys import NaturalKeys
from edfi_api.api.batch.operations import Kind, Operation
from edfi_api.documents.coercion import Coercion, compile_coercion
from edfi_api.documents.exceptions import DataValidationFailed
from edfi_api.documents.incoming import IncomingDocument, Preparers
from edfi_api.documents.leniency import Leniency
from edfi_api.documents.securables import SecurablesExtractor
from edfi_api.model.surface.resource import Resource, ResourceName
from edfi_api.problem_details.http_exceptions import ResourceNotFound
from edfi_api.security.exceptions import NoRelationship
from edfi_api.storage.exceptions import DocumentNotFound
from references.exceptions import UnresolvedReference

# What an operation would have provided: a referential id, or a person whom an association opens to the client.
_Provided = int | tuple[str, str]
_PEOPLE = ("student", "contact", "staff")


class Causes:
    """The failed operations of one batch, by what they would have provided."""

    def __init__(self, preparers: Preparers, natural_keys: NaturalKeys) -> None:
        self._preparers = preparers
        self._natural_keys = natural_keys
        self._failed: dict[_Provided, int] = {}
        self._securables: dict[ResourceName, tuple[Coercion, SecurablesExtractor]] = {}

    def of(self, operation: Operation, refusal: Exception) -> int | None:
        """The position of the first operation that would have provided what this one lacks; None if there is none."""
        if operation.resource is None or not self._failed:
            return None
        found = {self._failed[each] for each in self._lacking(operation, refusal) if each in self._failed}
        return min(found - {operation.position}, default=None)

    def add(self, operation: Operation) -> None:
        """Record a failed operation."""
        for provided in self._provided(operation):
            self._failed.setdefault(provided, operation.position)

    def _lacking(self, operation: Operation, refusal: Exception) -> Iterable[_Provided]:
        match refusal:
            case UnresolvedReference():
                return (id_.int for id_ in refusal.ids)
            case NoRelationship():
                return self._people(operation)
            case DocumentNotFound() | ResourceNotFound() if operation.key is not None:
                return self._own_ids(operation.resource, operation.key)
        return ()

    def _people(self, operation: Operation) -> list[_Provided]:
        """The people of the document, as far as the operation has it."""
        incoming = self._incoming(operation)
        found = incoming.securables._asdict() if incoming else {}
        return [(kind, found[kind]) for kind in _PEOPLE if found.get(kind) is not None]

    def _provided(self, operation: Operation) -> Iterator[_Provided]:
        if operation.resource is None or operation.document is None or operation.kind is Kind.DELETE:
            return
        identity = self._natural_keys.part_of(operation.resource, operation.document)
        if identity is not None:
            yield from self._own_ids(operation.resource, identity)
        if operation.resource.authorization_pathways:
            securables = self._people_of(operation.resource, operation.document)
            yield from ((kind, securables[kind]) for kind in _PEOPLE if isinstance(securables.get(kind), str))

    def _own_ids(self, resource: Resource | None, body: dict[str, Any]) -> list[_Provided]:
        assert resource is not None  # noqa: S101  Only of an operation that was understood.
        return [alias.int for alias in self._preparers[resource.name].extractor.identity(body).aliases]

    def _people_of(self, resource: Resource, document: dict[str, Any]) -> dict[str, Any]:
        """Of a body that need not be valid."""
        if resource.name not in self._securables:
            self._securables[resource.name] = compile_coercion(resource.json_schema), SecurablesExtractor(resource)
        coerce, extractor = self._securables[resource.name]
        try:
            return extractor.securables(coerce(document, Leniency()))._asdict()
        except (AttributeError, KeyError, TypeError, ValueError):
            return {}

    def _incoming(self, operation: Operation) -> IncomingDocument | None:
        if operation.resource is None or operation.document is None:
            return None
        body = {name: value for name, value in operation.document.items() if name != "id"}
        try:
            return self._preparers[operation.resource.name].prepare(body, lambda _: {})
        except DataValidationFailed:
            return None
