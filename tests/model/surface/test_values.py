"""Paths of numbers, dates and decimals."""

from tests.model.surface.models import SurfaceOf, named, texts

THING = """
Domain Entity Thing
  string ThingCode is part of identity
  bool Flag is optional
  currency Price is optional
  percent Share is optional
  decimal Weight is optional total digits 7 decimal places 3
  date Day is optional collection
  datetime Moment is optional
  enumeration SchoolYear is optional
  common Part is optional collection
Common Part
  domain entity School is part of identity
  shared decimal Ratio is optional
Domain Entity School
  integer SchoolId is part of identity
Shared Decimal Ratio total digits 4 decimal places 1
Enumeration SchoolYear
  item "2025-2026"
"""


def test_values_with_several_notations_are_listed(surface_of: SurfaceOf) -> None:
    paths = named(surface_of(THING), "Thing").value_paths

    assert texts(paths.booleans) == ["$.flag"]
    assert texts(paths.numbers) == [
        "$.parts[*].ratio",
        "$.parts[*].schoolReference.schoolId",
        "$.price",
        "$.schoolYearTypeReference.schoolYear",
        "$.share",
        "$.weight",
    ]
    assert texts(paths.dates) == ["$.days[*].day"]
    assert texts(paths.date_times) == ["$.moment"]


def test_decimals_have_limits_of_digits(surface_of: SurfaceOf) -> None:
    limits = named(surface_of(THING), "Thing").decimals

    assert [(str(limit.path), limit.total_digits, limit.decimal_places) for limit in limits] == [
        ("$.parts[*].ratio", 4, 1),
        ("$.price", 19, 4),
        ("$.share", 5, 4),
        ("$.weight", 7, 3),
    ]
