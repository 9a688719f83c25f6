"""Securable elements, and the hierarchy of organizations."""

from edfi_api.model.surface.resource import Resource
from tests.model.surface.models import SurfaceOf, named, texts

CORE = """
Abstract Entity EducationOrganization
  integer EducationOrganizationId is part of identity
Domain Entity LocalEducationAgency based on EducationOrganization
  integer LocalEducationAgencyId renames identity property EducationOrganizationId
  domain entity LocalEducationAgency is optional role name Parent
Domain Entity School based on EducationOrganization
  integer SchoolId renames identity property EducationOrganizationId
  domain entity LocalEducationAgency is optional
  domain entity Room is optional
Domain Entity OrganizationDepartment based on EducationOrganization
  integer OrganizationDepartmentId renames identity property EducationOrganizationId
  domain entity EducationOrganization is optional role name Parent
Domain Entity Room
  string RoomCode is part of identity
Domain Entity Student
  shared string UniqueId is part of identity role name Student
Domain Entity Contact
  shared string UniqueId is part of identity role name Contact
Domain Entity Staff
  shared string UniqueId is part of identity role name Staff
Association StudentSchoolAssociation
  domain entity Student
  domain entity School
Association StudentContactAssociation
  domain entity Student
  domain entity Contact
Domain Entity Program
  string ProgramName is part of identity
  domain entity EducationOrganization is part of identity
Association StudentProgramAssociation
  domain entity Student
  domain entity Program role name Program
  domain entity EducationOrganization is part of identity
  domain entity Staff is optional
Domain Entity DisciplineAction
  string DisciplineActionIdentifier is part of identity
  domain entity Student is part of identity
  domain entity School is required role name Responsibility
Domain Entity Survey
  string SurveyIdentifier is part of identity
  shared string URI named Namespace is part of identity
Domain Entity Answer
  string AnswerCode is part of identity
  domain entity Survey is optional collection
  shared string URI named Namespace is optional
Shared String UniqueId max length 32
Shared String URI max length 255
"""


def organizations(resource: Resource) -> list[tuple[str, str]]:
    return [(element.name, str(element.path)) for element in resource.securable_elements.education_organization]


def test_people_and_organizations_of_the_identity_are_securable(surface_of: SurfaceOf) -> None:
    association = named(surface_of(CORE), "StudentSchoolAssociation")

    assert texts(association.securable_elements.student) == ["$.studentReference.studentUniqueId"]
    assert organizations(association) == [("SchoolId", "$.schoolReference.schoolId")]


def test_an_organization_with_a_role_on_its_path_is_not_securable(surface_of: SurfaceOf) -> None:
    association = named(surface_of(CORE), "StudentProgramAssociation")

    assert organizations(association) == [
        ("EducationOrganizationId", "$.educationOrganizationReference.educationOrganizationId")
    ]


def test_only_identity_counts_for_people(surface_of: SurfaceOf) -> None:
    assert named(surface_of(CORE), "StudentProgramAssociation").securable_elements.staff == ()


def test_people_and_organizations_secure_their_own_documents(surface_of: SurfaceOf) -> None:
    surface = surface_of(CORE)

    assert texts(named(surface, "Student").securable_elements.student) == ["$.studentUniqueId"]
    assert texts(named(surface, "Staff").securable_elements.staff) == ["$.staffUniqueId"]
    assert texts(named(surface, "Contact").securable_elements.contact) == ["$.contactUniqueId"]
    assert organizations(named(surface, "School")) == [("SchoolId", "$.schoolId")]


def test_parents_of_older_standards_are_contacts(surface_of: SurfaceOf) -> None:
    parent = named(surface_of(CORE.replace("Contact", "Parent"), version="3.3.1-b"), "Parent")

    assert texts(parent.securable_elements.contact) == ["$.parentUniqueId"]


def test_a_mandatory_namespace_is_securable_at_any_path(surface_of: SurfaceOf) -> None:
    surface = surface_of(CORE)

    assert texts(named(surface, "Survey").securable_elements.namespace) == ["$.namespace"]
    assert texts(named(surface, "Answer").securable_elements.namespace) == ["$.surveys[*].surveyReference.namespace"]


def test_exemptions_name_another_reference_from_standard_4_on(surface_of: SurfaceOf) -> None:
    surface = surface_of(CORE, version="5.2.0")

    assert organizations(named(surface, "DisciplineAction")) == [
        ("ResponsibilitySchool", "$.responsibilitySchoolReference.schoolId")
    ]
    assert organizations(named(surface, "OrganizationDepartment")) == [
        ("ParentEducationOrganization", "$.parentEducationOrganizationReference.educationOrganizationId")
    ]


def test_exemptions_do_not_apply_to_older_standards(surface_of: SurfaceOf) -> None:
    surface = surface_of(CORE, version="3.3.1-b")

    assert organizations(named(surface, "DisciplineAction")) == []
    assert organizations(named(surface, "OrganizationDepartment")) == [
        ("OrganizationDepartmentId", "$.organizationDepartmentId")
    ]


def test_some_associations_are_authorization_paths(surface_of: SurfaceOf) -> None:
    surface = surface_of(CORE)

    assert named(surface, "StudentSchoolAssociation").authorization_pathways == (
        "StudentSchoolAssociationAuthorization",
    )
    assert named(surface, "StudentContactAssociation").authorization_pathways == ("ContactStudentSchoolAuthorization",)
    assert named(surface, "StudentProgramAssociation").authorization_pathways == ()


def test_organizations_list_their_parents(surface_of: SurfaceOf) -> None:
    hierarchy = surface_of(CORE).organizations

    assert [name.resource for name in hierarchy.types] == [
        "LocalEducationAgency",
        "School",
        "OrganizationDepartment",
        "EducationOrganization",
    ]
    assert [(p.type.resource, p.parent.resource, str(p.path)) for p in hierarchy.parents] == [
        (
            "LocalEducationAgency",
            "LocalEducationAgency",
            "$.parentLocalEducationAgencyReference.localEducationAgencyId",
        ),
        ("School", "LocalEducationAgency", "$.localEducationAgencyReference.localEducationAgencyId"),
        (
            "OrganizationDepartment",
            "EducationOrganization",
            "$.parentEducationOrganizationReference.educationOrganizationId",
        ),
    ]
