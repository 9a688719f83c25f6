"""Constructs of files for data standards 2.x and 3.x."""

import pytest

from edfi_api.model.metaed.model import CORE_NAMESPACE, EntityKey, EntityKind, Item, MapType
from tests.model.metaed.projects import MessagesOf, ModelOf, entity, members

SCHOOL = """
    Abstract Entity EducationOrganization [100]
        documentation "."
        integer EducationOrganizationId [101]
            documentation "."
            is part of identity
    Domain Entity School based on EducationOrganization [102]
        documentation "."
        integer SchoolId
            documentation "."
            renames identity property EducationOrganizationId
    Domain Entity Student
        documentation "."
        integer StudentId documentation "." is part of identity
"""


def test_with_context_is_a_role_name(model_of: ModelOf):
    model = model_of(
        SCHOOL
        + """
    Domain Entity Course
        documentation "."
        domain entity School
            documentation "."
            is part of identity
            with context Host shorten to H
    """
    )

    (prop,) = entity(model, EntityKind.DOMAIN_ENTITY, "Course").properties

    assert (prop.role_name, prop.shorten_to, prop.full_name) == ("Host", "H", "HostSchool")


def test_with_context_is_read_with_a_warning_at_ends_too(messages_of: MessagesOf):
    messages = messages_of(
        SCHOOL
        + """
    Association Transfer documentation "."
        domain entity Student documentation "."
        domain entity School documentation "." with context Former
        date LastDay documentation "." is required with context Former
    """
    )

    warning = "warning: 'with context' is the former word for 'role name'"
    assert messages == [f"18: {warning}", f"19: {warning}"]


def test_unqualified_names_of_an_extension_fall_back_to_the_core(model_of: ModelOf):
    model = model_of(
        SCHOOL,
        Transit="""
            Domain Entity School additions
                bool HasStop documentation "." is optional
            Domain Entity Depot based on EducationOrganization
                documentation "."
                integer DepotId documentation "." renames identity property EducationOrganizationId
                domain entity School documentation "." is required
        """,
    )

    depot = entity(model, EntityKind.DOMAIN_ENTITY_SUBCLASS, "Depot", "Transit")
    additions = entity(model, EntityKind.DOMAIN_ENTITY_ADDITIONS, "School", "Transit")
    core_school = EntityKey(CORE_NAMESPACE, EntityKind.DOMAIN_ENTITY_SUBCLASS, "School")
    assert additions.base == core_school
    assert depot.base == EntityKey(CORE_NAMESPACE, EntityKind.DOMAIN_ENTITY, "EducationOrganization")
    assert members(depot)["School"].target == core_school


def test_the_fallback_comes_with_the_advice_to_qualify_the_name(messages_of: MessagesOf):
    messages = messages_of(SCHOOL, Transit='Domain Entity School additions bool HasStop documentation "." is optional')

    assert messages == ["1: warning: 'School' was found in EdFi only; write 'EdFi.School'"]


def test_an_unqualified_name_refers_to_the_own_entity_first(model_of: ModelOf):
    model = model_of(
        SCHOOL,
        Transit="""
            Domain Entity Student
                documentation "."
                integer PassengerId documentation "." is part of identity
            Domain Entity Ticket
                documentation "."
                domain entity Student documentation "." is part of identity
        """,
    )

    (student,) = entity(model, EntityKind.DOMAIN_ENTITY, "Ticket", "Transit").properties

    assert student.target == EntityKey("Transit", EntityKind.DOMAIN_ENTITY, "Student")


def test_a_subclass_may_have_the_name_of_its_base_in_the_core(model_of: ModelOf):
    model = model_of(
        SCHOOL,
        Transit="""
            Domain Entity Student based on Student
                documentation "."
                integer PassengerId documentation "." renames identity property StudentId
        """,
    )

    subclass = entity(model, EntityKind.DOMAIN_ENTITY_SUBCLASS, "Student", "Transit")

    assert subclass.base == EntityKey(CORE_NAMESPACE, EntityKind.DOMAIN_ENTITY, "Student")


@pytest.mark.parametrize("begin", ["EdFi core", "edfi core", "EDFI core", "edfi EdFi"])
def test_a_written_namespace_wrapper_is_accepted_in_the_core(model_of: ModelOf, begin: str):
    model = model_of(f'Begin Namespace {begin}\nDescriptor Fuel documentation "."\nEnd Namespace')

    assert list(model.entities) == [EntityKey("EdFi", EntityKind.DESCRIPTOR, "Fuel")]


@pytest.mark.parametrize("begin", ["Transit EXTENSION", "transit Transit", "tr TransitAuthority"])
def test_a_written_namespace_wrapper_is_accepted_in_an_extension(model_of: ModelOf, begin: str):
    model = model_of(Transit=f'Begin Namespace {begin}\nDescriptor Fuel documentation "."\nEnd Namespace')

    assert list(model.entities) == [EntityKey("Transit", EntityKind.DESCRIPTOR, "Fuel")]


def test_several_wrappers_may_follow_each_other(model_of: ModelOf):
    wrapped = 'Begin Namespace EdFi core Descriptor {} documentation "." End Namespace\n'

    model = model_of(wrapped.format("Fuel") + wrapped.format("Colour"))

    assert [key.name for key in model.entities] == ["Fuel", "Colour"]


def test_a_wrapper_of_another_namespace_is_refused(messages_of: MessagesOf):
    messages = messages_of('Begin Namespace Transit EXTENSION Descriptor Fuel documentation "." End Namespace')

    assert messages == ["1: the namespace of this project is 'EdFi', not 'Transit'"]


def test_is_weak_is_a_warning(messages_of: MessagesOf):
    messages = messages_of(f"""{SCHOOL}
    Domain Entity Bus
        documentation "."
        integer BusId documentation "." is part of identity
        domain entity School
            documentation "."
            is optional
            is weak
    """)

    assert [message.split(": ", 1)[1] for message in messages] == ["warning: 'is weak' is obsolete, and has no effect"]


def test_vocabularies_as_enumerations_and_map_types(model_of: ModelOf):
    model = model_of("""
        Enumeration Sex [5]
            documentation "."
            item "Female" [1]
                documentation "."
            item "Male" [2]
        Descriptor Country
            documentation "."
            with map type
                documentation "."
                item "AW"
                    documentation "Aruba."
    """)

    assert entity(model, EntityKind.ENUMERATION, "Sex").items == (Item("Female", "."), Item("Male"))
    assert entity(model, EntityKind.DESCRIPTOR, "Country").map_type == MapType(
        items=(Item("AW", "Aruba."),), is_optional=False, documentation="."
    )
