"""Documents for tests, made from the surface: one minimal and one full body per resource.

A member has the same value wherever its name occurs, so unified keys agree, and references of minimal documents
resolve to the minimal documents of other resources.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.core.storage import store
from edfi_api.core.storage.descriptor_uri_cache import stored_uris
from edfi_api.core.storage.write_requests import WriteRequest
from edfi_api.model.surface.resource import JsonPath, Resource, ResourceName, Superclass, Surface
from tests.support.databases import DOCUMENTS

DATE = "2025-08-20"
SCHOOL_YEAR = 2026
STUDENT = {
    "studentUniqueId": "604822",
    "firstName": "Mae",
    "lastSurname": "Ortiz",
    "birthDate": "2010-02-03",
}

# The URIs of descriptors in the database of the tests' documents.
STORED_URIS = partial(stored_uris, using=DOCUMENTS)


class DocumentFactory:
    """Bodies of one surface, and the documents they refer to, which are stored in the database `using`."""

    def __init__(self, surface: Surface, using: str = DOCUMENTS) -> None:
        self._using = using
        self.surface = surface
        self._validators = DocumentValidators(surface)
        self._stored_uris = partial(stored_uris, using=using)
        self._renamed_ids = _superclass_id_values(surface)

    def minimal_body(self, resource: Resource, **changes: Any) -> dict[str, Any]:
        """A valid body with the required members only; `changes` replace or add root members."""
        return self._object(resource.json_schema, resource, JsonPath(()), required_only=True) | changes

    def full_body(self, resource: Resource) -> dict[str, Any]:
        """A valid body with every member, arrays with one item."""
        return self._object(resource.json_schema, resource, JsonPath(()), required_only=False)

    def store_targets(self, resource: Resource, body: dict[str, Any]) -> None:
        """Write every document that `body` refers to, transitively."""
        self._store_targets(resource, body, set())

    def store(self, resource: Resource) -> None:
        """Write the minimal document of a resource, its targets first."""
        self._store(resource, set())

    def _store_targets(self, resource: Resource, body: dict[str, Any], stored: set[ResourceName]) -> None:
        incoming = self._validators[resource.name].validate(body, self._stored_uris)
        for target in {reference.target for reference in incoming.references}:
            for concrete in self._concrete(target):
                if concrete.name not in stored and (concrete.name != resource.name or concrete.is_descriptor):
                    self._store(concrete, stored)

    def _store(self, resource: Resource, stored: set[ResourceName]) -> None:
        """Adds to `stored` the resources whose documents are written."""
        stored.add(resource.name)
        body = self.minimal_body(resource)
        self._store_targets(resource, body, stored)
        incoming = self._validators[resource.name].validate(body, self._stored_uris)
        store.upsert(WriteRequest(incoming, using=self._using))

    def _concrete(self, target: ResourceName) -> Iterator[Resource]:
        if target in self.surface.by_name:
            yield self.surface.by_name[target]
            return
        abstract = next(entry for entry in self.surface.abstract_resources if entry.name == target)
        yield self.surface.by_name[_representative(abstract.subclasses)]

    def _object(
        self, schema: dict[str, Any], resource: Resource, path: JsonPath, required_only: bool
    ) -> dict[str, Any]:
        required = schema.get("required", schema["properties"] if _is_school_year(schema) else ())
        return {
            name: self._value(member, resource, path / name, required_only)
            for name, member in schema["properties"].items()
            if name in required or not required_only
        }

    def _value(self, schema: dict[str, Any], resource: Resource, path: JsonPath, required_only: bool) -> Any:
        match schema["type"]:
            case "object":
                return self._object(schema, resource, path, required_only)
            case "array":
                return [self._value(schema["items"], resource, path / "[*]", required_only)]
            case "string":
                return self._string(schema, resource, path)
            case "integer":
                return self._integer(schema, path.steps[-1])
            case "number":
                return 0.5
        return True

    def _string(self, schema: dict[str, Any], resource: Resource, path: JsonPath) -> str:
        if path.steps[-1].endswith("Descriptor"):
            return f"uri://ed-fi.org/{self._descriptor_name(resource, path)}#Value"
        match schema.get("format"):
            case "date":
                return DATE
            case "date-time":
                return f"{DATE}T08:00:00Z"
            case "time":
                return "08:00:00"
        if resource.is_descriptor and path.steps == ("namespace",):
            return f"uri://ed-fi.org/{resource.name.resource}"
        return "Value".ljust(schema.get("minLength", 0), "x")[: schema.get("maxLength", 255)]

    def _descriptor_name(self, resource: Resource, path: JsonPath) -> str:
        """The type of the descriptor at this path; within a reference, that of the target."""
        for descriptor in resource.descriptors:
            if descriptor.path == path:
                return descriptor.target.resource
        for reference in resource.references:
            for pair in reference.identity:
                if pair.here == path:
                    target = next(self._concrete(reference.target))
                    there = _own_path(target, reference.target, pair.there)
                    return self._descriptor_name(target, there)
        raise LookupError(f"{resource.name}: no descriptor at {path}")

    def _integer(self, schema: dict[str, Any], name: str) -> int:
        for id_name, value in self._renamed_ids.items():
            # With a role name the member has a prefix: gradingPeriodSchoolId.
            if name.lower().endswith(id_name.lower()):
                return value
        if name.lower().endswith("schoolyear"):
            return SCHOOL_YEAR
        return schema.get("minimum", 1) or 1


def _is_school_year(schema: dict[str, Any]) -> bool:
    return list(schema["properties"]) == ["schoolYear"]


def _own_path(target: Resource, referenced_as: ResourceName, there: JsonPath) -> JsonPath:
    if target.superclass is None or referenced_as != target.superclass.name:
        return there
    return next(pair.here for pair in target.superclass.identity if pair.there == there)


def _representative(subclasses: tuple[ResourceName, ...]) -> ResourceName:
    """The subclass used for references to the superclass: School if present, since most documents refer to schools."""
    return next((name for name in subclasses if name.resource == "School"), subclasses[0])


def _superclass(surface: Surface, subclass: ResourceName) -> Superclass:
    superclass = surface.by_name[subclass].superclass
    assert superclass is not None
    return superclass


def _superclass_id_values(surface: Surface) -> dict[str, int]:
    """A distinct number for each renamed identity (schoolId, ...); the superclass's name has the representative's."""
    values: dict[str, int] = {}
    for abstract in surface.abstract_resources:
        for number, name in enumerate(abstract.subclasses, start=1001):
            for pair in _superclass(surface, name).identity:
                if pair.here != pair.there:
                    values[pair.here.steps[-1]] = number
        representative = _superclass(surface, _representative(abstract.subclasses))
        for pair in representative.identity:
            if pair.here != pair.there:
                values[pair.there.steps[-1]] = values[pair.here.steps[-1]]
    return values
