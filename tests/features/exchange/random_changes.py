"""Random changes at a server, by its API: upserts, changes of keys, deletes, and creations of what was deleted."""

import random
from typing import Any

import httpx

SCHOOLS = (7, 8, 9)
_CATEGORY = "uri://ed-fi.org/EducationOrganizationCategoryDescriptor#School"
_AGENCY = "uri://ed-fi.org/LocalEducationAgencyCategoryDescriptor#Regular public school district"
_GRADE = "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade"


def school(id_: int, agency: int | None = None) -> dict[str, Any]:
    body: dict[str, Any] = {
        "schoolId": id_,
        "nameOfInstitution": f"School {id_}",
        "educationOrganizationCategories": [{"educationOrganizationCategoryDescriptor": _CATEGORY}],
        "gradeLevels": [{"gradeLevelDescriptor": _GRADE}],
    }
    return body | ({"localEducationAgencyReference": {"localEducationAgencyId": agency}} if agency else {})


def local_education_agency(id_: int) -> dict[str, Any]:
    return {
        "localEducationAgencyId": id_,
        "nameOfInstitution": f"Agency {id_}",
        "categories": [{"educationOrganizationCategoryDescriptor": _CATEGORY}],
        "localEducationAgencyCategoryDescriptor": _AGENCY,
    }


def student(id_: str, name: str = "Mae") -> dict[str, Any]:
    return {"studentUniqueId": id_, "firstName": name, "lastSurname": "Ortiz", "birthDate": "2010-02-03"}


def enrollment(student_id: str, school_id: int) -> dict[str, Any]:
    return {
        "entryDate": "2025-08-20",
        "entryGradeLevelDescriptor": _GRADE,
        "schoolReference": {"schoolId": school_id},
        "studentReference": {"studentUniqueId": student_id},
    }


def period(name: str, school_id: int) -> dict[str, Any]:
    return {"classPeriodName": name, "schoolReference": {"schoolId": school_id}}


def path_of(answer: Any) -> str:
    """The path behind the project of what the client of tests has posted."""
    assert answer.status_code in (200, 201), answer.content
    return str(answer["Location"]).partition("/ed-fi")[2]


class RandomChanges:
    """Writes to a server. What it refuses, as the delete of what is referred to, is no change."""

    def __init__(self, client: httpx.Client, seed: int) -> None:
        self._client = client
        self._deleted: list[str] = []
        self._random = random.Random(seed)  # noqa: S311  not a secret
        for each in SCHOOLS:
            self._post("schools", school(each))

    def make(self, number: int) -> int:
        """So many requests; returns how many of them changed something."""
        kinds = [self._student] * 4 + [self._enrollment] * 4 + [self._period] * 3 + [self._bells] * 3
        kinds += [self._renamed_period] * 3 + [self._delete] * 5
        return sum(self._random.choice(kinds)() for _ in range(number))

    def some_deleted(self, number: int) -> list[str]:
        """Ids of documents that were deleted lately."""
        latest = self._deleted[-3 * number :]
        return self._random.sample(latest, min(number, len(latest)))

    def _student(self) -> bool:
        return self._post("students", student(self._student_id(), f"Mae {self._random.random()}"))

    def _enrollment(self) -> bool:
        body = enrollment(self._student_id(), self._random.choice(SCHOOLS))
        return self._post("studentSchoolAssociations", body | {"primarySchool": self._random.random() < 0.5})

    def _period(self) -> bool:
        body = period(self._name(), self._random.choice(SCHOOLS))
        return self._post("classPeriods", body | {"officialAttendancePeriod": self._random.random() < 0.5})

    def _bells(self) -> bool:
        id_ = self._random.choice(SCHOOLS)
        names = {self._name() for _ in range(2)}
        reference = [{"classPeriodReference": {"schoolId": id_, "classPeriodName": name}} for name in sorted(names)]
        body = {"bellScheduleName": self._name(), "schoolReference": {"schoolId": id_}, "classPeriods": reference}
        return self._post("bellSchedules", body)

    def _renamed_period(self) -> bool:
        found = self._any("classPeriods")
        if found is None:
            return False
        body = {name: value for name, value in found.items() if not name.startswith("_")}
        body |= {"classPeriodName": self._name()}
        return self._request("PUT", f"classPeriods/{found['id']}", json=body)

    def _delete(self) -> bool:
        endpoint = self._random.choice(["students", "studentSchoolAssociations", "classPeriods", "bellSchedules"])
        found = self._any(endpoint)
        if found is None or not self._request("DELETE", f"{endpoint}/{found['id']}"):
            return False
        self._deleted.append(found["id"])
        return True

    def _any(self, endpoint: str) -> dict[str, Any] | None:
        page = {"offset": self._random.randrange(40), "limit": 1}
        try:
            answer = self._client.get(f"/data/ed-fi/{endpoint}", params=page)
        except httpx.TransportError:
            return None
        return next(iter(answer.json()), None) if answer.is_success else None

    def _post(self, endpoint: str, body: dict[str, Any]) -> bool:
        return self._request("POST", endpoint, json=body)

    def _request(self, method: str, path: str, **options: Any) -> bool:
        try:
            return self._client.request(method, f"/data/ed-fi/{path}", **options).is_success
        except httpx.TransportError:  # The server was killed.
            return False

    def _student_id(self) -> str:
        return str(self._random.randrange(60))

    def _name(self) -> str:
        return f"Period {self._random.randrange(25)}"
