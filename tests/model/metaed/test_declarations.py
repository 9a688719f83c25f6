"""The model element of each kind of declaration."""

from decimal import Decimal

import pytest

from edfi_api.model.metaed.model import Cardinality, EntityKey, EntityKind, Item, MapType, PropertyType
from tests.model.metaed.projects import ModelOf, entity, members, only_entity

FACILITY = """
    Abstract Entity Facility
        documentation "Any place."
        integer FacilityId
            documentation "Number."
            is part of identity
        string Title
            documentation "Title."
            is required
            max length 80
"""


def test_an_abstract_entity_is_a_domain_entity_with_a_flag(model_of: ModelOf):
    facility = only_entity(model_of(FACILITY))

    assert facility.key == EntityKey("EdFi", EntityKind.DOMAIN_ENTITY, "Facility")
    assert facility.is_abstract
    assert facility.documentation == "Any place."


def test_a_domain_entity_has_its_properties_in_the_order_of_the_text(model_of: ModelOf):
    vehicle = only_entity(
        model_of("""
            Domain Entity Vehicle
                documentation "A vehicle."
                allow primary key updates
                string PlateNumber
                    documentation "Plate."
                    is part of identity
                    max length 12
                bool Heated
                    documentation "Heating."
                    is optional
        """)
    )

    assert not vehicle.is_abstract
    assert vehicle.allows_primary_key_updates
    assert [prop.name for prop in vehicle.properties] == ["PlateNumber", "Heated"]
    assert {prop.declared_by for prop in vehicle.properties} == {vehicle.key}


def test_a_subclass_has_its_own_properties_and_its_base(model_of: ModelOf):
    model = model_of(
        FACILITY
        + """
    Domain Entity Depot based on Facility
        documentation "For vehicles."
        integer DepotId
            documentation "Number."
            renames identity property FacilityId
    """
    )

    depot = entity(model, EntityKind.DOMAIN_ENTITY_SUBCLASS, "Depot")

    assert depot.base == EntityKey("EdFi", EntityKind.DOMAIN_ENTITY, "Facility")
    assert [(prop.name, prop.cardinality, prop.renames) for prop in depot.properties] == [
        ("DepotId", Cardinality.IDENTITY_RENAME, "FacilityId")
    ]


ASSIGNMENT = """
    Domain Entity Driver
        documentation "."
        integer DriverId documentation "." is part of identity
    Association DriverDriverAssociation
        documentation "Who replaces whom."
        allow primary key updates
        domain entity Driver
            documentation inherited
        domain entity Driver
            documentation "The other."
            role name Substitute shorten to Sub
        date BeginDate
            documentation "."
            is part of identity
"""


def test_the_ends_of_an_association_come_first_and_are_its_identity(model_of: ModelOf):
    association = entity(model_of(ASSIGNMENT), EntityKind.ASSOCIATION, "DriverDriverAssociation")

    assert association.allows_primary_key_updates
    assert [(prop.full_name, prop.type, prop.cardinality) for prop in association.properties] == [
        ("Driver", PropertyType.DOMAIN_ENTITY, Cardinality.IDENTITY),
        ("SubstituteDriver", PropertyType.DOMAIN_ENTITY, Cardinality.IDENTITY),
        ("BeginDate", PropertyType.DATE, Cardinality.IDENTITY),
    ]
    assert members(association)["SubstituteDriver"].shorten_to == "Sub"


def test_an_association_subclass_needs_no_rename(model_of: ModelOf):
    model = model_of(
        ASSIGNMENT
        + """
    Association NightDriverDriverAssociation based on DriverDriverAssociation
        documentation "."
        bool Paid documentation "." is optional
    """
    )

    subclass = entity(model, EntityKind.ASSOCIATION_SUBCLASS, "NightDriverDriverAssociation")

    assert subclass.base == EntityKey("EdFi", EntityKind.ASSOCIATION, "DriverDriverAssociation")


def test_the_general_student_program_association_of_the_core_is_abstract(model_of: ModelOf):
    text = ASSIGNMENT.replace("DriverDriverAssociation", "GeneralStudentProgramAssociation")

    model = model_of(text, Transit=text.replace("domain entity Driver", "domain entity EdFi.Driver"))

    name = "GeneralStudentProgramAssociation"
    assert entity(model, EntityKind.ASSOCIATION, name).is_abstract
    assert not entity(model, EntityKind.ASSOCIATION, name, "Transit").is_abstract


def test_commons_and_choices(model_of: ModelOf):
    model = model_of("""
        Common Address
            documentation "."
            string City documentation "." is part of identity max length 30
        Common PostalAddress based on Address
            documentation "."
            string Box documentation "." is optional max length 30
        Inline Common DateSpan
            documentation "."
            date StartDate documentation "." is required
        Choice FuelKind
            documentation "."
            bool Petrol documentation "." is required
            bool Diesel documentation "." is required
    """)

    assert not entity(model, EntityKind.COMMON, "Address").is_inline
    assert entity(model, EntityKind.COMMON, "DateSpan").is_inline
    assert entity(model, EntityKind.COMMON_SUBCLASS, "PostalAddress").base == EntityKey(
        "EdFi", EntityKind.COMMON, "Address"
    )
    assert list(members(entity(model, EntityKind.CHOICE, "FuelKind"))) == ["Petrol", "Diesel"]


def test_a_descriptor_keeps_the_items_of_its_map_type_and_its_own_documentation(model_of: ModelOf):
    fuel = only_entity(
        model_of("""
            Descriptor Fuel
                documentation "Kinds of fuel."
                with optional map type
                    documentation "Kinds of the union."
                    item "Petrol" [7] documentation "From oil."
                    item "Gas"
        """)
    )

    assert fuel.kind is EntityKind.DESCRIPTOR
    assert fuel.documentation == "Kinds of fuel."
    assert fuel.items == ()
    assert fuel.map_type == MapType(
        items=(Item("Petrol", "From oil."), Item("Gas")), is_optional=True, documentation="Kinds of the union."
    )


def test_an_enumeration_has_items_and_school_year_is_a_separate_kind(model_of: ModelOf):
    model = model_of("""
        Enumeration Sign documentation "." item "Plus" item "Minus"
        Enumeration SchoolYear documentation "." item "2025-2026"
    """)

    assert entity(model, EntityKind.ENUMERATION, "Sign").items == (Item("Plus"), Item("Minus"))
    assert entity(model, EntityKind.SCHOOL_YEAR_ENUMERATION, "SchoolYear").items == (Item("2025-2026"),)


@pytest.mark.parametrize(
    ("text", "kind", "limits"),
    [
        ("Shared String T {} min length 1 max length 9", EntityKind.SHARED_STRING, {"min_length": 1, "max_length": 9}),
        ("Shared Integer T {} min value -5 max value 5", EntityKind.SHARED_INTEGER, {"min_value": -5, "max_value": 5}),
        ("Shared Integer T {} min value 1", EntityKind.SHARED_INTEGER, {"min_value": 1, "max_value": None}),
        ("Shared Integer T {} max value big", EntityKind.SHARED_INTEGER, {"is_big": True, "max_value": None}),
        ("Shared Short T {} max value 5", EntityKind.SHARED_INTEGER, {"min_value": None, "max_value": 5}),
        (
            "Shared Decimal T {} total digits 9 decimal places 2 min value 0 max value 1.5",
            EntityKind.SHARED_DECIMAL,
            {"total_digits": 9, "decimal_places": 2, "min_value": 0, "max_value": Decimal("1.5")},
        ),
    ],
)
def test_shared_types_have_limits(model_of: ModelOf, text: str, kind: EntityKind, limits: dict[str, object]):
    shared = only_entity(model_of(text.format('documentation "."')))

    assert shared.kind is kind
    assert {name: getattr(shared, name) for name in limits} == limits


def test_domains_and_subdomains_list_entities(model_of: ModelOf):
    model = model_of(
        ASSIGNMENT
        + """
    Descriptor Fuel documentation "."
    Domain Traffic
        documentation "All that moves."
        domain entity Driver
        association DriverDriverAssociation
        descriptor Fuel
        footer documentation "The end."
    Subdomain Night of Traffic
        documentation "In the dark."
        domain entity Driver
        position 2
    """
    )

    traffic, night = model.domains

    assert (traffic.name, traffic.parent, traffic.documentation) == ("Traffic", None, "All that moves.")
    assert [key.name for key in traffic.entities] == ["Driver", "DriverDriverAssociation", "Fuel"]
    assert (night.name, night.parent, [key.name for key in night.entities]) == ("Night", "Traffic", ["Driver"])


def test_an_interchange_keeps_its_items_in_order(model_of: ModelOf):
    model = model_of("""
        Interchange Fleet [9]
            documentation "All that moves."
            extended documentation "Longer."
            use case documentation "For buses."
            domain entity identity Driver
            association DriverDriverAssociation
            descriptor Fuel
            domain entity Driver
            association identity DriverDriverAssociation
        Domain Entity Driver documentation "." integer DriverId documentation "." is part of identity
        Association DriverDriverAssociation documentation "."
            domain entity Driver documentation "."
            domain entity Driver documentation "." role name Other
        Descriptor Fuel documentation "."
    """)

    [fleet] = model.interchanges

    assert (fleet.namespace, fleet.name, fleet.documentation, fleet.extends) == (
        "EdFi",
        "Fleet",
        "All that moves.",
        None,
    )
    assert [(item.entity.kind.value, item.entity.name, item.is_identity) for item in fleet.items] == [
        ("domain entity", "Driver", True),
        ("association", "DriverDriverAssociation", False),
        ("descriptor", "Fuel", False),
        ("domain entity", "Driver", False),
        ("association", "DriverDriverAssociation", True),
    ]


def test_additions_to_an_interchange_name_the_project_that_they_extend(model_of: ModelOf):
    model = model_of(
        """
        Interchange Fleet documentation "." domain entity Driver
        Domain Entity Driver documentation "." integer DriverId documentation "." is part of identity
        """,
        Lake="""
        Domain Entity Boat documentation "." integer BoatId documentation "." is part of identity
        Interchange EdFi.Fleet additions domain entity Boat domain entity identity EdFi.Driver
        """,
    )

    additions = model.interchanges[1]

    assert (additions.namespace, additions.name, additions.extends) == ("Lake", "Fleet", "EdFi")
    assert [(item.entity.namespace, item.entity.name) for item in additions.items] == [
        ("Lake", "Boat"),
        ("EdFi", "Driver"),
    ]


def test_a_shared_short_is_a_shared_integer_of_16_bits(model_of: ModelOf):
    model = model_of('Shared Short Gear documentation "." Shared Integer Wheels documentation "."')

    assert entity(model, EntityKind.SHARED_INTEGER, "Gear").is_short
    assert not entity(model, EntityKind.SHARED_INTEGER, "Wheels").is_short


def test_a_reason_makes_a_declaration_or_property_deprecated(model_of: ModelOf):
    bus = only_entity(
        model_of("""
            Domain Entity Bus
                deprecated "Use Vehicle."
                documentation "."
                integer BusId
                    deprecated "Use VehicleId."
                    documentation "."
                    is part of identity
        """)
    )

    assert bus.deprecated == "Use Vehicle."
    assert bus.properties[0].deprecated == "Use VehicleId."


def test_several_declarations_of_one_file_keep_their_order(model_of: ModelOf):
    model = model_of("""
        Descriptor Zebra documentation "."
        Descriptor Ant documentation "."
        Shared String Middle documentation "." max length 1
    """)

    assert [key.name for key in model.entities] == ["Zebra", "Ant", "Middle"]
