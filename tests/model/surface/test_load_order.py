"""The order in which resources are loaded."""

from edfi_api.model.surface.load_order import load_batches
from edfi_api.model.surface.resource import Surface
from tests.model.surface.models import SurfaceOf


def batches(surface: Surface) -> list[list[str]]:
    return [
        [resource.endpoint for resource in batch]
        for batch in load_batches(surface.resources, surface.abstract_resources)
    ]


def test_targets_come_before_referrers(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Section
  string SectionIdentifier is part of identity
  domain entity School is required
  common Part is optional collection
Common Part
  domain entity Room is part of identity
Domain Entity School
  integer SchoolId is part of identity
  descriptor Color is optional
Domain Entity Room
  string RoomCode is part of identity
Descriptor Color
""")

    assert batches(surface) == [["colorDescriptors", "rooms"], ["schools"], ["sections"]]
    assert [resource.endpoint for resource in surface.resources] == ["colorDescriptors", "rooms", "schools", "sections"]


def test_a_reference_to_a_superclass_comes_after_all_subclasses(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        """
Abstract Entity EducationOrganization
  integer EducationOrganizationId is part of identity
Domain Entity Agency based on EducationOrganization
  integer AgencyId renames identity property EducationOrganizationId
Domain Entity Course
  string CourseCode is part of identity
  domain entity EducationOrganization is part of identity
""",
        Sample="""
Domain Entity Academy based on EdFi.EducationOrganization
  integer AcademyId renames identity property EducationOrganizationId
""",
    )

    assert batches(surface) == [["agencies", "academies"], ["courses"]]


def test_a_reference_of_a_resource_to_itself_is_ignored(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Agency
  integer AgencyId is part of identity
  domain entity Agency is optional role name Parent
""")

    assert batches(surface) == [["agencies"]]


def test_optional_references_are_ignored_in_a_cycle(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Apple
  string AppleCode is part of identity
  domain entity Banana is required
  domain entity Cherry is optional
Domain Entity Banana
  string BananaCode is part of identity
  domain entity Apple is optional
Domain Entity Cherry
  string CherryCode is part of identity
""")

    assert batches(surface) == [["bananas", "cherries"], ["apples"]]


def test_a_cycle_of_required_references_is_broken(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Abstract Entity EducationOrganization
  integer EducationOrganizationId is part of identity
Domain Entity Agency based on EducationOrganization
  integer AgencyId renames identity property EducationOrganizationId
  domain entity EducationOrganization is required
Domain Entity Academy based on EducationOrganization
  integer AcademyId renames identity property EducationOrganizationId
  domain entity EducationOrganization is required
Domain Entity Course
  string CourseCode is part of identity
  domain entity EducationOrganization is part of identity
""")

    assert batches(surface) == [["academies", "agencies"], ["courses"]]


def test_references_of_additions_are_references_of_the_extended_resource(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        """
Domain Entity School
  integer SchoolId is part of identity
""",
        Sample="""
Domain Entity Donor
  string DonorCode is part of identity
Domain Entity EdFi.School additions
  domain entity Donor is optional
""",
    )

    assert batches(surface) == [["donors"], ["schools"]]
