"""Members of reference objects: the flattened identity of the target, with names according to roles."""

from edfi_api.model.surface.resource import Surface
from tests.model.surface.models import SurfaceOf, named
from tests.model.surface.sample_models import ROLES, SCHOOL_LIFE


def reference(surface: Surface, resource: str, name: str, array: str | None = None) -> set[str]:
    schema = named(surface, resource).json_schema
    members = (schema["properties"][array]["items"] if array else schema)["properties"]
    return set(members[name]["properties"])


def test_references_in_the_identity_are_flattened(surface_of: SurfaceOf) -> None:
    surface = surface_of(SCHOOL_LIFE)

    assert reference(surface, "StudentSectionAssociation", "sectionReference") == {
        "sectionIdentifier",
        "localCourseCode",
        "schoolId",
        "schoolYear",
        "sessionName",
    }


def test_the_role_of_the_reference_itself_is_not_in_its_members(surface_of: SurfaceOf) -> None:
    surface = surface_of(SCHOOL_LIFE)

    assert reference(surface, "ReportCard", "gradingPeriodReference") == {
        "gradingPeriodDescriptor",
        "schoolId",
        "schoolYear",
    }


def test_merged_away_values_are_absent_and_others_keep_their_prefix(surface_of: SurfaceOf) -> None:
    surface = surface_of(SCHOOL_LIFE)

    assert reference(surface, "ReportCard", "gradeReference", array="grades") == {
        "gradeTypeDescriptor",
        "gradingPeriodDescriptor",
        "gradingPeriodSchoolYear",
        "beginDate",
        "localCourseCode",
        "schoolId",
        "schoolYear",
        "sectionIdentifier",
        "sessionName",
        "studentUniqueId",
    }


def test_nothing_is_merged_away_in_the_document_that_declares_the_merge(surface_of: SurfaceOf) -> None:
    surface = surface_of(SCHOOL_LIFE)

    assert reference(surface, "CourseOffering", "schoolReference") == {"schoolId"}
    assert reference(surface, "CourseOffering", "sessionReference") == {"schoolId", "schoolYear", "sessionName"}


def test_the_innermost_role_is_the_prefix(surface_of: SurfaceOf) -> None:
    surface = surface_of(SCHOOL_LIFE + ROLES)

    assert reference(surface, "User", "rideReference") == {"primaryBusId"}
    assert reference(surface, "User", "alphaReference") == {
        "localAlphaCode",
        "hostSectionIdentifier",
        "localCourseCode",
        "schoolId",
        "schoolYear",
        "sessionName",
    }
    assert reference(surface, "User", "betaReference") == {
        "firstLocalAlphaCode",
        "hostSectionIdentifier",
        "localCourseCode",
        "schoolId",
        "schoolYear",
        "sessionName",
    }


def test_roles_equal_to_their_property_are_kept_on_the_whole_path(surface_of: SurfaceOf) -> None:
    surface = surface_of(SCHOOL_LIFE + ROLES)

    assert reference(surface, "User", "cardReference") == {
        "gradingPeriodDescriptor",
        "gradingPeriodSchoolId",
        "gradingPeriodSchoolYear",
    }


def test_a_role_equal_to_its_property_precedes_an_inner_role(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Contact
  shared string UniqueId is part of identity role name Contact
Domain Entity AssessmentItem
  string ItemCode is part of identity
  domain entity Contact is part of identity role name School
Domain Entity Answer
  domain entity AssessmentItem is part of identity role name AssessmentItem
Domain Entity Grading
  string GradingCode is part of identity
  domain entity Answer is required
Shared String UniqueId max length 32
""")

    assert reference(surface, "Answer", "assessmentItemReference") == {"itemCode", "schoolContactUniqueId"}
    assert reference(surface, "Grading", "answerReference") == {
        "assessmentItemItemCode",
        "assessmentItemSchoolContactUniqueId",
    }


def test_two_roles_equal_to_their_properties_keep_their_order(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Bus
  string PlateNumber is part of identity
Domain Entity Route
  string RouteNumber is part of identity
  domain entity Bus is part of identity role name Bus
Domain Entity Trip
  domain entity Route is part of identity role name Route
Domain Entity Ticket
  string TicketNumber is part of identity
  domain entity Trip is required
""")

    assert reference(surface, "Ticket", "tripReference") == {"routeNumber", "routeBusPlateNumber"}


def test_a_role_shows_in_references_to_the_association_that_has_it(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Abstract Entity EducationOrganization
  integer EducationOrganizationId is part of identity
Domain Entity Program
  string ProgramName is part of identity
  domain entity EducationOrganization is part of identity
Domain Entity Student
  string StudentCode is part of identity
Association StudentProgramAssociation
  domain entity Student
  domain entity Program role name Program
Domain Entity User
  string UserCode is part of identity
  association StudentProgramAssociation is optional
""")

    assert reference(surface, "StudentProgramAssociation", "programReference") == {
        "educationOrganizationId",
        "programName",
    }
    assert reference(surface, "User", "studentProgramAssociationReference") == {
        "programEducationOrganizationId",
        "programName",
        "studentCode",
    }


def test_identity_in_an_inline_common_belongs_to_the_reference(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Event
  inline common Occasion is required
  string Title is optional
Inline Common Occasion
  date EventDate is part of identity
  string Remark is optional
Domain Entity User
  string UserCode is part of identity
  domain entity Event is optional
""")

    assert named(surface, "Event").json_schema["required"] == ["eventDate"]
    assert [str(path) for path in named(surface, "Event").identity] == ["$.eventDate"]
    assert reference(surface, "User", "eventReference") == {"eventDate"}
