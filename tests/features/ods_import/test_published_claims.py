"""A published EdFi_Security: most of its resource claims are named without a project."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from edfi_api.core.data_stores.stores import create_tenant
from edfi_api.core.security.claims.compile import granted_strategies
from edfi_api.core.security.claims.stored_claims import stored_claims
from edfi_api.core.security.models import ClaimSet, ResourceClaim
from tests.conftest import DATA, ApiTestClient, new_token
from tests.features.ods_import.ods import Ods
from tests.features.ods_import.published_security import ACTIONS, EARLIER_BEGINNING, fill, grant

pytestmark = pytest.mark.django_db


def import_clients(admin: Ods, security: Ods, *options: str) -> tuple[list[str], str]:
    """The lines of the command, and why it failed."""
    out, reason = StringIO(), ""
    try:
        databases = ("--admin", admin.address, "--security", security.address)
        call_command("import_ods", "clients", *databases, *options, stdout=out)
    except CommandError as error:
        reason = str(error)
    return out.getvalue().splitlines(), reason


@pytest.fixture
def published(admin: Ods, security: Ods) -> dict[str, int]:
    security.empty()
    numbers = fill(security)
    others = ("crisisEvent", "educationContent", "studentHealth")
    everything = [number for name, number in numbers.items() if name.startswith("domains/") or name in others]
    grant(security, "EdFiSandbox", everything, ACTIONS)
    grant(security, "Roster", [numbers["course"], numbers["school"]], ["Read"])
    grant(security, "Bell", [numbers["bellSchedule"]], ["Read", "Update"])
    return numbers


def test_claims_without_a_project_have_their_parents_grants_and_default_strategies(admin, security, published) -> None:
    import_clients(admin, security)

    claims = stored_claims().resource_claims
    assert claims["ed-fi/course"].parent == "domains/relationshipBasedData"
    assert claims["ed-fi/course"].defaults == {
        "Read": ("RelationshipsWithEdOrgsAndPeople", "RelationshipsWithEdOrgsAndPeopleInverted")
    }
    assert claims["ed-fi/studentAssessmentEducationOrganizationAssociation"].parent == "domains/relationshipBasedData"
    assert claims["ed-fi/absenceEventCategoryDescriptor"].parent == "domains/systemDescriptors"
    assert not ResourceClaim.objects.filter(name__in=["course", "school", "bellSchedule"]).exists()
    assert granted_strategies(ClaimSet.objects.get(name="Roster")) == {
        "ed-fi/course": {"Read": ("RelationshipsWithEdOrgsAndPeople", "RelationshipsWithEdOrgsAndPeopleInverted")},
        "ed-fi/school": {"Read": ("NoFurtherAuthorizationRequired",)},
    }
    assert granted_strategies(ClaimSet.objects.get(name="Bell")) == {
        "ed-fi/bellSchedule": {
            "Read": ("RelationshipsWithEdOrgsAndPeople",),
            "Update": ("RelationshipsWithEdOrgsAndPeople",),
        }
    }


@pytest.mark.parametrize("claim_set", ["FullAccess", "EdFiSandbox"])
def test_clients_of_claim_sets_of_everything_may_read_everything(
    admin, security, published, surface, claim_set
) -> None:
    import_clients(admin, security)

    of_client = {"namespace_prefixes": ["uri://ed-fi.org"], "education_organization_ids": [255901]}
    api = ApiTestClient(new_token("one", claim_set, **of_client))
    endpoints = [resource.endpoint for resource in surface.resources if resource.project_endpoint == "ed-fi"]
    answers = {endpoint: api.get(f"{DATA}/{endpoint}").status_code for endpoint in endpoints}
    assert [endpoint for endpoint, status in answers.items() if status != 200] == []


def test_only_what_has_no_place_here_is_lost(admin, security, published) -> None:
    grant(security, "Snapshots", [published["publishing/snapshot"]], ["Read", "Delete"])
    grant(security, "OneRoster", [published["https://purl.imsglobal.org/spec/or/v1p2/scope/roster"]], ["Read"])

    out, reason = import_clients(admin, security)

    assert reason == "not all was imported: 5 things lost"
    assert [line for line in out if line.startswith("lost: ")] == [
        "lost: OneRoster: Read of https://purl.imsglobal.org/spec/or/v1p2/scope/roster: there is no such resource",
        "lost: ReadChanges of domains/finance/locals by default: there is no strategy RelationshipsWithEdOrgsAndPeople",
        "lost: ReadChanges of ed-fi/studentHealth by default: there is no strategy RelationshipsWithEdOrgsAndPeople",
        "lost: Snapshots: Delete of publishing/snapshot: there is no such resource",
        "lost: Snapshots: Read of publishing/snapshot: there is no such resource",
    ]


def test_names_of_an_earlier_version_are_those_of_the_same_claims(admin, security) -> None:
    security.empty()
    numbers = fill(security, EARLIER_BEGINNING)
    grant(security, "Roster", [numbers["course"]], ["Read"])

    import_clients(admin, security)

    assert granted_strategies(ClaimSet.objects.get(name="Roster")) == {
        "ed-fi/course": {"Read": ("RelationshipsWithEdOrgsAndPeople", "RelationshipsWithEdOrgsAndPeopleInverted")},
    }
    assert not ResourceClaim.objects.filter(name__contains="://").exists()


def test_strategies_that_the_ods_has_for_changes_are_kept_if_its_ways_are(admin, security, published, settings) -> None:
    settings.EDFI_API = settings.EDFI_API | {"COMPATIBILITY": "ods"}

    _, reason = import_clients(admin, security)

    assert reason == ""
    assert stored_claims().resource_claims["ed-fi/studentHealth"].defaults["ReadChanges"] == (
        "RelationshipsWithEdOrgsAndPeople",
    )
    organizations = {"education_organization_ids": [255901]}
    api = ApiTestClient(new_token("one", "EdFiSandbox", **organizations))
    assert api.get("/studentHealths/deletes").json() == []


def test_a_second_import_changes_nothing(admin, security, published) -> None:
    import_clients(admin, security)

    out, _ = import_clients(admin, security)

    assert "0 changes" in out


def test_what_lies_nowhere_there_never_comes_into_a_claim_that_is_granted_there(admin, security) -> None:
    """Here `crisisEvent` is moved into a domain that the ODS grants without it."""
    security.empty()
    numbers = fill(security)
    grant(security, "Data", [numbers["domains/relationshipBasedData"]], ["Read"])
    domain = ResourceClaim.objects.get(name="domains/relationshipBasedData")
    ResourceClaim.objects.filter(name="ed-fi/crisisEvent").update(parent=domain)

    import_clients(admin, security)

    assert stored_claims().resource_claims["ed-fi/crisisEvent"].parent == "domains/everything"
    assert "ed-fi/crisisEvent" not in granted_strategies(ClaimSet.objects.get(name="Data"))


def test_claims_that_contain_themselves_stop_the_import(admin, security) -> None:
    security.run("UPDATE dbo.resourceclaims SET parentresourceclaimid = 2 WHERE resourceclaimid = 1")

    _, reason = import_clients(admin, security)

    assert reason in {
        "the source cannot be read: the resource claim domains/people contains itself",
        "the source cannot be read: the resource claim ed-fi/student contains itself",
    }


def test_a_claim_named_with_and_without_its_project_has_what_both_say(admin, security) -> None:
    security.run(
        "INSERT INTO dbo.resourceclaims VALUES (7, '', 'http://ed-fi.org/identity/claims/student', 1);"
        "INSERT INTO dbo.claimsetresourceclaimactions VALUES (7, 1, 7, 3, NULL), (8, 1, 7, 1, NULL);"
        "INSERT INTO dbo.actions VALUES (3, 'Delete', '');"
        "INSERT INTO dbo.resourceclaimactions VALUES (7, 1, 3, NULL);"
        "INSERT INTO dbo.resourceclaimactionauthorizationstrategies VALUES (7, 7, 2)"
    )

    import_clients(admin, security)

    assert granted_strategies(ClaimSet.objects.get(name="Roster vendor"))["ed-fi/student"] == {
        "Create": ("NamespaceBased",),
        "Read": ("NoFurtherAuthorizationRequired",),
        "Delete": ("NamespaceBased",),
    }


def test_a_tenant_keeps_the_resource_claims_and_the_claim_sets_that_all_share(
    admin, security, published, settings
) -> None:
    settings.EDFI_API = settings.EDFI_API | {"MULTI_TENANCY": True}
    create_tenant("One")
    security.run(
        "INSERT INTO dbo.resourceclaims VALUES (999, '', 'http://ed-fi.org/identity/claims/domains/pets', NULL)"
    )
    grant(security, "Pets", [999, published["course"]], ["Read"])
    grant(security, "ROSTER", [published["course"]], ["Read"])

    out, reason = import_clients(admin, security, "--tenant", "One")

    assert reason == "not all was imported: 3 things lost"
    assert "lost: Pets: Read of domains/pets: there is no such resource claim" in out
    assert "conflict: claim set EdFiSandbox: one that all tenants share has the name, and stays" in out
    assert "conflict: claim set Roster: ROSTER is here already, and stays" in out
    assert list(ClaimSet.objects.filter(tenant__name="One").values_list("name", flat=True)) == [
        "Bell",
        "Pets",
        "ROSTER",
    ]
