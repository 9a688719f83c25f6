"""Education organizations for tests: districts and schools by id, and a simple computation of their closure."""

from collections.abc import Iterable, Mapping
from typing import Any

from edfi_api.core.models import OrganizationClosure
from edfi_api.model.surface.resource import Resource
from tests.support.factories import DocumentFactory

Parents = Mapping[int, Iterable[int]]


class Organizations:
    """Bodies of districts and schools."""

    def __init__(self, documents: DocumentFactory, district: Resource, school: Resource) -> None:
        self._documents = documents
        self.district_resource, self.school_resource = district, school

    def store_descriptors(self) -> None:
        for resource in (self.district_resource, self.school_resource):
            self._documents.store_targets(resource, self._documents.minimal_body(resource))

    def district(self, id_: int, parent: int | None = None) -> dict[str, Any]:
        body = self._documents.minimal_body(self.district_resource, localEducationAgencyId=id_)
        return body | ({"parentLocalEducationAgencyReference": {"localEducationAgencyId": parent}} if parent else {})

    def school(self, id_: int, parent: int | None = None) -> dict[str, Any]:
        body = self._documents.minimal_body(self.school_resource, schoolId=id_)
        return body | ({"localEducationAgencyReference": {"localEducationAgencyId": parent}} if parent else {})


def closure_of(parents: Parents) -> set[tuple[int, int]]:
    """Pairs of an organization and each one below it, including itself."""
    pairs = set()
    for organization in parents:
        above, waiting = set(), [organization]
        while waiting:
            each = waiting.pop()
            if each not in above:
                above.add(each)
                waiting += parents.get(each, ())
        pairs |= {(ancestor, organization) for ancestor in above}
    return pairs


def stored_closure() -> set[tuple[int, int]]:
    return set(OrganizationClosure.objects.values_list("ancestor_id", "descendant_id"))
