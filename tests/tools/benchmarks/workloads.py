"""The documents of the benchmark, and serialized requests made from them."""

import json
from collections.abc import Iterable, Iterator
from copy import copy
from http.client import HTTPConnection
from itertools import count, islice
from typing import Any

from tests.support.server_processes import ADDRESS, Server

SCHOOLS = range(1, 11)
_DESCRIPTORS = "uri://ed-fi.org"
_DATA = "/data/ed-fi"
# Those of a large document, which then has some 20 kB.
_ADDRESSES = 60

Body = dict[str, Any]


class Workloads:
    """Requests for one server. Students are numbered. Each seeded one has two associations: one that is repeated
    unchanged, and one that is changed."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._students = count(1)
        self._new_associations = (association(n, entryDate=date) for date in _dates() for n in self.seeded)
        self._changes = (
            (id_, _changing(n, exitWithdrawDate=date))
            for date in _dates()
            for n, id_ in zip(self.seeded, self._changing_ids, strict=True)
        )

    def seed(self, documents: int) -> None:
        """Schools, and students with the associations that are repeated, changed and read."""
        connection = HTTPConnection(ADDRESS, self._server.port)
        for school in SCHOOLS:
            self._written(connection, "schools", _school(school))
        self.seeded = [next(self._students) for _ in range(documents)]
        self._student_ids = [self._written(connection, "students", student(n)) for n in self.seeded]
        self._association_ids = [
            self._written(connection, "studentSchoolAssociations", association(n)) for n in self.seeded
        ]
        self._changing_ids = [self._written(connection, "studentSchoolAssociations", _changing(n)) for n in self.seeded]

    def seed_large(self, documents: int) -> None:
        """Of the first seeded students an association with an organization, with many addresses."""
        connection = HTTPConnection(ADDRESS, self._server.port)
        self._large_ids = [
            self._written(connection, "studentEducationOrganizationAssociations", _with_addresses(n))
            for n in self.seeded[:documents]
        ]

    def sent_by(self, server: Server) -> "Workloads":
        """Requests for the same documents with the token and to the port of `server`."""
        others = copy(self)
        others._server = server
        return others

    def new_students(self, documents: int) -> list[bytes]:
        return [self._request("POST", "/students", student(next(self._students))) for _ in range(documents)]

    def new_associations(self, documents: int) -> list[bytes]:
        """Further associations of the seeded students, each with a new date: the key is student, school and date."""
        bodies = islice(self._new_associations, documents)
        return [self._request("POST", "/studentSchoolAssociations", body) for body in bodies]

    def invalid_students(self, documents: int) -> list[bytes]:
        """Students who do not exist, with a date of birth that is none."""
        bodies = (student(next(self._students)) | {"birthDate": "2010-02-30"} for _ in range(documents))
        return [self._request("POST", "/students", body) for body in bodies]

    def associations_without_school(self, documents: int) -> list[bytes]:
        """As `new_associations`, with a school that does not exist."""
        bodies = islice(self._new_associations, documents)
        missing = {"schoolReference": {"schoolId": len(SCHOOLS) + 1}}
        return [self._request("POST", "/studentSchoolAssociations", body | missing) for body in bodies]

    def association_bodies(self) -> Iterator[Body]:
        """As `new_associations`, without end and without requests."""
        return self._new_associations

    def stored_association_bodies(self) -> list[Body]:
        """Those that stay as they are."""
        return [association(n) for n in self.seeded]

    def families(self) -> Iterator[list[tuple[str, Body]]]:
        """Without end: new documents of five resources, by endpoint, each behind what it refers to."""
        for n in self._students:
            contact = {"contactUniqueId": _unique_id(n), "firstName": "Ida", "lastSurname": "Ortiz"}
            about = {"studentReference": {"studentUniqueId": _unique_id(n)}}
            organization = {"educationOrganizationReference": {"educationOrganizationId": SCHOOLS[n % len(SCHOOLS)]}}
            yield [
                ("students", student(n)),
                ("studentSchoolAssociations", association(n)),
                ("studentEducationOrganizationAssociations", about | organization),
                ("contacts", contact),
                ("studentContactAssociations", about | {"contactReference": {"contactUniqueId": _unique_id(n)}}),
            ]

    def same_associations(self) -> list[bytes]:
        return [self._request("POST", "/studentSchoolAssociations", association(n)) for n in self.seeded]

    def changed_associations(self, documents: int) -> list[bytes]:
        """Each with a new exit date, so that none equals the stored document."""
        changes = islice(self._changes, documents)
        return [self._request("POST", "/studentSchoolAssociations", body) for _, body in changes]

    def replaced_associations(self, documents: int) -> list[bytes]:
        changes = islice(self._changes, documents)
        return [self._request("PUT", f"/studentSchoolAssociations/{id_}", body | {"id": id_}) for id_, body in changes]

    def student_by_id(self) -> list[bytes]:
        return [self._request("GET", f"/students/{id_}") for id_ in self._student_ids]

    def association_by_id(self) -> list[bytes]:
        return [self._request("GET", f"/studentSchoolAssociations/{id_}") for id_ in self._association_ids]

    def association_by_student(self) -> list[bytes]:
        return [
            self._request("GET", f"/studentSchoolAssociations?studentUniqueId={_unique_id(n)}&entryDate=2025-08-20")
            for n in self.seeded
        ]

    def page_of_associations(self, size: int = 25) -> list[bytes]:
        return [self._request("GET", f"/studentSchoolAssociations?limit={size}")]

    def large_by_id(self) -> list[bytes]:
        return [self._request("GET", f"/studentEducationOrganizationAssociations/{id_}") for id_ in self._large_ids]

    def deletions(self, ids: Iterable[str]) -> list[bytes]:
        return [self._request("DELETE", f"/students/{id_}") for id_ in ids]

    def _written(self, connection: HTTPConnection, endpoint: str, body: Body) -> str:
        """The id of the created document."""
        connection.request("POST", f"{_DATA}/{endpoint}", json.dumps(body), self._headers)
        answer = connection.getresponse()
        content = answer.read()
        if answer.status != 201:
            raise RuntimeError(f"seeding failed: {answer.status} {content.decode()}")
        return answer.headers["Location"].rpartition("/")[2]

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._server.token}", "Content-Type": "application/json"}

    def _request(self, method: str, path: str, body: Body | None = None) -> bytes:
        content = b"" if body is None else json.dumps(body, separators=(",", ":")).encode()
        head = [f"{method} {_DATA}{path} HTTP/1.1", f"Host: {ADDRESS}:{self._server.port}"]
        head += [f"Authorization: Bearer {self._server.token}", "Accept: application/json"]
        if body is not None:
            head += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
        return "\r\n".join([*head, "", ""]).encode() + content


def _school(number: int) -> Body:
    category = f"{_DESCRIPTORS}/EducationOrganizationCategoryDescriptor#School"
    return {
        "schoolId": number,
        "nameOfInstitution": f"Lark Meadow School {number}",
        "educationOrganizationCategories": [{"educationOrganizationCategoryDescriptor": category}],
        "gradeLevels": [{"gradeLevelDescriptor": f"{_DESCRIPTORS}/GradeLevelDescriptor#Ninth grade"}],
    }


def student(number: int) -> Body:
    """A student of the usual size."""
    return {
        "studentUniqueId": _unique_id(number),
        "birthDate": "2010-01-13",
        "birthSexDescriptor": f"{_DESCRIPTORS}/SexDescriptor#Female",
        "firstName": "Mae",
        "middleName": "Elena",
        "lastSurname": f"Ortiz{number % 997}",
    }


def association(number: int, **changes: Any) -> Body:
    """The enrollment of that student at one of the schools."""
    return {
        "studentReference": {"studentUniqueId": _unique_id(number)},
        "schoolReference": {"schoolId": SCHOOLS[number % len(SCHOOLS)]},
        "entryDate": "2025-08-20",
        "entryGradeLevelDescriptor": f"{_DESCRIPTORS}/GradeLevelDescriptor#Ninth grade",
        "entryTypeDescriptor": f"{_DESCRIPTORS}/EntryTypeDescriptor#Other",
        "primarySchool": True,
    } | changes


def _with_addresses(number: int) -> Body:
    return {
        "studentReference": {"studentUniqueId": _unique_id(number)},
        "educationOrganizationReference": {"educationOrganizationId": SCHOOLS[number % len(SCHOOLS)]},
        "addresses": [_address(place) for place in range(_ADDRESSES)],
    }


def _address(place: int) -> Body:
    return {
        "addressTypeDescriptor": f"{_DESCRIPTORS}/AddressTypeDescriptor#Home",
        "streetNumberName": f"{place} Lark Meadow Lane",
        "apartmentRoomSuiteNumber": f"{place}",
        "city": "Lark Meadow",
        "stateAbbreviationDescriptor": f"{_DESCRIPTORS}/StateAbbreviationDescriptor#TX",
        "postalCode": f"{70000 + place}",
        "nameOfCounty": "Meadow",
        "periods": [{"beginDate": "2025-08-20", "endDate": "2026-05-20"}],
    }


def _changing(number: int, **changes: Any) -> Body:
    return association(number, entryDate="2025-08-21", **changes)


def _unique_id(number: int) -> str:
    return f"{number:08d}"


def _dates() -> Iterator[str]:
    return (f"{year}-{month:02d}-{day:02d}" for year in count(1990) for month in range(1, 13) for day in range(1, 29))
