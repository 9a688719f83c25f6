"""Identity paths, and the pairing of references with the identity of their targets."""

from edfi_api.model.surface.resource import JsonPath, ReferencePath, Resource, ResourceName
from tests.model.surface.models import SurfaceOf, named, texts
from tests.model.surface.sample_models import SCHOOL_LIFE


def reference_at(resource: Resource, path: str) -> ReferencePath:
    (found,) = (reference for reference in resource.references if reference.path == JsonPath.parse(path))
    return found


def pairs(reference: ReferencePath) -> list[tuple[str, str]]:
    return [(str(pair.here), str(pair.there)) for pair in reference.identity]


def test_identity_has_both_paths_of_a_merged_value(surface_of: SurfaceOf) -> None:
    surface = surface_of(SCHOOL_LIFE)

    assert texts(named(surface, "CourseOffering").identity) == [
        "$.localCourseCode",
        "$.schoolReference.schoolId",
        "$.sessionReference.schoolId",
        "$.sessionReference.schoolYear",
        "$.sessionReference.sessionName",
    ]


def test_one_value_of_a_reference_may_be_paired_with_several_of_the_target(surface_of: SurfaceOf) -> None:
    section = named(surface_of(SCHOOL_LIFE), "Section")

    reference = reference_at(section, "$.courseOfferingReference")

    assert reference.target == ResourceName("Ed-Fi", "CourseOffering")
    assert pairs(reference) == [
        ("$.courseOfferingReference.localCourseCode", "$.localCourseCode"),
        ("$.courseOfferingReference.schoolId", "$.schoolReference.schoolId"),
        ("$.courseOfferingReference.schoolId", "$.sessionReference.schoolId"),
        ("$.courseOfferingReference.schoolYear", "$.sessionReference.schoolYear"),
        ("$.courseOfferingReference.sessionName", "$.sessionReference.sessionName"),
    ]
    assert reference.is_required
    assert reference.is_identity


def test_a_merged_away_value_is_taken_from_the_one_that_covers_it(surface_of: SurfaceOf) -> None:
    card = named(surface_of(SCHOOL_LIFE), "ReportCard")
    grade = "$.grades[*].gradeReference"

    reference = reference_at(card, grade)

    assert (f"{grade}.schoolId", "$.gradingPeriodReference.schoolId") in pairs(reference)
    assert (f"{grade}.gradingPeriodSchoolYear", "$.gradingPeriodReference.schoolYear") in pairs(reference)
    assert {str(pair.there) for pair in reference.identity} == {
        "$.gradeTypeDescriptor",
        "$.gradingPeriodReference.gradingPeriodDescriptor",
        "$.gradingPeriodReference.schoolId",
        "$.gradingPeriodReference.schoolYear",
        "$.studentSectionAssociationReference.beginDate",
        "$.studentSectionAssociationReference.localCourseCode",
        "$.studentSectionAssociationReference.schoolId",
        "$.studentSectionAssociationReference.schoolYear",
        "$.studentSectionAssociationReference.sectionIdentifier",
        "$.studentSectionAssociationReference.sessionName",
        "$.studentSectionAssociationReference.studentUniqueId",
    }
    assert not reference.is_required
    assert not reference.is_identity


def test_a_merged_away_value_is_found_two_references_further_up(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        SCHOOL_LIFE
        + """
Domain Entity GradeReview
  domain entity Grade is part of identity
Domain Entity Complaint
  string ComplaintCode is part of identity
  domain entity GradeReview is optional
"""
    )

    reference = reference_at(named(surface, "Complaint"), "$.gradeReviewReference")

    here = {str(pair.here) for pair in reference.identity}
    members = named(surface, "Complaint").json_schema["properties"]["gradeReviewReference"]["properties"]
    assert here == {f"$.gradeReviewReference.{name}" for name in members}


def test_school_years_are_references(surface_of: SurfaceOf) -> None:
    session = named(surface_of(SCHOOL_LIFE), "Session")

    reference = reference_at(session, "$.schoolYearTypeReference")

    assert reference.target == ResourceName("Ed-Fi", "SchoolYearType")
    assert pairs(reference) == [("$.schoolYearTypeReference.schoolYear", "$.schoolYear")]
    assert reference.is_identity


def test_descriptors_are_named_by_their_vocabulary(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Holder
  descriptor GradeLevel is part of identity role name Entry
  descriptor Language is optional collection role name Spoken
Descriptor GradeLevel
Descriptor Language
""")

    found = [
        (str(d.path), d.target.resource, d.is_required, d.is_identity) for d in named(surface, "Holder").descriptors
    ]

    assert found == [
        ("$.entryGradeLevelDescriptor", "GradeLevelDescriptor", True, True),
        ("$.spokenLanguages[*].languageDescriptor", "LanguageDescriptor", False, False),
    ]


def test_a_reference_is_required_only_if_every_document_has_it(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Holder
  string HolderCode is part of identity
  domain entity School is required collection
  common Stop is optional collection
  common Plan is required
Common Stop
  domain entity Program is part of identity
Common Plan
  domain entity Program is required
Domain Entity School
  integer SchoolId is part of identity
Domain Entity Program
  string ProgramName is part of identity
""")

    found = {str(r.path): r.is_required for r in named(surface, "Holder").references}

    assert found == {
        "$.schools[*].schoolReference": True,
        "$.stops[*].programReference": False,
        "$.plan.programReference": True,
    }
    assert not any(r.is_identity for r in named(surface, "Holder").references)


def test_values_of_cyclic_merges_are_kept(surface_of: SurfaceOf) -> None:
    """Otherwise the entity that declares both merges could not be referenced."""
    surface = surface_of("""
Domain Entity School
  integer SchoolId is part of identity
Domain Entity Room
  string RoomCode is part of identity
  domain entity School is part of identity
Domain Entity Bell
  string BellCode is part of identity
  domain entity School is part of identity
Domain Entity Alarm
  domain entity Room is part of identity
    merge Room.School with Bell.School
  domain entity Bell is part of identity
    merge Bell.School with Room.School
Domain Entity Fire
  string FireCode is part of identity
  domain entity Alarm is optional
""")

    assert set(pairs(reference_at(named(surface, "Fire"), "$.alarmReference"))) == {
        ("$.alarmReference.bellCode", "$.bellReference.bellCode"),
        ("$.alarmReference.schoolId", "$.bellReference.schoolId"),
        ("$.alarmReference.roomCode", "$.roomReference.roomCode"),
        ("$.alarmReference.schoolId", "$.roomReference.schoolId"),
    }


def test_a_value_merged_with_one_outside_the_identity_is_kept(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity School
  integer SchoolId is part of identity
Domain Entity Room
  string RoomCode is part of identity
  domain entity School is part of identity
Domain Entity Alarm
  domain entity Room is part of identity role name Room
    merge Room.School with NearSchool
  domain entity School is optional role name Near
Domain Entity Fire
  string FireCode is part of identity
  domain entity Alarm is optional
""")

    assert pairs(reference_at(named(surface, "Fire"), "$.alarmReference")) == [
        ("$.alarmReference.roomCode", "$.roomReference.roomCode"),
        ("$.alarmReference.roomSchoolId", "$.roomReference.schoolId"),
    ]
