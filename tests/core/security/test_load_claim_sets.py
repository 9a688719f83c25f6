"""Claims from files, bundled claims, and claims of resources of extensions."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from edfi_api.core.security.checks import resources_have_claims
from edfi_api.core.security.claims.file import NAMESPACES, RELATIONSHIPS, UNSECURED, fill_claims
from edfi_api.core.security.models import ClaimSet, Grant, OverridingStrategies, ResourceClaim
from edfi_api.model.surface.resource import Surface

pytestmark = pytest.mark.django_db


@pytest.fixture
def load(tmp_path: Path):
    def run(content: object, *options: str) -> list[str]:
        file, out = tmp_path / "claims.json", StringIO()
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        call_command("load_claim_sets", str(file), *options, stdout=out)
        return out.getvalue().splitlines()

    return run


CLAIMS = {
    "resourceClaims": [
        {
            "name": "domains/people",
            "defaults": {"Read": ["RelationshipsWithPeopleOnly"]},
            "children": ["http://ed-fi.org/identity/claims/ed-fi/person"],
        }
    ],
    "claimSets": [
        {
            "name": "Ours",
            "description": "For our own tools.",
            "grants": [
                {
                    "claims": ["domains/people"],
                    "actions": ["Read", "Update"],
                    "strategies": {"Update": ["OwnershipBased"]},
                },
                {"claims": ["ed-fi/notThere"], "actions": ["Read"]},
            ],
        }
    ],
}


def test_every_change_is_reported_and_a_second_load_changes_nothing(load) -> None:
    lines = load(CLAIMS)

    assert "+ claim set Ours" in lines
    assert "+ Ours: domains/people: Read by the defaults" in lines
    assert "+ Ours: domains/people: Update by OwnershipBased" in lines
    assert "~ resource claim ed-fi/person: moved from domains/relationshipBasedData to domains/people" in lines
    assert "- default of domains/people: Update by RelationshipsWithEdOrgsAndPeople" in lines
    assert "Left out, as there are no such resources: ed-fi/notThere" in lines
    assert load(CLAIMS)[-1] == "0 changes."


def test_a_dry_run_reports_the_same_and_changes_nothing(load) -> None:
    tried = load(CLAIMS, "--dry-run")

    assert not ClaimSet.objects.filter(name="Ours").exists()
    assert tried[:-1] == load(CLAIMS)[:-1]


def test_claims_outside_the_file_stay_unchanged(load) -> None:
    before = Grant.objects.filter(claim_set__name="SISVendor").count()

    load(CLAIMS)

    assert Grant.objects.filter(claim_set__name="SISVendor").count() == before


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "Input data was truncated"),
        ("[]", "Expected `object`, got `array`"),
        ({"claimSet": []}, "unknown field `claimSet`"),
        (
            {"claimSets": [{"name": "A", "grants": [{"claims": ["x/y"], "actions": ["Write"]}]}]},
            "Invalid enum value 'Write'",
        ),
        (
            {"claimSets": [{"name": "A", "grants": []}, {"name": "A", "grants": []}]},
            "more than one claim set of this name: A",
        ),
        (
            {"claimSets": [{"name": "A", "grants": [{"claims": ["x/y", "x/y"], "actions": []}]}]},
            "more than one claim in claim set A of this name: x/y",
        ),
        (
            {"claimSets": [{"name": "A", "grants": [{"claims": ["domains/nowhere"], "actions": []}]}]},
            "there is no such resource claim: domains/nowhere",
        ),
        (
            {
                "claimSets": [
                    {"name": "A", "grants": [{"claims": ["x/y"], "actions": [], "strategies": {"Read": ["Own"]}}]}
                ]
            },
            "there are strategies for Read, which is not granted",
        ),
        ({"resourceClaims": [{"name": "x/y", "defaults": ["Not a name"]}]}, "Expected `str` matching regex"),
        ({"resourceClaims": [{"name": "x/y", "defaults": {"Read": ["A\n"]}}]}, "Expected `str` matching regex"),
        (
            {
                "resourceClaims": [{"name": "x/y", "defaults": {"Read": ["StudentWithCTECourseEnrollments"]}}],
                "claimSets": [
                    {
                        "name": "A",
                        "grants": [
                            {
                                "claims": ["x/y"],
                                "actions": ["Read", "ReadChanges"],
                                "strategies": ["RelationshipsWithEdOrgsAndPeople", "NamespaceBased"],
                            }
                        ],
                    }
                ],
            },
            "there are no such strategies: Read of x/y by StudentWithCTECourseEnrollments; "
            "ReadChanges of x/y in A by RelationshipsWithEdOrgsAndPeople",
        ),
    ],
)
def test_an_invalid_file_is_reported(load, content: object, reason: str) -> None:
    with pytest.raises(CommandError) as refusal:
        load(content)

    assert reason in str(refusal.value)


@pytest.mark.parametrize(
    ("names", "reported"),
    [
        (["sisVENDOR"], "there are claim sets with these names in other case: SISVendor"),
        (["Ours", "OURS"], "names of claim sets differ in case only: OURS, Ours"),
    ],
)
def test_names_that_are_taken_in_other_case_are_reported(load, names: list[str], reported: str) -> None:
    with pytest.raises(CommandError) as refusal:
        load({"claimSets": [{"name": name, "grants": []} for name in names]})

    assert str(refusal.value) == reported
    assert ClaimSet.objects.count() == 10


def test_an_unusable_custom_view_is_reported(load) -> None:
    """A name of this form denotes a view; other names need not be registered."""
    with pytest.raises(CommandError) as refusal:
        load({"resourceClaims": [{"name": "x/y", "defaults": {"Read": ["StudentWithPets", "Petting"]}}]})

    assert str(refusal.value).endswith(
        "Read of x/y by StudentWithPets, Petting. A custom view (auth.studentwithpets) has to be in the database, "
        "readable by the server, with a column document_uuid of type uuid, and its name has to begin with a resource."
    )


def test_a_missing_file_is_reported() -> None:
    with pytest.raises(CommandError, match=r"nowhere\.json: No such file"):
        call_command("load_claim_sets", "nowhere.json")
    with pytest.raises(CommandError, match="Name a file, or say --bundled"):
        call_command("load_claim_sets")


def test_a_new_database_has_the_bundled_claims() -> None:
    out = StringIO()

    call_command("load_claim_sets", "--bundled", stdout=out)

    assert out.getvalue().splitlines()[-1] == "0 changes."
    assert ClaimSet.objects.count() == 10


def test_local_changes_survive_the_next_start_and_can_be_undone(surface: Surface) -> None:
    ClaimSet.objects.get(name="FullAccess").delete()
    Grant.objects.filter(claim_set__name="RosterVendor", resource_claim__name="ed-fi/staff").update(actions=["Create"])

    fill_claims(surface)

    assert not ClaimSet.objects.filter(name="FullAccess").exists()
    out = StringIO()
    call_command("load_claim_sets", "--bundled", stdout=out)
    assert "+ claim set FullAccess" in out.getvalue()
    assert "- RosterVendor: ed-fi/staff: Create by the defaults" in out.getvalue()


def test_a_resource_without_a_claim_is_reported_and_gets_one_at_the_next_start(surface: Surface) -> None:
    ResourceClaim.objects.get(name="ed-fi/grade").delete()
    assert [warning.msg for warning in resources_have_claims(["default"])] == [
        "There is no resource claim for: ed-fi/grade"
    ]

    fill_claims(surface)

    assert resources_have_claims(["default"]) == []
    assert ResourceClaim.objects.get(name="ed-fi/grade").parent.name == RELATIONSHIPS


def test_resources_with_only_a_namespace_are_in_the_namespace_domain(standard: str) -> None:
    expected = RELATIONSHIPS if standard == "3.3.1-b" else NAMESPACES

    assert ResourceClaim.objects.get(name="ed-fi/gradebookEntry").parent.name == expected


def test_resources_without_default_grants_are_reported() -> None:
    claim = ResourceClaim.objects.get(name="ed-fi/grade")
    claim.parent = ResourceClaim.objects.get(name=UNSECURED)
    claim.save()

    (warning,) = resources_have_claims(["default"])

    assert warning.msg.endswith("do not reach: ed-fi/grade")


def test_unknown_strategies_are_reported() -> None:
    """As in a claim set of an older server, or one written directly to the database."""
    OverridingStrategies.objects.create(
        grant=Grant.objects.get(claim_set__name="RosterVendor", resource_claim__name="ed-fi/staff"),
        action="Read",
        strategies=["NamespaceBased", "StaffWithBadges"],
    )

    assert [warning.msg for warning in resources_have_claims(["default"])] == [
        "There are no such strategies: Read of ed-fi/staff in RosterVendor by StaffWithBadges"
    ]


def test_default_strategies_without_elements_are_reported() -> None:
    claim = ResourceClaim.objects.get(name="ed-fi/grade")
    claim.parent = ResourceClaim.objects.get(name=NAMESPACES)
    claim.save()

    assert [warning.msg for warning in resources_have_claims(["default"])] == [
        "Default strategies lack the element they need in: ed-fi/grade"
    ]
