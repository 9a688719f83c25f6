"""Uniqueness constraints of the items of arrays."""

from tests.model.surface.models import SurfaceOf, named
from tests.model.surface.paths import item_keys
from tests.model.surface.sample_models import BUS_ROUTE, SCHOOL_LIFE


def test_identity_of_a_common_makes_items_unique_and_nested_arrays_within_an_item(
    surface_of: SurfaceOf,
) -> None:
    assert item_keys(named(surface_of(BUS_ROUTE), "BusRoute")) == {
        "$.stops": ["$.stopCode"],
        "$.stops[*].languages": ["$.languageDescriptor"],
        "$.stops[*].windows": ["$.beginTime"],
    }


def test_a_reference_in_the_key_of_an_item_includes_all_its_values(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        SCHOOL_LIFE
        + """
Domain Entity Thing
  string ThingCode is part of identity
  common Part is optional collection
Common Part
  domain entity Session is part of identity
  date Day is part of identity
  string Remark is optional
"""
    )

    assert item_keys(named(surface, "Thing")) == {
        "$.parts": [
            "$.day",
            "$.sessionReference.schoolId",
            "$.sessionReference.schoolYear",
            "$.sessionReference.sessionName",
        ]
    }


def test_scalars_and_references_in_arrays_must_differ(surface_of: SurfaceOf) -> None:
    surface = surface_of(
        SCHOOL_LIFE
        + """
Domain Entity Thing
  string ThingCode is part of identity
  string Alias is optional collection
  domain entity Section is optional collection
"""
    )

    assert item_keys(named(surface, "Thing")) == {
        "$.aliases": ["$.alias"],
        "$.sections": [
            "$.sectionReference.localCourseCode",
            "$.sectionReference.schoolId",
            "$.sectionReference.schoolYear",
            "$.sectionReference.sectionIdentifier",
            "$.sectionReference.sessionName",
        ],
    }


def test_arrays_below_one_choice_have_separate_constraints(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Thing
  string ThingCode is part of identity
  choice Marks is optional
Choice Marks
  string Alias is optional collection
  descriptor Color is optional collection
Descriptor Color
""")

    assert item_keys(named(surface, "Thing")) == {"$.aliases": ["$.alias"], "$.colors": ["$.colorDescriptor"]}


def test_a_single_common_inside_an_item_is_not_part_of_its_key(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Thing
  string ThingCode is part of identity
  common Part is optional collection
Common Part
  string PartCode is part of identity
  common Maker is optional
Common Maker
  string MakerCode is part of identity
""")

    assert item_keys(named(surface, "Thing")) == {"$.parts": ["$.partCode"]}
