"""The JSON schema of a body: types, limits, required members, and validation."""

import pytest

from tests.model.surface.json_schema import validator
from tests.model.surface.models import SurfaceOf, named
from tests.model.surface.sample_models import BUS_ROUTE


def bus_route_body() -> dict:
    return {
        "busRouteNumber": "R7",
        "stops": [
            {
                "stopCode": "A",
                "schoolReference": {"schoolId": 1},
                "schoolYearTypeReference": {"schoolYear": 2026},
                "languages": [{"languageDescriptor": "uri://x/LanguageDescriptor#en"}],
                "windows": [{"beginTime": "07:30:00"}],
            }
        ],
    }


def test_a_full_body_is_valid(surface_of: SurfaceOf) -> None:
    route = named(surface_of(BUS_ROUTE), "BusRoute")

    assert validator(route.json_schema).is_valid(bus_route_body())


@pytest.mark.parametrize(
    "change",
    [
        {"unknown": 1},
        {"busRouteNumber": " R7"},
        {"busRouteNumber": ""},
        {"busRouteNumber": 7},
        {"stops": [{"stopCode": "A"}]},
        {"stops": [{**bus_route_body()["stops"][0], "languages": []}]},
        {"stops": [{**bus_route_body()["stops"][0], "schoolReference": {}}]},
        {"stops": [{**bus_route_body()["stops"][0], "schoolYearTypeReference": {}}]},
        {"stops": [{**bus_route_body()["stops"][0], "schoolYearTypeReference": {"schoolYear": 1066}}]},
        {"stops": [{**bus_route_body()["stops"][0], "windows": [{"beginTime": "half past"}]}]},
    ],
)
def test_a_body_with_one_error_is_invalid(surface_of: SurfaceOf, change: dict) -> None:
    route = named(surface_of(BUS_ROUTE), "BusRoute")

    assert not validator(route.json_schema).is_valid({**bus_route_body(), **change})


def test_every_type_has_its_schema(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Thing
  string ThingCode is part of identity min length 2 max length 12
  bool Flag is optional
  currency Price is optional
  date Day is optional
  datetime Moment is optional
  decimal Weight is optional
  duration Length is optional
  integer Count is optional min value 0 max value 9
  integer Large is optional max value big
  percent Share is optional
  short Small is optional min value 1 max value 5
  string Remark is optional
  string Title is required max length 60
  time Noon is optional
  year Vintage is optional
  shared string Note is optional
  shared integer Amount is optional
  shared short Grade is optional
  shared decimal Ratio is optional
  descriptor Color is optional
Shared String Note min length 1 max length 20
Shared Integer Amount min value 1
Shared Short Grade max value 6
Shared Decimal Ratio total digits 4 decimal places 1
Descriptor Color
""")

    properties = named(surface, "Thing").json_schema["properties"]

    assert {name: {k: v for k, v in schema.items() if k != "description"} for name, schema in properties.items()} == {
        "thingCode": {"type": "string", "minLength": 2, "maxLength": 12, "pattern": r"^(?!\s)([\s\S]*\S)$"},
        "flag": {"type": "boolean"},
        "price": {"type": "number"},
        "day": {"type": "string", "format": "date"},
        "moment": {"type": "string", "format": "date-time"},
        "weight": {"type": "number"},
        "length": {"type": "string", "maxLength": 30},
        "count": {"type": "integer", "format": "int32", "minimum": 0, "maximum": 9},
        "large": {"type": "integer", "format": "int64"},
        "share": {"type": "number"},
        "small": {"type": "integer", "minimum": 1, "maximum": 5},
        "remark": {"type": "string", "maxLength": 60},
        "title": {"type": "string", "maxLength": 60, "pattern": r"^(?!\s*$)[\s\S]+"},
        "noon": {"type": "string", "format": "time"},
        "vintage": {"type": "integer"},
        "note": {"type": "string", "minLength": 1, "maxLength": 20},
        "amount": {"type": "integer", "format": "int32", "minimum": 1},
        "grade": {"type": "integer", "maximum": 6},
        "ratio": {"type": "number"},
        "colorDescriptor": {"type": "string", "maxLength": 306},
    }


def test_the_root_has_title_and_description(surface_of: SurfaceOf) -> None:
    schema = named(surface_of(BUS_ROUTE), "BusRoute").json_schema

    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"] == "Ed-Fi.BusRoute"
    assert schema["description"] == "About it."
    assert schema["properties"]["busRouteNumber"]["description"] == "About it."
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["busRouteNumber"]


def test_required_arrays_have_items_and_those_of_a_choice_are_not_required(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Thing
  string ThingCode is part of identity
  common Part is required collection
  descriptor Color is required collection
  string Alias is optional collection
  choice Users is required
Common Part
  string PartCode is part of identity
Choice Users
  domain entity School is required collection
Domain Entity School
  integer SchoolId is part of identity
Descriptor Color
""")
    schema = named(surface, "Thing").json_schema

    assert {name: member["minItems"] for name, member in schema["properties"].items() if "minItems" in member} == {
        "parts": 1,
        "colors": 1,
        "aliases": 0,
        "schools": 0,
    }
    assert schema["required"] == ["colors", "parts", "thingCode"]


def test_a_reference_in_a_choice_is_optional_but_complete(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Thing
  string ThingCode is part of identity
  choice User is required
Choice User
  domain entity Program is required
Domain Entity Program
  string ProgramName is part of identity
  integer ProgramNumber is part of identity
""")
    schema = named(surface, "Thing").json_schema

    assert schema["required"] == ["thingCode"]
    assert schema["properties"]["programReference"]["required"] == ["programName", "programNumber"]


def test_deprecated_members_are_marked(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Thing
  string ThingCode is part of identity
  bool Old deprecated "Use New." is optional
  bool New is optional
""")
    properties = named(surface, "Thing").json_schema["properties"]

    assert properties["old"]["deprecated"] is True
    assert "deprecated" not in properties["new"]


def test_resources_share_no_mutable_values(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity One
  string OneCode is part of identity
  common Part is optional
Domain Entity Two
  string TwoCode is part of identity
  common Part is optional
Common Part
  bool Whole is optional
""")
    one, two = named(surface, "One").json_schema, named(surface, "Two").json_schema

    one["properties"]["part"]["properties"]["whole"]["type"] = "string"

    assert two["properties"]["part"]["properties"]["whole"]["type"] == "boolean"
