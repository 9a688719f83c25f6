"""Subclass documents, and the abstract resources that references may name."""

from edfi_api.model.surface.resource import ResourceName
from tests.model.surface.models import SurfaceOf, named, texts
from tests.model.surface.sample_models import ORGANIZATIONS, PROGRAMS


def test_a_subclass_has_the_members_of_its_superclass_but_not_the_renamed_one(surface_of: SurfaceOf) -> None:
    school = named(surface_of(ORGANIZATIONS), "School")

    assert list(school.json_schema["properties"]) == ["schoolId", "motto", "nameOfInstitution"]
    assert school.json_schema["required"] == ["nameOfInstitution", "schoolId"]
    assert texts(school.identity) == ["$.schoolId"]


def test_a_subclass_has_a_second_identity_under_the_old_name(surface_of: SurfaceOf) -> None:
    school = named(surface_of(ORGANIZATIONS), "School")

    assert school.superclass is not None
    assert school.superclass.name == ResourceName("Ed-Fi", "EducationOrganization")
    assert [(str(pair.here), str(pair.there)) for pair in school.superclass.identity] == [
        ("$.schoolId", "$.educationOrganizationId")
    ]


def test_an_abstract_entity_has_no_endpoint_but_is_a_target(surface_of: SurfaceOf) -> None:
    surface = surface_of(ORGANIZATIONS)

    (abstract,) = surface.abstract_resources
    (reference,) = named(surface, "Course").references

    assert abstract.name == ResourceName("Ed-Fi", "EducationOrganization")
    assert texts(abstract.identity) == ["$.educationOrganizationId"]
    assert abstract.subclasses == (ResourceName("Ed-Fi", "School"),)
    assert ("ed-fi", "educationorganizations") not in surface.by_endpoint
    assert reference.target == abstract.name
    assert [(str(pair.here), str(pair.there)) for pair in reference.identity] == [
        ("$.educationOrganizationReference.educationOrganizationId", "$.educationOrganizationId")
    ]


def test_an_association_subclass_keeps_the_identity_of_its_superclass(surface_of: SurfaceOf) -> None:
    association = named(surface_of(PROGRAMS), "StudentCTEProgramAssociation")

    identity = ["$.programReference.programName", "$.studentReference.studentCode"]
    assert texts(association.identity) == identity
    assert association.superclass is not None
    assert association.superclass.name.resource == "GeneralStudentProgramAssociation"
    assert [(str(pair.here), str(pair.there)) for pair in association.superclass.identity] == list(
        zip(identity, identity, strict=True)
    )
    assert association.endpoint == "studentCTEProgramAssociations"


def test_the_general_program_association_is_abstract(surface_of: SurfaceOf) -> None:
    surface = surface_of(PROGRAMS)

    assert [abstract.name.resource for abstract in surface.abstract_resources] == ["GeneralStudentProgramAssociation"]
    assert ("ed-fi", "generalstudentprogramassociations") not in surface.by_endpoint
    assert named(surface, "Visit").references[0].target.resource == "GeneralStudentProgramAssociation"


def test_a_superclass_with_documents_of_its_own_is_its_own_target(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Vehicle
  string PlateNumber is part of identity
Domain Entity Bus based on Vehicle
  string BusNumber renames identity property PlateNumber
Domain Entity Trip
  string TripCode is part of identity
  domain entity Vehicle is required
""")

    assert surface.abstract_resources == ()
    assert named(surface, "Trip").references[0].target == ResourceName("Ed-Fi", "Vehicle")
    assert named(surface, "Bus").superclass is not None
    assert named(surface, "Bus").superclass.name == ResourceName("Ed-Fi", "Vehicle")


def test_only_the_declaration_determines_whether_the_identity_may_change(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Vehicle
  allow primary key updates
  string PlateNumber is part of identity
Domain Entity Bus based on Vehicle
  string BusNumber renames identity property PlateNumber
""")

    assert named(surface, "Vehicle").allows_identity_updates
    assert not named(surface, "Bus").allows_identity_updates
