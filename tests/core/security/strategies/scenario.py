"""A scenario for authorization: organizations by id, people by name, and their associations."""

from collections.abc import Iterable
from typing import Any

import orjson

from edfi_api.core.security.claims.file import read_claims
from edfi_api.core.security.claims.stored_claims import load
from edfi_api.model.surface.resource import Resource, ResourceName
from tests.conftest import ApiTestClient, item_path, new_token
from tests.support.factories import DATE, DocumentFactory

EO = "RelationshipsWithEdOrgsOnly"
EOP = "RelationshipsWithEdOrgsAndPeople"
NFA = "NoFurtherAuthorizationRequired"


class Scenario:
    """Writes documents as a client without restrictions; methods return the path of the written document."""

    def __init__(self, api: ApiTestClient, documents: DocumentFactory) -> None:
        self.api = api
        self.documents = documents
        self._by_name = documents.surface.by_name
        self.has_contacts = ResourceName("Ed-Fi", "Contact") in self._by_name
        self.contact_name = "Contact" if self.has_contacts else "Parent"
        self._targets_stored: set[str] = set()

    def resource(self, name: str) -> Resource:
        return self._by_name[ResourceName("Ed-Fi", name)]

    def endpoint(self, name: str) -> str:
        return "/" + self.resource(name).endpoint

    def body(self, name: str, **changes: Any) -> dict[str, Any]:
        """A minimal body; stores its descriptors."""
        resource = self.resource(name)
        if name not in self._targets_stored:
            self.documents.store_targets(resource, self.documents.minimal_body(resource))
            self._targets_stored.add(name)
        return self.documents.minimal_body(resource, **changes)

    def post(self, name: str, **changes: Any) -> str:
        answer = self.api.post(self.endpoint(name), self.body(name, **changes))
        assert answer.status_code in (200, 201), answer.content
        return item_path(answer)

    def district(self, id_: int, parent: int | None = None) -> str:
        above = {"parentLocalEducationAgencyReference": {"localEducationAgencyId": parent}} if parent else {}
        return self.post("LocalEducationAgency", localEducationAgencyId=id_, **above)

    def school(self, id_: int, district: int | None = None) -> str:
        above = {"localEducationAgencyReference": {"localEducationAgencyId": district}} if district else {}
        return self.post("School", schoolId=id_, **above)

    def student(self, name: str) -> str:
        return self.post("Student", studentUniqueId=name)

    def staff(self, name: str) -> str:
        return self.post("Staff", staffUniqueId=name)

    def contact(self, name: str) -> str:
        return self.post(self.contact_name, **self._contact_key(name))

    def people(self, students: Iterable[str], contacts: Iterable[str], staff: Iterable[str] = ()) -> None:
        """Writes people without associations."""
        for write, names in ((self.student, students), (self.contact, contacts), (self.staff, staff)):
            for name in names:
                write(name)

    def enrollment(self, student: str, school: int) -> dict[str, Any]:
        return self.body("StudentSchoolAssociation", **_student(student), schoolReference={"schoolId": school})

    def enroll(self, student: str, school: int) -> str:
        return self.post("StudentSchoolAssociation", **_student(student), schoolReference={"schoolId": school})

    def relate(self, student: str, contact: str) -> str:
        reference = {f"{self.contact_name.lower()}Reference": self._contact_key(contact)}
        return self.post(f"Student{self.contact_name}Association", **_student(student), **reference)

    def employ(self, staff: str, organization: int) -> str:
        return self.post(
            "StaffEducationOrganizationEmploymentAssociation", **_staff(staff), **_organization(organization)
        )

    def assign(self, staff: str, organization: int) -> str:
        return self.post(
            "StaffEducationOrganizationAssignmentAssociation", **_staff(staff), **_organization(organization)
        )

    def make_responsible(self, student: str, organization: int) -> str:
        return self.post(
            "StudentEducationOrganizationResponsibilityAssociation", **_student(student), **_organization(organization)
        )

    def calendar(self, code: str, school: int) -> str:
        return self.post("Calendar", calendarCode=code, schoolReference={"schoolId": school})

    def client(self, claim_set: str, *organizations: int, prefixes: tuple[str, ...] = ()) -> ApiTestClient:
        name = f"{claim_set} {organizations} {prefixes}"
        token = new_token(name, claim_set, education_organization_ids=organizations, namespace_prefixes=prefixes)
        return ApiTestClient(token)

    def client_by(
        self, *strategies: str, organizations: tuple[int, ...] = (), prefixes: tuple[str, ...] = ()
    ) -> ApiTestClient:
        """A client with all actions on all resources by these strategies."""
        name = " and ".join(strategies)
        grant = {
            "claims": ["domains/everything"],
            "actions": ["Create", "Read", "Update", "Delete"],
            "strategies": strategies,
        }
        load(read_claims(orjson.dumps({"claimSets": [{"name": name, "grants": [grant]}]})), by="tests")
        return self.client(name, *organizations, prefixes=prefixes)

    def _contact_key(self, name: str) -> dict[str, str]:
        return {f"{self.contact_name.lower()}UniqueId": name}


def _student(name: str) -> dict[str, Any]:
    return {"studentReference": {"studentUniqueId": name}}


def _staff(name: str) -> dict[str, Any]:
    return {"staffReference": {"staffUniqueId": name}}


def _organization(id_: int) -> dict[str, Any]:
    return {"educationOrganizationReference": {"educationOrganizationId": id_}}


__all__ = ["DATE", "EO", "EOP", "NFA", "Scenario"]
