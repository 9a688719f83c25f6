"""Equality constraints, by a merge or by a shared column."""

from tests.model.surface.models import SurfaceOf, named
from tests.model.surface.paths import equal_paths
from tests.model.surface.sample_models import SCHOOL_LIFE


def test_a_merge_requires_equal_values(surface_of: SurfaceOf) -> None:
    surface = surface_of(SCHOOL_LIFE)

    assert equal_paths(named(surface, "CourseOffering")) == {
        frozenset({"$.sessionReference.schoolId", "$.schoolReference.schoolId"})
    }


def test_a_merged_reference_requires_equality_of_all_its_values(surface_of: SurfaceOf) -> None:
    grade = "$.grades[*].gradeReference"

    card = named(surface_of(SCHOOL_LIFE), "ReportCard")

    assert equal_paths(card) == {
        frozenset({f"{grade}.studentUniqueId", "$.studentReference.studentUniqueId"}),
        frozenset({f"{grade}.gradingPeriodDescriptor", "$.gradingPeriodReference.gradingPeriodDescriptor"}),
        frozenset({f"{grade}.schoolId", "$.gradingPeriodReference.schoolId"}),
        frozenset({f"{grade}.gradingPeriodSchoolYear", "$.gradingPeriodReference.schoolYear"}),
    }


def test_values_of_one_column_must_be_equal_without_a_merge(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        SCHOOL_LIFE
        + """
Domain Entity Foo
  domain entity School is part of identity
  domain entity Session is optional
  association StudentSectionAssociation is optional collection
"""
    )
    association = "$.studentSectionAssociations[*].studentSectionAssociationReference"

    assert equal_paths(named(surface, "Foo")) == {
        frozenset({"$.schoolReference.schoolId", "$.sessionReference.schoolId"}),
        frozenset({"$.schoolReference.schoolId", f"{association}.schoolId"}),
    }


def test_a_role_keeps_columns_apart(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        SCHOOL_LIFE
        + """
Domain Entity Foo
  domain entity School is part of identity
  domain entity Session is optional role name Sending
"""
    )

    assert equal_paths(named(surface, "Foo")) == set()


def test_a_value_of_the_document_itself_may_share_a_column(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        SCHOOL_LIFE
        + """
Domain Entity Foo
  date BeginDate is part of identity
  association StudentSectionAssociation is required
"""
    )

    assert equal_paths(named(surface, "Foo")) == {
        frozenset({"$.beginDate", "$.studentSectionAssociationReference.beginDate"})
    }


def test_people_are_equated_by_merges_only(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        SCHOOL_LIFE
        + """
Domain Entity Foo
  domain entity Student is part of identity
  association StudentSectionAssociation is optional
"""
    )

    assert equal_paths(named(surface, "Foo")) == set()


def test_an_item_with_further_key_values_has_no_constraint(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity School
  integer SchoolId is part of identity
Domain Entity Room
  string RoomCode is part of identity
Domain Entity Plan
  domain entity School is part of identity
  common Free is optional collection
  common Bound is optional collection
Common Free
  domain entity School is part of identity
  domain entity Room is part of identity
Common Bound
  domain entity School is part of identity
""")

    assert equal_paths(named(surface, "Plan")) == {
        frozenset({"$.schoolReference.schoolId", "$.bounds[*].schoolReference.schoolId"})
    }


def test_nested_tables_contain_the_keys_of_their_parents(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity School
  integer SchoolId is part of identity
Domain Entity Plan
  string PlanCode is part of identity
  common Stop is optional collection
Common Stop
  domain entity School is part of identity
  domain entity School is optional collection role name Near
  domain entity Room is optional collection
Domain Entity Room
  string RoomCode is part of identity
  domain entity School is part of identity
""")

    assert equal_paths(named(surface, "Plan")) == {
        frozenset({"$.stops[*].schoolReference.schoolId", "$.stops[*].rooms[*].roomReference.schoolId"})
    }
