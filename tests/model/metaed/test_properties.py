"""Types, clauses and names of properties."""

import pytest

from edfi_api.model.metaed.model import Cardinality, EntityKey, EntityKind, Property, PropertyType
from tests.model.metaed.projects import ModelOf, entity

DECLARATIONS = """
    Domain Entity Depot documentation "A depot." integer DepotId documentation "." is part of identity
    Association DepotDepotAssociation documentation "."
        domain entity Depot documentation "."
        domain entity Depot documentation "." role name Other
    Common Address documentation "." string City documentation "." is part of identity max length 30
    Inline Common DateSpan documentation "." date StartDate documentation "." is required
    Choice Drive documentation "." bool Diesel documentation "." is required
    Descriptor Fuel documentation "A fuel."
    Enumeration Sign documentation "." item "Plus"
    Enumeration SchoolYear documentation "." item "2025-2026"
    Shared String Plate documentation "A plate." min length 2 max length 9
    Shared Integer Seats documentation "Seats." min value 1 max value big
    Shared Short Doors documentation "Doors." min value 1 max value 8
    Shared Decimal Mileage documentation "." total digits 9 decimal places 2 max value 5.5
"""


def property_of(model_of: ModelOf, text: str) -> Property:
    """The property that the text adds to a domain entity among the declarations above."""
    identity = 'integer VehicleId documentation "." is part of identity'
    model = model_of(f'{DECLARATIONS}\nDomain Entity Vehicle documentation "." {identity}\n{text}')
    return entity(model, EntityKind.DOMAIN_ENTITY, "Vehicle").properties[1]


@pytest.mark.parametrize(
    "phrase", ["bool", "currency", "date", "datetime", "duration", "percent", "time", "year", "integer", "short"]
)
def test_plain_types(model_of: ModelOf, phrase: str):
    prop = property_of(model_of, f'{phrase} Thing documentation "It." is required')

    assert prop.type is PropertyType(phrase)
    assert (prop.name, prop.documentation, prop.target) == ("Thing", "It.", None)


@pytest.mark.parametrize(
    ("type_and_name", "property_type", "kind"),
    [
        ("domain entity Depot", PropertyType.DOMAIN_ENTITY, EntityKind.DOMAIN_ENTITY),
        ("association DepotDepotAssociation", PropertyType.ASSOCIATION, EntityKind.ASSOCIATION),
        ("common Address", PropertyType.COMMON, EntityKind.COMMON),
        ("inline common DateSpan", PropertyType.INLINE_COMMON, EntityKind.COMMON),
        ("choice Drive", PropertyType.CHOICE, EntityKind.CHOICE),
        ("descriptor Fuel", PropertyType.DESCRIPTOR, EntityKind.DESCRIPTOR),
        ("enumeration Sign", PropertyType.ENUMERATION, EntityKind.ENUMERATION),
        ("enumeration SchoolYear", PropertyType.SCHOOL_YEAR_ENUMERATION, EntityKind.SCHOOL_YEAR_ENUMERATION),
        ("shared string Plate", PropertyType.SHARED_STRING, EntityKind.SHARED_STRING),
        ("shared integer Seats", PropertyType.SHARED_INTEGER, EntityKind.SHARED_INTEGER),
        ("shared short Doors", PropertyType.SHARED_SHORT, EntityKind.SHARED_INTEGER),
        ("shared decimal Mileage", PropertyType.SHARED_DECIMAL, EntityKind.SHARED_DECIMAL),
    ],
)
def test_types_with_a_target(model_of: ModelOf, type_and_name: str, property_type: PropertyType, kind: EntityKind):
    name = type_and_name.rsplit(maxsplit=1)[-1]

    prop = property_of(model_of, f'{type_and_name} documentation "." is optional')

    assert prop.type is property_type
    assert prop.name == name
    assert prop.target == EntityKey("EdFi", kind, name)


@pytest.mark.parametrize(
    ("clause", "cardinality", "flags"),
    [
        ("is part of identity", Cardinality.IDENTITY, {"is_identity"}),
        ("is required", Cardinality.REQUIRED, set()),
        ("is optional", Cardinality.OPTIONAL, {"is_optional"}),
        ("is required collection", Cardinality.REQUIRED_COLLECTION, {"is_collection"}),
        ("is optional collection", Cardinality.OPTIONAL_COLLECTION, {"is_optional", "is_collection"}),
    ],
)
def test_cardinalities(model_of: ModelOf, clause: str, cardinality: Cardinality, flags: set[str]):
    prop = property_of(model_of, f'descriptor Fuel documentation "." {clause}')

    assert prop.cardinality is cardinality
    assert {flag for flag in ("is_identity", "is_optional", "is_collection") if getattr(prop, flag)} == flags


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("string S {} min length 1 max length 60", {"min_length": 1, "max_length": 60}),
        ("string S {} max length 60", {"min_length": None, "max_length": 60}),
        ("integer I {} min value -3 max value +4", {"min_value": -3, "max_value": 4, "is_big": False}),
        ("integer I {} min value 1", {"min_value": 1, "max_value": None}),
        ("integer I {} max value big", {"min_value": None, "max_value": None, "is_big": True}),
        ("short I {} min value 0 max value 4", {"min_value": 0, "max_value": 4}),
        ("decimal D {} total digits 5 decimal places 2 max value 4", {"total_digits": 5, "decimal_places": 2}),
    ],
)
def test_limits_of_plain_types(model_of: ModelOf, text: str, limits: dict[str, object]):
    prop = property_of(model_of, text.format('documentation "." is required'))

    assert {name: getattr(prop, name) for name in limits} == limits


def test_a_shared_type_gives_its_limits_but_not_its_64_bits(model_of: ModelOf):
    prop = property_of(model_of, 'shared integer Seats documentation "." is required')

    assert (prop.min_value, prop.max_value, prop.is_big) == (1, None, False)


def test_a_shared_property_may_have_a_name_of_its_own(model_of: ModelOf):
    prop = property_of(model_of, 'shared string Plate named Trailer documentation "." is required role name Rear')

    assert (prop.name, prop.full_name) == ("Trailer", "RearTrailer")
    assert prop.target == EntityKey("EdFi", EntityKind.SHARED_STRING, "Plate")
    assert (prop.min_length, prop.max_length) == (2, 9)


@pytest.mark.parametrize(
    ("text", "documentation"),
    [
        ("descriptor Fuel documentation inherited is required", "A fuel."),
        ("domain entity Depot documentation inherited is required", "A depot."),
        ("shared string Plate named Rear documentation inherited is required", "A plate."),
    ],
)
def test_inherited_documentation_is_that_of_the_target(model_of: ModelOf, text: str, documentation: str):
    assert property_of(model_of, text).documentation == documentation


@pytest.mark.parametrize(
    ("name", "role_name", "full_name"),
    [("Depot", "Next", "NextDepot"), ("Depot", "Depot", "Depot"), ("Depot", "DepotDepot", "DepotDepotDepot")],
)
def test_the_full_name_is_role_name_and_name_without_repetition(
    model_of: ModelOf, name: str, role_name: str, full_name: str
):
    prop = property_of(model_of, f'domain entity {name} documentation "." is required role name {role_name}')

    assert prop.full_name == full_name


def test_a_shortened_role_name_is_kept_beside_the_role_name(model_of: ModelOf):
    prop = property_of(
        model_of, 'domain entity Depot documentation "." is required role name Overnight shorten to Night'
    )

    assert (prop.role_name, prop.shorten_to, prop.full_name) == ("Overnight", "Night", "OvernightDepot")


def test_a_search_key_is_no_property(model_of: ModelOf):
    text = 'string Plate documentation "." is queryable only max length 5 bool Next documentation "." is required'

    assert property_of(model_of, text.replace("Plate", "Key")).name == "Next"


def test_search_keys_are_linked_in_order_of_declaration(model_of: ModelOf):
    model = model_of("""
        Domain Entity Bus
            documentation "."
            integer BusId documentation "." is part of identity is queryable field
            domain entity Depot documentation "." is queryable only role name Home
            bool Next documentation "." is required
            string BusId documentation "Not the identity." is queryable only max length 9
            shared string Plate documentation inherited is optional is queryable field
        Domain Entity Depot documentation "." integer DepotId documentation "." is part of identity
        Shared String Plate documentation "A plate." max length 12
    """)

    bus = entity(model, EntityKind.DOMAIN_ENTITY, "Bus")

    assert [(key.type.value, key.full_name) for key in bus.search_keys] == [
        ("integer", "BusId"),
        ("domain entity", "HomeDepot"),
        ("string", "BusId"),
        ("shared string", "Plate"),
    ]
    assert [prop.full_name for prop in bus.properties] == ["BusId", "Next", "Plate"]
    assert bus.search_keys[1].target == entity(model, EntityKind.DOMAIN_ENTITY, "Depot").key
    assert (bus.search_keys[3].max_length, bus.search_keys[3].documentation) == (12, "A plate.")


@pytest.mark.parametrize(
    "hints",
    [
        "is queryable field",
        "is sensitive data",
        "is queryable field is sensitive data potentially logical is weak",
        "role name Next shorten to N is queryable field potentially logical",
        "possibly external",
    ],
)
def test_hints_without_effect_on_the_api_are_accepted(model_of: ModelOf, hints: str):
    prop = property_of(model_of, f'domain entity Depot documentation "." is optional {hints}')

    assert prop.is_queryable_field is ("is queryable field" in hints)


def test_a_property_has_its_position(model_of: ModelOf):
    model = model_of(
        'Descriptor Fuel documentation "."\n\nDomain Entity Bus\n documentation "."\n  bool  Good '
        'documentation "." is part of identity'
    )

    (prop,) = entity(model, EntityKind.DOMAIN_ENTITY, "Bus").properties

    assert (prop.place.line, prop.place.column) == (5, 9)
    assert prop.place.file.endswith("model.metaed")
