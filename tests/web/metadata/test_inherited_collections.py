"""What resources inherit is found in every data standard, also where an extension adds to items in one subclass."""

from pathlib import Path

import pytest

from edfi_api.model.surface.resource import ResourceName
from edfi_api.web.metadata.components import inherited_collections
from tests.support.serving import LAKE_COUNTY, OTHERS_MARKED, served

ORGANIZATION = [
    "Address",
    "Category",
    "IdentificationCode",
    "Indicator",
    "InstitutionTelephone",
    "InternationalAddress",
]


def items_by_resource(standard: str, *extensions: Path) -> dict[str, list[str]]:
    found = inherited_collections(served(standard, *extensions).surface)
    return {name.resource: sorted(each.item for each in collections.values()) for name, collections in found.items()}


@pytest.mark.parametrize("standard", OTHERS_MARKED)
def test_all_subclasses_inherit_the_same(standard: str) -> None:
    items = items_by_resource(standard)

    # Of 6.1 the key of an identification code has the type of its organization.
    of_organizations = [each for each in ORGANIZATION if standard != "6.1" or each != "IdentificationCode"]
    assert items["School"] == items["LocalEducationAgency"] == of_organizations
    assert {tuple(each) for each in items.values()} == {tuple(of_organizations), ("ProgramParticipationStatus",)}


def test_one_that_an_extension_changes_in_one_subclass_is_that_of_the_subclass() -> None:
    items = items_by_resource("5.2", LAKE_COUNTY)

    assert "Address" not in items["School"]
    assert items["LocalEducationAgency"] == items["SailingSchool"] == ORGANIZATION
    assert items["StudentSailingProgramAssociation"] == ["ProgramParticipationStatus"]
    assert items["Ferry"] == items["Raft"] == []


def test_what_a_subclass_has_besides_is_its_own() -> None:
    school = inherited_collections(served("5.2").surface)[ResourceName("Ed-Fi", "School")]

    assert school["addresses",].superclass == ResourceName("Ed-Fi", "EducationOrganization")
    assert ("gradeLevels",) not in school
