"""A client that sends batches."""

import gzip
import json
from typing import Any

import pytest

from tests.conftest import ApiTestClient, http

ED_FI = "uri://ed-fi.org"


class BatchClient:
    """Sends batches with the token of a client; `answer` has the results without the summary."""

    def __init__(self, token: str) -> None:
        self.token = token
        self.api = ApiTestClient(token)

    def send(self, operations: Any, path: str = "/batch", content_type: str = "application/json", **extra: Any):
        query = "&".join(
            f"{name.rstrip('_')}={extra.pop(name)}" for name in ("mode", "order", "return_") if name in extra
        )
        sent = operations if isinstance(operations, bytes) else json.dumps(operations).encode()
        # Django's client sends no Content-Type for an empty body.
        headers = {"HTTP_AUTHORIZATION": f"Bearer {self.token}", "CONTENT_TYPE": content_type} | extra
        return http().post(f"{path}?{query}" if query else path, sent, content_type=content_type, **headers)

    def lines(self, operations: Any, **extra: Any):
        text = "\n".join(json.dumps(operation) for operation in operations).encode()
        return self.send(text, content_type="application/x-ndjson", **extra)

    def gzipped(self, operations: Any, **extra: Any):
        return self.send(gzip.compress(json.dumps(operations).encode()), HTTP_CONTENT_ENCODING="gzip", **extra)

    def results(self, operations: Any, **extra: Any) -> list[dict[str, Any]]:
        """The results of a batch that is answered with 200."""
        response = self.send(operations, **extra)
        assert response.status_code == 200, response.content
        *results, summary = parts(response)
        assert set(summary) == {"summary"}
        return results

    def independent(self, *operations: Any, **extra: Any) -> list[dict[str, Any]]:
        return self.results(list(operations), mode="independent", **extra)

    def statuses(self, *operations: Any, **extra: Any) -> list[int]:
        return [result["status"] for result in self.independent(*operations, **extra)]


def parts(response: Any) -> list[dict[str, Any]]:
    """The results and the summary, from either form."""
    content = b"".join(response.streaming_content) if response.streaming else response.content
    if response["Content-Type"] == "application/x-ndjson":
        return [json.loads(line) for line in content.splitlines()]
    return json.loads(content)


@pytest.fixture
def batch(api) -> BatchClient:
    """A client of the sandbox; bodies and rows must agree at the end of the test."""
    return BatchClient(api.token)


def descriptor(resource: str, code_value: str, **members: Any) -> dict[str, Any]:
    document = {"namespace": f"{ED_FI}/{resource}", "codeValue": code_value, "shortDescription": code_value}
    return {"resource": resource, "document": document} | members


def student(number: int, **changes: Any) -> dict[str, Any]:
    document = {
        "studentUniqueId": f"S{number}",
        "birthDate": "2010-01-13",
        "firstName": "Mae",
        "lastSurname": "Ortiz",
    }
    return {"resource": "/ed-fi/students", "document": document | changes}


def school(number: int, **changes: Any) -> dict[str, Any]:
    document = {
        "schoolId": number,
        "nameOfInstitution": f"School {number}",
        "educationOrganizationCategories": [
            {"educationOrganizationCategoryDescriptor": f"{ED_FI}/EducationOrganizationCategoryDescriptor#School"}
        ],
        "gradeLevels": [{"gradeLevelDescriptor": f"{ED_FI}/GradeLevelDescriptor#Ninth grade"}],
    }
    return {"resource": "/ed-fi/schools", "document": document | changes}


def period(name: str, number: int = 1, **changes: Any) -> dict[str, Any]:
    document = {"classPeriodName": name, "schoolReference": {"schoolId": number}}
    return {"resource": "/ed-fi/classPeriods", "document": document | changes}


def enrolment(number: int, school_number: int = 1, **changes: Any) -> dict[str, Any]:
    document = {
        "studentReference": {"studentUniqueId": f"S{number}"},
        "schoolReference": {"schoolId": school_number},
        "entryDate": "2025-08-20",
        "entryGradeLevelDescriptor": f"{ED_FI}/GradeLevelDescriptor#Ninth grade",
    }
    return {"resource": "/ed-fi/studentSchoolAssociations", "document": document | changes}


DESCRIPTORS = [
    descriptor("EducationOrganizationCategoryDescriptor", "School"),
    descriptor("GradeLevelDescriptor", "Ninth grade"),
]
