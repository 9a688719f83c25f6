"""Reading with edfi-api-client, which uses the paths of the ODS/API."""

import json

import pytest

from tests.tools.clients.conftest import Programs

pytestmark = pytest.mark.clients


@pytest.fixture(scope="module")
def found(programs: Programs) -> dict:
    return json.loads(programs.run("python", "ask_with_edfi_api_client.py"))


def test_it_recognises_the_server_and_its_standard(found: dict) -> None:
    assert found["ping"] == 200
    assert found["standard"] == "5.2.0"
    assert found["token_is_active"] is True


def test_it_finds_every_resource_and_descriptor_in_the_openapi_documents(found: dict) -> None:
    assert len(found["resources"]) == 138
    assert len(found["descriptors"]) == 211
    assert found["description"] == "The grades of schooling, from early education to adult education."
    assert "edFi_studentSchoolAssociation" in found["schemas"]


def test_it_counts_without_reading(found: dict) -> None:
    assert found["total_count"] == 51
    assert found["filtered_count"] == 1


@pytest.mark.parametrize("rows", ["rows_by_cursor", "rows_by_offset", "rows_by_choice"])
def test_it_reads_all_pages_by_offset_and_by_token(found: dict, rows: str) -> None:
    assert found[rows] == list(range(1990, 2041))


def test_it_reads_one_item_by_id(found: dict) -> None:
    assert found["by_id"] == found["first"] == 1990
