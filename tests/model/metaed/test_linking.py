"""Resolution of names across kinds and namespaces."""

import pytest

from edfi_api.model.metaed.model import CORE_NAMESPACE, EntityKey, EntityKind, PropertyType
from tests.model.metaed.projects import MessagesOf, ModelOf, entity, members

CORE = """
    Abstract Entity EducationOrganization
        documentation "."
        integer EducationOrganizationId documentation "." is part of identity
    Domain Entity School based on EducationOrganization
        documentation "."
        integer SchoolId documentation "." renames identity property EducationOrganizationId
        common Address documentation "." is optional collection
    Common Address
        documentation "."
        shared string City documentation "." is part of identity
    Shared String City
        documentation "."
        max length 30
    Domain Entity GradingPeriod
        documentation "."
        descriptor GradingPeriod documentation "." is part of identity
        enumeration SchoolYear documentation "." is required
    Descriptor GradingPeriod
        documentation "."
    Enumeration SchoolYear
        documentation "."
        item "2025-2026"
"""


def core_key(kind: EntityKind, name: str) -> EntityKey:
    return EntityKey(CORE_NAMESPACE, kind, name)


def test_a_descriptor_and_a_domain_entity_may_have_one_name(model_of: ModelOf):
    model = model_of(CORE)

    prop = members(entity(model, EntityKind.DOMAIN_ENTITY, "GradingPeriod"))["GradingPeriod"]

    assert prop.target == core_key(EntityKind.DESCRIPTOR, "GradingPeriod")
    assert model.target(prop) is model.entities[core_key(EntityKind.DESCRIPTOR, "GradingPeriod")]


def test_a_reference_may_name_a_subclass(model_of: ModelOf):
    text = 'Domain Entity Bus documentation "." domain entity School documentation "." is part of identity'

    bus = entity(model_of(CORE + text), EntityKind.DOMAIN_ENTITY, "Bus")

    assert bus.properties[0].target == core_key(EntityKind.DOMAIN_ENTITY_SUBCLASS, "School")


EXTENSION = """
    Common EdFi.Address additions
        string GateCode documentation "." is optional max length 10
    Domain Entity EdFi.School additions
        common extension EdFi.Address documentation "." is optional collection
        shared string EdFi.City named Terminus documentation "." is optional
    Domain Entity Depot based on EdFi.EducationOrganization
        documentation "."
        integer DepotId documentation "." renames identity property EducationOrganizationId
        enumeration EdFi.SchoolYear documentation "." is optional
"""
HOMOGRAPH = """
    Domain Entity School
        documentation "A driving school."
        integer LicenceId documentation "." is part of identity
"""


def test_additions_have_the_name_of_what_they_extend_in_the_namespace_of_the_extension(model_of: ModelOf):
    model = model_of(CORE, Transit=EXTENSION)

    additions = entity(model, EntityKind.DOMAIN_ENTITY_ADDITIONS, "School", "Transit")
    address = entity(model, EntityKind.COMMON_ADDITIONS, "Address", "Transit")

    assert additions.base == core_key(EntityKind.DOMAIN_ENTITY_SUBCLASS, "School")
    assert address.base == core_key(EntityKind.COMMON, "Address")
    assert model.additions(model.entities[additions.base], "Transit") is additions


def test_a_common_extension_refers_to_the_common_of_the_core(model_of: ModelOf):
    model = model_of(CORE, Transit=EXTENSION)

    additions = entity(model, EntityKind.DOMAIN_ENTITY_ADDITIONS, "School", "Transit")

    assert members(additions)["Address"].is_common_extension
    assert members(additions)["Address"].target == core_key(EntityKind.COMMON, "Address")
    assert members(additions)["Terminus"].max_length == 30


def test_an_extension_refers_to_the_core_by_qualified_names(model_of: ModelOf):
    model = model_of(CORE, Transit=EXTENSION)

    depot = entity(model, EntityKind.DOMAIN_ENTITY_SUBCLASS, "Depot", "Transit")

    assert depot.base == core_key(EntityKind.DOMAIN_ENTITY, "EducationOrganization")
    assert members(depot)["SchoolYear"].target == core_key(EntityKind.SCHOOL_YEAR_ENUMERATION, "SchoolYear")
    assert [ancestor.name for ancestor in model.lineage(depot)] == ["Depot", "EducationOrganization"]


def test_an_extension_may_declare_an_entity_with_a_name_of_the_core(model_of: ModelOf):
    model = model_of(CORE, Transit=HOMOGRAPH)

    assert entity(model, EntityKind.DOMAIN_ENTITY, "School", "Transit").base is None
    assert entity(model, EntityKind.DOMAIN_ENTITY_SUBCLASS, "School").base is not None


PLAIN = (
    CORE
    + """
    Domain Entity Award
        documentation "."
        integer AwardId documentation "." is part of identity
        string Motto documentation "Its words." is optional min length 2 max length 80
        decimal Weight documentation "." is optional total digits 5 decimal places 2
        short Rank documentation "." is optional max value 9
        string Note documentation "." is optional max length 60
        bool Note documentation "." is optional role name Second
    Domain Entity Medal
        documentation "."
        integer MedalId documentation "." is part of identity
        string Motto documentation "." is optional role name Back min length 2 max length 80
        string Note documentation "." is optional max length 1024
"""
)


def test_a_shared_type_of_an_extension_may_be_that_of_plain_properties_of_the_core(model_of: ModelOf):
    text = """
        Domain Entity Prize
            documentation "."
            integer PrizeId documentation "." is part of identity
            shared string EdFi.Motto documentation inherited is required
            shared string EdFi.Motto named Slogan documentation "." is optional
            shared decimal EdFi.Weight documentation "." is optional
            shared short EdFi.Rank documentation "." is optional
    """

    found = members(entity(model_of(PLAIN, Transit=text), EntityKind.DOMAIN_ENTITY, "Prize", "Transit"))

    kinds = {name: (each.type, each.min_length, each.max_length) for name, each in found.items()}
    assert kinds["Motto"] == kinds["Slogan"] == (PropertyType.STRING, 2, 80)
    assert (found["Motto"].documentation, found["Motto"].target) == ("Its words.", None)
    assert (found["Weight"].type, found["Weight"].total_digits, found["Weight"].decimal_places) == ("decimal", 5, 2)
    assert (found["Rank"].type, found["Rank"].max_value) == ("short", 9)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (
            "shared string EdFi.Note",
            "there is no shared string 'Note' in EdFi, where each property of that name is string (max length 60) or "
            "bool or string (max length 1024); declare a property of the type that is meant",
        ),
        (
            "shared integer EdFi.Motto",
            "there is no shared integer 'Motto' in EdFi, where each property of that name is string (min length 2, "
            "max length 80); declare a property of the type that is meant",
        ),
        ("shared string EdFi.School", "there is no shared string 'School' in EdFi, only a domain entity"),
    ],
)
def test_plain_properties_of_another_type_are_none_of_a_shared_type(messages_of: MessagesOf, reference, message):
    text = f'Domain Entity Prize documentation "." integer PrizeId documentation "." is part of identity\n{reference}'

    messages = messages_of(PLAIN, Transit=f'{text} documentation "." is required')

    assert [each.partition(" subclass")[0] for each in messages] == [f"2: {message}"]


def test_a_project_uses_no_plain_property_of_its_own_as_a_shared_type(messages_of: MessagesOf):
    messages = messages_of(f'{PLAIN}    Domain Entity Cup documentation "." shared string Motto documentation "." '
                           "is part of identity")  # fmt: skip

    assert messages == ["38: there is no shared string 'Motto' in EdFi"]


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("domain entity Skool", "there is no domain entity 'Skool' in EdFi; did you mean 'School'?"),
        ("domain entity Address", "there is no domain entity 'Address' in EdFi, only a common"),
        ("descriptor Zebra", "there is no descriptor 'Zebra' in EdFi"),
        ("enumeration City", "there is no enumeration 'City' in EdFi, only a shared string"),
        ("shared integer City", "there is no shared integer 'City' in EdFi, only a shared string"),
        ("domain entity EdFy.School", "there is no project with namespace 'EdFy'; did you mean 'EdFi'?"),
    ],
)
def test_unresolved_names_are_reported(messages_of: MessagesOf, reference: str, message: str):
    text = f'Domain Entity Bus documentation "." integer BusId documentation "." is part of identity\n{reference}'

    messages = messages_of(f'{text} documentation "." is required\n{CORE}')

    assert messages == [f"2: {message}"]


def test_an_extension_cannot_refer_to_another(messages_of: MessagesOf):
    text = 'Domain Entity Bus documentation "." domain entity Other.Depot documentation "." is part of identity'

    messages = messages_of(CORE, Transit=text, Other='Descriptor Fuel documentation "."')

    assert messages == ["1: Transit cannot refer to 'Other.Depot': a project can refer only to itself and EdFi"]


def test_a_name_that_a_broken_declaration_seems_to_declare_is_not_reported_again(messages_of: MessagesOf):
    messages = messages_of("""
        Domain Entity Bus
            documentation "."
            domain entity Depot documentation "." is part of identity
        Domain Entity Depot
            documentation missing
    """)

    assert messages == ["6: unexpected 'missing'; expected a text in quotation marks"]


def test_a_second_declaration_or_property_of_one_name_is_an_error(messages_of: MessagesOf):
    messages = messages_of("""
        Descriptor Fuel documentation "."
        Descriptor Fuel documentation "."
        Common Tank
            documentation "."
            descriptor Fuel documentation "." is required
            descriptor Fuel documentation "." is required role name Fuel
    """)

    assert [message.split(" before, at")[0] for message in messages] == [
        "3: descriptor 'Fuel' was declared",
        "7: common 'Tank' has a property 'Fuel' before this one",
    ]


def test_a_domain_item_without_the_namespace_of_the_core_is_suggested_with_it(messages_of: MessagesOf):
    text = 'Domain Traffic documentation "." domain entity School\ndomain entity Bus'

    assert messages_of(CORE, Transit=text) == [
        "1: warning: there is no domain entity 'School' in Transit; the line is skipped; did you mean 'EdFi.School'?",
        "2: warning: there is no domain entity 'Bus' in Transit; the line is skipped",
    ]


def test_unknown_domain_items_are_skipped_with_a_warning(messages_of: MessagesOf, model_of: ModelOf):
    text = 'Descriptor Fuel documentation "." Domain Traffic documentation "." descriptor Fuel domain entity Bus'

    assert messages_of(text) == ["1: warning: there is no domain entity 'Bus' in EdFi; the line is skipped"]
    assert [key.name for key in model_of(text).domains[0].entities] == ["Fuel"]


def test_domain_items_of_an_extension_do_not_fall_back_to_the_core(model_of: ModelOf):
    text = 'Domain Traffic documentation "." domain entity School domain entity EdFi.School'

    (traffic,) = model_of(CORE, Transit=text).domains

    assert traffic.entities == (core_key(EntityKind.DOMAIN_ENTITY_SUBCLASS, "School"),)


def test_unknown_interchange_items_are_skipped_with_a_warning(messages_of: MessagesOf, model_of: ModelOf):
    text = 'Descriptor Fuel documentation "." Interchange Fleet documentation "." descriptor Fuel domain entity Bus'

    assert messages_of(text) == ["1: warning: there is no domain entity 'Bus' in EdFi; the line is skipped"]
    assert [item.entity.name for item in model_of(text).interchanges[0].items] == ["Fuel"]


def test_interchange_items_of_an_extension_may_lack_the_name_of_the_core(model_of: ModelOf):
    text = 'Interchange Fleet documentation "." domain entity School domain entity EdFi.School'

    (fleet,) = model_of(CORE, Transit=text).interchanges

    assert [item.entity for item in fleet.items] == [core_key(EntityKind.DOMAIN_ENTITY_SUBCLASS, "School")] * 2


def test_interchanges_that_cannot_be_linked_are_skipped_with_a_warning(messages_of: MessagesOf, model_of: ModelOf):
    core = 'Descriptor Fuel documentation "." Interchange Fleet documentation "." descriptor Fuel'
    own = """
        Interchange EdFi.Flet additions descriptor EdFi.Fuel
        Interchange EdFi.Fleet additions descriptor EdFi.Fuel
        Interchange Fleet documentation "." descriptor EdFi.Fuel
        Interchange Other.Flotilla additions descriptor EdFi.Fuel
        Interchange Lake documentation "." descriptor EdFi.Fuel descriptor Other.Fuel
    """

    assert [message.split(" before, at")[0] for message in messages_of(core, Transit=own)] == [
        "2: warning: there is no interchange 'Flet' to extend in EdFi; the additions are skipped",
        "4: warning: interchange 'Fleet' was declared",
        "5: warning: there is no interchange 'Flotilla' to extend in Other; the additions are skipped",
        "6: warning: there is no descriptor 'Fuel' in Other; the line is skipped",
    ]
    assert [(i.namespace, i.name, i.extends) for i in model_of(core, Transit=own).interchanges] == [
        ("EdFi", "Fleet", None),
        ("Transit", "Fleet", "EdFi"),
        ("Transit", "Lake", None),
    ]


def test_an_extension_adds_to_no_interchange_of_another(messages_of: MessagesOf):
    core = 'Descriptor Fuel documentation "." Interchange Fleet documentation "." descriptor Fuel'
    lake = 'Interchange Boats documentation "." descriptor EdFi.Fuel'
    own = "Interchange Lake.Boats additions descriptor EdFi.Fuel"

    assert messages_of(core, Lake=lake, Transit=own) == [
        "1: warning: there is no interchange 'Boats' to extend in Lake; the additions are skipped"
    ]


def test_a_domain_is_declared_once_but_a_subdomain_may_have_its_name(messages_of: MessagesOf):
    messages = messages_of("""
        Descriptor Fuel documentation "."
        Domain Traffic documentation "." descriptor Fuel
        Subdomain Traffic of Traffic documentation "." descriptor Fuel
        Domain Traffic documentation "." descriptor Fuel
    """)

    assert [message.split(", at")[0] for message in messages] == ["5: domain 'Traffic' was declared before"]


def test_a_subdomain_of_an_unknown_domain_is_a_warning(messages_of: MessagesOf):
    text = 'Descriptor Fuel documentation "." Subdomain Night of Traffic documentation "." descriptor Fuel'

    assert messages_of(text) == ["1: warning: there is no domain 'Traffic' to be part of"]


def test_a_plain_property_has_no_documentation_to_inherit(messages_of: MessagesOf):
    text = 'Domain Entity Bus documentation "." integer BusId documentation inherited is part of identity'

    assert messages_of(text) == ["1: warning: an integer has no documentation to inherit"]
