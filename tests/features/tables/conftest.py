"""Tables as people make them, and a school to which their rows belong."""

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from edfi_api.core.models import Document
from edfi_api.core.security.clients import create_client
from edfi_api.core.security.models import ApiClient

ED_FI = "uri://ed-fi.org"
NINTH = f"{ED_FI}/GradeLevelDescriptor#Ninth grade"
CATEGORY = f"{ED_FI}/EducationOrganizationCategoryDescriptor#School"


def xlsx(*rows: Sequence[Any], title: str = "Sheet1") -> bytes:
    """A spreadsheet with these rows."""
    book = Workbook()
    sheet = book.active
    sheet.title = title
    for row in rows:
        sheet.append(list(row))
    return saved(book)


def saved(book: Workbook) -> bytes:
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def bodies(resource: str) -> list[dict[str, Any]]:
    return list(Document.objects.filter(resource_type__name=resource).order_by("id").values_list("body", flat=True))


def descriptor(api: Any, endpoint: str, code_value: str, namespace: str = "", **members: str) -> None:
    name = endpoint[0].upper() + endpoint[1:-1]
    body = {
        "namespace": namespace or f"{ED_FI}/{name}",
        "codeValue": code_value,
        "shortDescription": code_value,
        **members,
    }
    assert api.post(f"/{endpoint}", body).status_code == 201


@pytest.fixture
def school(api) -> None:
    """School 7 with the ninth grade, and two students."""
    descriptor(api, "gradeLevelDescriptors", "Ninth grade")
    descriptor(api, "gradeLevelDescriptors", "Tenth grade")
    descriptor(api, "educationOrganizationCategoryDescriptors", "School")
    body = {
        "schoolId": 7,
        "nameOfInstitution": "Lark Meadow High",
        "educationOrganizationCategories": [{"educationOrganizationCategoryDescriptor": CATEGORY}],
        "gradeLevels": [{"gradeLevelDescriptor": NINTH}],
    }
    assert api.post("/schools", body).status_code == 201
    for number, name in (("0042", "Mae"), ("604822", "Ada")):
        student = {"studentUniqueId": number, "firstName": name, "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
        assert api.post("/students", student).status_code == 201


@pytest.fixture
def client_with(db) -> Callable[..., ApiClient]:
    """Makes an API client with a claim set and organizations."""

    def make(name: str = "office", claim_set: str = "EdFiSandbox", *organizations: int) -> ApiClient:
        credentials = create_client(name, claim_set, organizations)
        return ApiClient.objects.get(client_id=credentials.key)

    return make


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str, bytes], Path]:
    """Writes a file, and returns its path."""

    def write(name: str, content: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


@pytest.fixture
def client_with_any(client_with: Callable[..., ApiClient]) -> ApiClient:
    """A client that may write everything."""
    return client_with()
