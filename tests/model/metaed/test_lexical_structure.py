"""Lexical structure of the language: phrases, names, numbers, texts, blanks and comments."""

from decimal import Decimal

import pytest

from edfi_api.model.metaed.model import Cardinality, EntityKind, PropertyType
from tests.model.metaed.projects import MessagesOf, ModelOf, members, only_entity


def test_layout_has_no_meaning(model_of: ModelOf):
    on_one_line = 'Shared String Code documentation "A code." min length 2 max length 9'
    spread = """
        Shared
            String
                Code documentation
        "A code." min   length 2 max\tlength
            9
    """

    first, second = only_entity(model_of(on_one_line)), only_entity(model_of(spread))

    assert (first.key, first.documentation, first.min_length, first.max_length) == (
        second.key,
        second.documentation,
        second.min_length,
        second.max_length,
    )
    assert (second.min_length, second.max_length) == (2, 9)


def test_comments_are_ignored_between_tokens_even_without_a_line_end(model_of: ModelOf):
    model = model_of('// first\nDescriptor Fuel // second\n  documentation // third\n "Fuels." // last')

    assert only_entity(model).documentation == "Fuels."


def test_a_file_of_comments_only_declares_nothing(model_of: ModelOf):
    assert model_of("// nothing yet") == model_of("")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('"plain"', "plain"),
        ('""', ""),
        ('"say ""hello"" twice"', 'say "hello" twice'),
        ('"""quoted"""', '"quoted"'),
        ('"// no comment"', "// no comment"),
        ('"back\\slash"', "back\\slash"),
        ('"two\n   lines"', "two\n   lines"),
        ('"Domain Entity inside"', "Domain Entity inside"),
        ('"naïve ☃"', "naïve ☃"),
    ],
)
def test_text_is_enclosed_in_quotation_marks(model_of: ModelOf, written: str, expected: str):
    assert only_entity(model_of(f"Descriptor Fuel documentation {written}")).documentation == expected


def test_the_longest_phrase_wins(model_of: ModelOf):
    model = model_of("""
        Domain Entity Log
            documentation "."
            date Day
                documentation "." is part of identity
            datetime Moment
                documentation "." is required collection
            date Other
                documentation "." is required
    """)

    assert [(prop.name, prop.type, prop.cardinality) for prop in only_entity(model).properties] == [
        ("Day", PropertyType.DATE, Cardinality.IDENTITY),
        ("Moment", PropertyType.DATETIME, Cardinality.REQUIRED_COLLECTION),
        ("Other", PropertyType.DATE, Cardinality.REQUIRED),
    ]


def test_a_name_may_begin_with_a_reserved_word(model_of: ModelOf):
    model = model_of("""
        Domain Entity DomainModel
            documentation "."
            integer TypeOfChoice
                documentation "." is part of identity
    """)

    assert only_entity(model).name == "DomainModel"
    assert list(members(only_entity(model))) == ["TypeOfChoice"]


@pytest.mark.parametrize("word", ["Domain", "Common", "Choice", "Type", "Inline", "Enumeration", "Interchange"])
def test_a_reserved_word_is_no_name(messages_of: MessagesOf, word: str):
    (message,) = messages_of(f'Domain Entity {word} documentation "." bool Good documentation "." is required')

    assert message == f"1: '{word}' is a reserved word and cannot be a name; expected a name"


def test_catalogue_numbers_behind_names_are_ignored(model_of: ModelOf):
    model = model_of("""
        Domain Entity Bus [12]
            documentation "."
            integer BusId [12-7]
                documentation "." is part of identity
            shared string Plate named Number [3]
                documentation "." is required
        Shared String Plate [4] documentation "." max length 5
    """)

    bus = next(model.of_kind(EntityKind.DOMAIN_ENTITY))

    assert list(members(bus)) == ["BusId", "Number"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("0", 0),
        ("17", 17),
        ("+17", 17),
        ("-17", -17),
        ("- 17", -17),
        ("0.5", Decimal("0.5")),
        ("-3.", Decimal("-3")),
        ("12.00", Decimal("12.00")),
    ],
)
def test_numbers(model_of: ModelOf, written: str, expected: int | Decimal):
    text = f'Shared Decimal Share documentation "." total digits 9 decimal places 2 min value {written}'

    assert only_entity(model_of(text)).min_value == expected


@pytest.mark.parametrize("written", ["007", "1234567890123456789", "9" * 5000])
def test_numbers_of_a_wrong_form_are_refused(messages_of: MessagesOf, written: str):
    (message,) = messages_of(f'Shared String Code documentation "." max length {written}')

    assert message == "1: not a number: at most 18 digits, no zeros in front; expected a number"
