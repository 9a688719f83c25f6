"""Query fields: their names and paths."""

from edfi_api.model.surface.resource import QueryType
from tests.model.surface.models import SurfaceOf, named
from tests.model.surface.paths import query_fields
from tests.model.surface.sample_models import ORGANIZATIONS, PROGRAMS, ROLES, SCHOOL_LIFE


def test_scalars_descriptors_and_values_of_references_are_query_fields(surface_of: SurfaceOf) -> None:
    assert query_fields(named(surface_of(SCHOOL_LIFE), "StudentSectionAssociation")) == {
        "id": ["$.id"],
        "beginDate": ["$.beginDate"],
        "localCourseCode": ["$.sectionReference.localCourseCode"],
        "schoolId": ["$.sectionReference.schoolId"],
        "schoolYear": ["$.sectionReference.schoolYear"],
        "sectionIdentifier": ["$.sectionReference.sectionIdentifier"],
        "sessionName": ["$.sectionReference.sessionName"],
        "studentUniqueId": ["$.studentReference.studentUniqueId"],
    }


def test_a_merged_away_value_has_no_field(surface_of: SurfaceOf) -> None:
    grade = query_fields(named(surface_of(SCHOOL_LIFE), "Grade"))

    assert grade["schoolId"] == ["$.studentSectionAssociationReference.schoolId"]
    assert grade["gradingPeriodSchoolYear"] == ["$.gradingPeriodReference.schoolYear"]
    assert "gradingPeriodSchoolId" not in grade


def test_names_have_all_roles_of_the_path_without_overlap(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        SCHOOL_LIFE
        + ROLES
        + """
Domain Entity Thing
  string ThingCode is part of identity
  domain entity School is optional role name NextSchool
  domain entity School is optional role name Location
  enumeration SchoolYear is optional role name Cohort
  descriptor GradeType is optional role name Default shorten to Def
  inline common Owner is optional role name Keeper
  choice Where is optional
  domain entity Alpha is optional role name First
  descriptor GradeLevel is optional role name Grade
Descriptor GradeLevel
Inline Common Owner
  domain entity School is required
Choice Where
  string Place is required
"""
    )

    thing = query_fields(named(surface, "Thing"))

    assert thing["nextSchoolId"] == ["$.nextSchoolSchoolReference.schoolId"]
    assert thing["locationSchoolId"] == ["$.locationSchoolReference.schoolId"]
    assert thing["cohortSchoolYear"] == ["$.cohortSchoolYearTypeReference.schoolYear"]
    assert thing["defGradeTypeDescriptor"] == ["$.defaultGradeTypeDescriptor"]
    assert thing["keeperSchoolId"] == ["$.keeperSchoolReference.keeperSchoolId"]
    assert thing["place"] == ["$.place"]
    assert thing["firstHostSchoolId"] == ["$.firstAlphaReference.schoolId"]
    assert thing["gradeLevelDescriptor"] == ["$.gradeGradeLevelDescriptor"]


def test_a_role_shows_in_the_field_and_not_in_the_body(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Abstract Entity EducationOrganization
  integer EducationOrganizationId is part of identity
Domain Entity Program
  string ProgramName is part of identity
  domain entity EducationOrganization is part of identity
Domain Entity Meeting
  string MeetingCode is part of identity
  domain entity Program is part of identity role name Program
""")

    assert query_fields(named(surface, "Meeting")) == {
        "id": ["$.id"],
        "meetingCode": ["$.meetingCode"],
        "programEducationOrganizationId": ["$.programReference.educationOrganizationId"],
        "programName": ["$.programReference.programName"],
    }


def test_people_have_their_unique_id_as_query_field(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Staff
  shared string UniqueId is part of identity role name Staff
  string FirstName is required
Domain Entity Lesson
  string LessonCode is part of identity
  domain entity Staff is required role name Teacher
Shared String UniqueId max length 32
""")

    assert query_fields(named(surface, "Staff")) == {
        "id": ["$.id"],
        "staffUniqueId": ["$.staffUniqueId"],
        "firstName": ["$.firstName"],
    }
    assert query_fields(named(surface, "Lesson"))["teacherStaffUniqueId"] == ["$.teacherStaffReference.staffUniqueId"]


def test_the_first_of_two_references_with_one_column_is_queried(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        SCHOOL_LIFE
        + """
Domain Entity Foo
  string FooCode is part of identity
  domain entity Session is optional
  domain entity School is optional
"""
    )

    assert query_fields(named(surface, "Foo"))["schoolId"] == ["$.sessionReference.schoolId"]


def test_commons_and_collections_are_not_queryable(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Thing
  string ThingCode is part of identity
  common Part is optional
  string Alias is optional collection
Common Part
  string PartCode is required
""")

    assert query_fields(named(surface, "Thing")) == {"id": ["$.id"], "thingCode": ["$.thingCode"]}


def test_inherited_members_of_a_subclass_are_query_fields(surface_of: SurfaceOf) -> None:
    assert query_fields(named(surface_of(ORGANIZATIONS), "School")) == {
        "id": ["$.id"],
        "schoolId": ["$.schoolId"],
        "motto": ["$.motto"],
        "nameOfInstitution": ["$.nameOfInstitution"],
    }
    assert query_fields(named(surface_of(PROGRAMS), "StudentCTEProgramAssociation")) == {
        "id": ["$.id"],
        "programName": ["$.programReference.programName"],
        "studentCode": ["$.studentReference.studentCode"],
        "endDate": ["$.endDate"],
        "graduated": ["$.graduated"],
    }


def test_members_of_a_reference_to_an_association_subclass_are_not_queryable(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        PROGRAMS
        + """
Domain Entity Award
  string AwardCode is part of identity
  association StudentCTEProgramAssociation is optional
"""
    )

    assert query_fields(named(surface, "Award")) == {"id": ["$.id"], "awardCode": ["$.awardCode"]}


def test_every_type_has_its_parser(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Thing
  string ThingCode is part of identity
  bool Flag is optional
  currency Price is optional
  date Day is optional
  datetime Moment is optional
  time Noon is optional
  duration Length is optional
  year Vintage is optional
  descriptor Color is optional
  enumeration SchoolYear is optional
Descriptor Color
Enumeration SchoolYear
  item "2025-2026"
""")

    assert {field.name: field.type for field in named(surface, "Thing").query_fields} == {
        "id": QueryType.STRING,
        "thingCode": QueryType.STRING,
        "flag": QueryType.BOOLEAN,
        "price": QueryType.NUMBER,
        "day": QueryType.DATE,
        "moment": QueryType.DATE_TIME,
        "noon": QueryType.TIME,
        "length": QueryType.STRING,
        "vintage": QueryType.NUMBER,
        "colorDescriptor": QueryType.DESCRIPTOR,
        "schoolYear": QueryType.NUMBER,
    }


def test_a_merged_school_year_stays_a_query_field(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        SCHOOL_LIFE
        + """
Domain Entity Mark
  association StudentSectionAssociation is part of identity
  domain entity GradingPeriod is part of identity role name Marking
    merge MarkingGradingPeriod.School with StudentSectionAssociation.Section.CourseOffering.School
    merge MarkingGradingPeriod.SchoolYear with StudentSectionAssociation.Section.CourseOffering.Session.SchoolYear
"""
    )

    assert query_fields(named(surface, "Mark")) == {
        "id": ["$.id"],
        "beginDate": ["$.studentSectionAssociationReference.beginDate"],
        "localCourseCode": ["$.studentSectionAssociationReference.localCourseCode"],
        "markingGradingPeriodDescriptor": ["$.markingGradingPeriodReference.gradingPeriodDescriptor"],
        "markingSchoolYear": ["$.markingGradingPeriodReference.schoolYear"],
        "schoolId": ["$.studentSectionAssociationReference.schoolId"],
        "schoolYear": ["$.studentSectionAssociationReference.schoolYear"],
        "sectionIdentifier": ["$.studentSectionAssociationReference.sectionIdentifier"],
        "sessionName": ["$.studentSectionAssociationReference.sessionName"],
        "studentUniqueId": ["$.studentSectionAssociationReference.studentUniqueId"],
    }


def test_a_merged_unique_id_stays_a_query_field(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        SCHOOL_LIFE
        + """
Association StudentSchoolAssociation
  domain entity Student
  domain entity School
Domain Entity Transfer
  domain entity Student is part of identity
  association StudentSchoolAssociation is part of identity role name Prior
    merge PriorStudentSchoolAssociation.Student.StudentUniqueId with Student.StudentUniqueId
"""
    )

    assert query_fields(named(surface, "Transfer")) == {
        "id": ["$.id"],
        "priorSchoolId": ["$.priorStudentSchoolAssociationReference.schoolId"],
        "priorStudentUniqueId": ["$.priorStudentSchoolAssociationReference.studentUniqueId"],
        "studentUniqueId": ["$.studentReference.studentUniqueId"],
    }


def test_a_merged_reference_is_removed_with_all_its_values(surface_of: SurfaceOf) -> None:
    """The session of a course offering has its own merge, which does not disable the outer one."""
    surface = surface_of(
        SCHOOL_LIFE
        + """
Domain Entity Swap
  domain entity Session is part of identity
  domain entity CourseOffering is part of identity role name Prior
    merge PriorCourseOffering.Session with Session
"""
    )

    assert query_fields(named(surface, "Swap")) == {
        "id": ["$.id"],
        "priorLocalCourseCode": ["$.priorCourseOfferingReference.localCourseCode"],
        "priorSchoolId": ["$.priorCourseOfferingReference.schoolId"],
        "schoolId": ["$.sessionReference.schoolId"],
        "schoolYear": ["$.sessionReference.schoolYear"],
        "sessionName": ["$.sessionReference.sessionName"],
    }
