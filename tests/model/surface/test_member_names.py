"""Names of members of a document, by kind of property, role and declaring entity."""

from edfi_api.model.surface.resource import Resource
from tests.model.surface.models import SurfaceOf, named

HOLDER = """
Domain Entity Holder
  string HolderCode is part of identity
  string NickName is required collection role name Old
  string HolderAlias is optional collection
  date Criteria is optional collection
  descriptor HolderColor is optional collection
  descriptor HolderShape is optional
  descriptor Language is optional collection role name Spoken
  descriptor GradeType is required role name Default shorten to Def
  domain entity Program is optional collection role name Holder
  domain entity Section is optional collection role name Section
  domain entity Bus is required role name Primary shorten to Pri
  enumeration SchoolYear is optional role name Cohort
  common ErStuff is optional collection role name Holder
  string Name is optional role name Name
  string GradeLevel is optional role name Grade
  domain entity School is optional role name Next
Common ErStuff
  string StuffCode is part of identity
Domain Entity Program
  string ProgramName is part of identity
Domain Entity Section
  string SectionIdentifier is part of identity
Domain Entity Bus
  string BusId is part of identity
Domain Entity School
  integer SchoolId is part of identity
Descriptor HolderColor
Descriptor HolderShape
Descriptor Language
Descriptor GradeType
Enumeration SchoolYear
  item "2025-2026"
"""


def members(resource: Resource, array: str | None = None) -> set[str]:
    """The names in the body, or in the items of one of its arrays."""
    schema = resource.json_schema
    return set((schema["properties"][array]["items"] if array else schema)["properties"])


def test_top_names_follow_type_role_and_declaring_entity(surface_of: SurfaceOf) -> None:
    holder = named(surface_of(HOLDER), "Holder")

    assert members(holder) == {
        "holderCode",
        "oldNickNames",
        "aliases",
        "criteria",
        "colors",
        "holderShapeDescriptor",
        "spokenLanguages",
        "defaultGradeTypeDescriptor",
        "holderPrograms",
        "sections",
        "priBusReference",
        "cohortSchoolYearTypeReference",
        "erStuffs",
        "name",
        "gradeLevel",
        "nextSchoolReference",
    }


def test_items_of_scalar_collections_keep_role_and_parent(surface_of: SurfaceOf) -> None:
    holder = named(surface_of(HOLDER), "Holder")

    assert members(holder, "oldNickNames") == {"oldNickName"}
    assert members(holder, "aliases") == {"holderAlias"}
    assert members(holder, "criteria") == {"criterion"}


def test_items_of_descriptor_collections_lose_the_role(surface_of: SurfaceOf) -> None:
    holder = named(surface_of(HOLDER), "Holder")

    assert members(holder, "colors") == {"holderColorDescriptor"}
    assert members(holder, "spokenLanguages") == {"languageDescriptor"}


def test_items_of_reference_collections_keep_the_role(surface_of: SurfaceOf) -> None:
    holder = named(surface_of(HOLDER), "Holder")

    assert members(holder, "holderPrograms") == {"holderProgramReference"}
    assert members(holder, "sections") == {"sectionReference"}


def test_items_of_common_collections_are_not_wrapped(surface_of: SurfaceOf) -> None:
    holder = named(surface_of(HOLDER), "Holder")

    assert members(holder, "erStuffs") == {"stuffCode"}


def test_a_single_descriptor_repeats_a_role_that_is_a_prefix_of_its_name(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Holder
  string HolderCode is part of identity
  descriptor GradeType is optional role name Grade
  descriptor GradeLevel is optional collection role name Grade
Descriptor GradeType
Descriptor GradeLevel
""")

    assert members(named(surface, "Holder")) == {"holderCode", "gradeGradeTypeDescriptor", "gradeLevels"}


def test_collections_and_commons_lose_the_prefix_of_the_parent(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity BusRoute
  string BusRouteNumber is part of identity
  common BusRouteStop is optional collection
  string RouteNote is optional collection
  common RouteDepot is optional
  string RouteName is optional
Common BusRouteStop
  string StopCode is part of identity
  common StopWindow is optional collection
Common StopWindow
  time BeginTime is part of identity
Common RouteDepot
  string DepotCode is part of identity
""")
    route = named(surface, "BusRoute")

    assert members(route) == {"busRouteNumber", "stops", "notes", "depot", "routeName"}
    assert members(route, "stops") == {"stopCode", "windows"}


def test_colliding_short_names_stay_long_in_that_subclass_only(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Abstract Entity EducationOrganization
  integer EducationOrganizationId is part of identity
  descriptor EducationOrganizationCategory is required collection
Domain Entity School based on EducationOrganization
  integer SchoolId renames identity property EducationOrganizationId
  descriptor SchoolCategory is optional collection
Domain Entity Depot based on EducationOrganization
  integer DepotId renames identity property EducationOrganizationId
Descriptor EducationOrganizationCategory
Descriptor SchoolCategory
""")

    assert members(named(surface, "School")) == {"schoolId", "schoolCategories", "educationOrganizationCategories"}
    assert members(named(surface, "Depot")) == {"depotId", "categories"}


def test_inline_commons_and_choices_move_their_members_up(surface_of: SurfaceOf) -> None:
    surface = surface_of("""
Domain Entity Holder
  string HolderCode is part of identity
  inline common Owner is optional role name Keeper
  inline common Gpa is required role name Gpa
  choice FuelKind is required
Inline Common Owner
  string OwnerCode is required
  domain entity School is required
Inline Common Gpa
  decimal GpaValue is required
  integer GpaMax is optional
Choice FuelKind
  descriptor LiquidFuel is required
  string BatteryModel is required
Domain Entity School
  integer SchoolId is part of identity
Descriptor LiquidFuel
""")
    schema = named(surface, "Holder").json_schema

    assert set(schema["properties"]) == {
        "holderCode",
        "keeperOwnerCode",
        "keeperSchoolReference",
        "gpaValue",
        "gpaMax",
        "liquidFuelDescriptor",
        "batteryModel",
    }
    assert set(schema["properties"]["keeperSchoolReference"]["properties"]) == {"keeperSchoolId"}
    assert schema["required"] == ["gpaValue", "holderCode"]


def test_the_prefix_of_an_inline_common_applies_to_commons_but_not_to_reference_collections(
    surface_of: SurfaceOf,
) -> None:
    surface = surface_of("""
Domain Entity Holder
  string HolderCode is part of identity
  inline common Owner is optional role name Keeper
Inline Common Owner
  common Address is optional
  domain entity School is optional collection
Common Address
  string City is required
Domain Entity School
  integer SchoolId is part of identity
""")
    properties = named(surface, "Holder").json_schema["properties"]

    assert set(properties) == {"holderCode", "keeperAddress", "keeperSchools"}
    assert set(properties["keeperAddress"]["properties"]) == {"keeperCity"}
    assert "required" not in properties["keeperAddress"]
    items = properties["keeperSchools"]["items"]["properties"]
    assert set(items["keeperSchoolReference"]["properties"]) == {"schoolId"}
