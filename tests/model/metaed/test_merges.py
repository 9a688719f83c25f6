"""Merge directives and their paths."""

import pytest

from edfi_api.model.metaed.merge_rules import follow
from edfi_api.model.metaed.model import EntityKind
from tests.model.metaed.projects import MessagesOf, ModelOf, entity

CORE = """
Descriptor Term documentation "."
Shared String Code documentation "." max length 9
Enumeration SchoolYear documentation "." item "2025-2026"
Abstract Entity Organization
    documentation "."
    integer OrganizationId documentation "." is part of identity
Domain Entity School based on Organization
    documentation "."
    integer SchoolId documentation "." renames identity property OrganizationId
Inline Common Seat
    documentation "."
    domain entity School documentation "." is optional
Domain Entity Session
    documentation "."
    domain entity School documentation "." is part of identity
    enumeration SchoolYear documentation "." is part of identity
    descriptor Term documentation "." is part of identity
    shared string Code documentation "." is part of identity
    string Title documentation "." is part of identity max length 5
    domain entity School documentation "." is optional role name Guest
    inline common Seat documentation "." is required
"""
OFFERING = """
Domain Entity Offering
    documentation "."
    domain entity School documentation "." is part of identity
    enumeration SchoolYear documentation "." is part of identity
    descriptor Term documentation "." is part of identity
    shared string Code documentation "." is part of identity
    string Title documentation "." is part of identity max length 5
    domain entity Organization documentation "." is required
    bool Open documentation "." is required
    domain entity School documentation "." is optional collection role name Partner
    domain entity Session documentation "." is part of identity
"""


@pytest.mark.parametrize(
    "merge",
    [
        "merge Session.School with School",
        "merge Session.SchoolYear with SchoolYear",
        "merge Session.Term with Term",
        "merge Session.Code with Code",
        "merge Session.School with Organization",
        "merge Session.Title with Title",
        "merge Session . School with School",
        "merge Session.Seat.School with School",
        "merge Session.School with School merge Session.Term with Term",
    ],
)
def test_valid_merges(messages_of: MessagesOf, merge: str):
    assert messages_of(f"{CORE}{OFFERING} {merge}") == []


def test_a_merge_keeps_its_steps_and_place(model_of: ModelOf):
    model = model_of(f"{CORE}{OFFERING}        merge Session.School with School")

    carrier = entity(model, EntityKind.DOMAIN_ENTITY, "Offering").properties[-1]

    (merge,) = carrier.merges
    assert (merge.source, merge.target) == (("Session", "School"), ("School",))
    assert (merge.place.line, merge.place.column) == (35, 15)


def test_the_source_may_be_the_carrier_alone_and_the_target_a_path(messages_of: MessagesOf):
    text = """
    Domain Entity Offering
        documentation "."
        domain entity Session documentation "." is part of identity
        domain entity School documentation "." is part of identity merge School with Session.School
    """

    assert messages_of(CORE + text) == []


def test_ends_of_associations_and_shared_properties_may_have_merges(messages_of: MessagesOf):
    text = """
    Association SessionSchoolAssociation
        documentation "."
        domain entity Session documentation "."
        domain entity School documentation "." merge School with Session.School
        shared string Code documentation "." is required merge Code with Session.Code
    """

    assert messages_of(CORE + text) == []


def test_subclasses_and_additions_may_merge_with_what_they_inherit(messages_of: MessagesOf):
    subclass = """
    Domain Entity Offering
        documentation "."
        integer Number documentation "." is part of identity
        domain entity School documentation "." is required
    Domain Entity EveningOffering based on Offering
        documentation "."
        integer EveningNumber documentation "." renames identity property Number
        domain entity Session documentation "." is required merge Session.School with School
    """
    extension = """
    Domain Entity EdFi.Offering additions
        domain entity EdFi.Session documentation "." is required merge Session.School with School
    """

    assert messages_of(CORE + subclass, Transit=extension) == []


def test_a_path_leads_through_additions_of_the_same_project(model_of: ModelOf):
    extension = """
    Domain Entity EdFi.Session additions
        domain entity Room documentation "." is required
    Domain Entity Room
        documentation "."
        integer RoomId documentation "." is part of identity
    Domain Entity Plan
        documentation "."
        domain entity EdFi.Session documentation "." is part of identity
    """
    model = model_of(CORE, Transit=extension)

    chain = follow(model, entity(model, EntityKind.DOMAIN_ENTITY, "Plan", "Transit"), ("Session", "Room", "RoomId"))

    assert [prop.declared_by.kind for prop in chain] == [
        EntityKind.DOMAIN_ENTITY,
        EntityKind.DOMAIN_ENTITY_ADDITIONS,
        EntityKind.DOMAIN_ENTITY,
    ]


@pytest.mark.parametrize(
    ("merge", "message"),
    [
        ("School with School", "the first path must begin with 'Session', which carries the merge"),
        (
            "Session.Skool with School",
            "Session.Skool: domain entity 'Session' has no property 'Skool'; did you mean 'School'?",
        ),
        ("Session.School with Zoo", "Zoo: domain entity 'Offering' has no property 'Zoo'"),
        (
            "Session.School.SchoolId.Digit with School",
            "Session.School.SchoolId.Digit: 'SchoolId' is an integer, nothing can follow it",
        ),
        ("Session.GuestSchool with School", "'GuestSchool' is not part of the identity of domain entity 'Session'"),
        ("Session.Term with School", "a descriptor cannot be merged with a domain entity"),
        ("Session with School", "'Session' cannot be merged with 'School'"),
        ("Session.School.SchoolId with School.SchoolId", "'SchoolId' is an integer: such a target must be of the "
         "entity itself, and the source no collection"),
    ],
)  # fmt: skip
def test_invalid_merges(messages_of: MessagesOf, merge: str, message: str):
    (found,) = messages_of(f"{CORE}{OFFERING} merge {merge}")

    assert found.split(": ", 1)[1] == message


def test_a_collection_is_merged_with_identity_only(messages_of: MessagesOf):
    text = OFFERING.replace('Session documentation "." is part of identity', 'Session documentation "." is required')

    messages = messages_of(f"{CORE}{text} merge Session.School with PartnerSchool")

    assert [message.split(": ", 1)[1] for message in messages] == [
        "'PartnerSchool' is a collection, so 'Session' must be part of the identity"
    ]


def test_a_path_through_an_unresolved_name_is_not_reported_again(messages_of: MessagesOf):
    text = (
        'Domain Entity Offering documentation "." domain entity School documentation "." is part of identity '
        'domain entity Zesszion documentation "." is required merge Zesszion.School with School'
    )

    (message,) = messages_of(f"{CORE}{text}")

    assert "there is no domain entity 'Zesszion'" in message


LESSON = """
Domain Entity Visitor
    documentation "."
    domain entity Session documentation "." is part of identity
Domain Entity Lesson
    documentation "."
    integer LessonNumber documentation "." is part of identity
    {}
"""
AMBIGUOUS = (
    "warning: ambiguous: Visitor.Session and Session may be the same or not; "
    "write 'merge Visitor.Session with Session', or give 'Visitor' or 'Session' a role name"
)


def ambiguities(messages_of: MessagesOf, *properties: str) -> list[str]:
    messages = messages_of(CORE + LESSON.format("\n    ".join(properties)))
    return [message.partition(" ")[2] for message in messages]


def test_two_paths_to_one_value_are_ambiguous(messages_of: MessagesOf):
    visitor = 'domain entity Visitor documentation "." is part of identity'
    session = 'domain entity Session documentation "." is required'

    assert ambiguities(messages_of, visitor, session) == [AMBIGUOUS]
    assert ambiguities(messages_of, session, visitor) == [AMBIGUOUS]


@pytest.mark.parametrize(
    ("visitor", "session"),
    [
        ("is part of identity merge Visitor.Session with Session", "is part of identity"),
        ("is part of identity", "is part of identity merge Session with Visitor.Session"),
        ("is part of identity role name Former", "is part of identity"),
        ("is part of identity", "is optional role name Former"),
        ("is required", "is optional"),
    ],
)
def test_a_merge_or_a_role_name_resolves_the_ambiguity_which_concerns_identity_only(
    messages_of: MessagesOf, visitor: str, session: str
):
    properties = (
        f'domain entity Visitor documentation "." {visitor}',
        f'domain entity Session documentation "." {session}',
    )

    assert ambiguities(messages_of, *properties) == []


def test_one_role_name_does_not_resolve_three_paths(messages_of: MessagesOf):
    found = ambiguities(
        messages_of,
        'domain entity Visitor documentation "." is part of identity',
        'domain entity Session documentation "." is part of identity',
        'domain entity Session documentation "." is part of identity role name Former',
    )

    assert found == [AMBIGUOUS]


def test_paths_to_a_plain_value_are_not_ambiguous(messages_of: MessagesOf):
    """Ed-Fi's tools leave such pairs to the rule that columns of one name hold one value."""
    assert (
        ambiguities(
            messages_of,
            'domain entity School documentation "." is part of identity',
            'domain entity School documentation "." is part of identity role name Host',
            'domain entity Organization documentation "." is part of identity',
        )
        == []
    )
