"""Resource claims are understood by the names of the ODS/API, with a project and without, wherever they are named."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from edfi_api.core.security.claims.compile import granted_strategies
from edfi_api.core.security.claims.exchange import imported
from edfi_api.core.security.claims.model import ClaimNames
from edfi_api.core.security.claims.stored_claims import stored_claims
from edfi_api.core.security.models import ClaimSet, ResourceClaim
from tests.support.serving import LAKE_COUNTY, served

pytestmark = pytest.mark.django_db
ODS = "http://ed-fi.org/ods/identity/claims"
CURRENT = "http://ed-fi.org/identity/claims"


@pytest.mark.parametrize(
    ("spelt", "name"),
    [
        (f"{CURRENT}/ed-fi/student", "ed-fi/student"),
        (f"{CURRENT}/student", "ed-fi/student"),
        (f"{ODS}/student", "ed-fi/student"),
        (f"{ODS}/ed-fi/student", "ed-fi/student"),
        ("student", "ed-fi/student"),
        (f"{CURRENT}/StudentSchoolAssociation", "ed-fi/studentSchoolAssociation"),
        (f"{CURRENT}/absenceEventCategoryDescriptor", "ed-fi/absenceEventCategoryDescriptor"),
        (f"{ODS}/domains/people", "domains/people"),
        (f"{ODS}/services/identity", "services/identity"),
        (f"{CURRENT}/notThere", "notThere"),
        ("https://example.org/scope/roster", "https://example.org/scope/roster"),
    ],
)
def test_a_name_stands_for_one_claim(surface, spelt, name) -> None:
    assert ClaimNames(surface).all_of(spelt) == [name]


def test_a_name_without_a_project_stands_for_resources_of_extensions_too() -> None:
    assert ClaimNames(served("5.2", LAKE_COUNTY).surface).all_of(f"{CURRENT}/pier") == ["lake-county/pier"]


def test_a_claim_of_another_data_standard_is_found_by_its_stored_name(surface) -> None:
    assert ClaimNames(surface, ["ed-fi/parent"]).one_of(f"{ODS}/parent") == "ed-fi/parent"


FILE = {
    "resourceClaims": [
        {
            "name": f"{ODS}/domains/people",
            "defaults": {"Read": ["RelationshipsWithPeopleOnly"]},
            "children": [f"{ODS}/person", {"name": "staff", "defaults": {"Read": ["NamespaceBased"]}}],
        }
    ],
    "claimSets": [{"name": "Ours", "grants": [{"claims": ["course", f"{ODS}/person"], "actions": ["Read"]}]}],
}
GRANTED = {
    "ed-fi/course": {"Read": ("RelationshipsWithEdOrgsAndPeople",)},
    "ed-fi/person": {"Read": ("NoFurtherAuthorizationRequired",)},
}


def assert_loaded() -> None:
    claims = stored_claims().resource_claims
    assert claims["ed-fi/person"].parent == "domains/people"
    assert claims["ed-fi/staff"].defaults == {"Read": ("NamespaceBased",)}
    assert not ResourceClaim.objects.filter(name__in=["person", "staff", "course"]).exists()
    granted = granted_strategies(ClaimSet.objects.get(name="Ours"))
    assert set(granted) == {"ed-fi/course", "ed-fi/person"}


def test_files_of_claim_sets(tmp_path) -> None:
    (tmp_path / "claims.json").write_text(json.dumps(FILE))

    call_command("load_claim_sets", str(tmp_path / "claims.json"), stdout=StringIO())

    assert_loaded()


def test_imports_of_a_claim_set(surface) -> None:
    sent = [
        {"claimname": f"{ODS}/course", "parentclaimname": f"{ODS}/domains/relationshipBasedData",
         "actions": [{"name": "Read"}]},
        {"name": "staff", "actions": [{"name": "Update"}]},
    ]  # fmt: skip

    found = imported("Ours", sent, stored_claims(), surface)

    assert found.grants == {"ed-fi/course": {"Read": ()}, "ed-fi/staff": {"Update": ()}}
    assert found.warnings == []
