"""Reading and writing definitions: structure, lines, and that both forms mean the same."""

import pytest

from edfi_api.model.profiles.definition import UnreadableDefinition
from edfi_api.model.profiles.json_files import canonical_json, read_canonical_json, read_json, write_json
from edfi_api.model.profiles.xml_files import read_xml, write_xml

XML = b"""<?xml version="1.0"?>
<Profiles>
  <Profile name="Counselor-Portal">
    <!-- what counselors see -->
    <Resource name="StudentAcademicRecord" logicalSchema="Ed-Fi">
      <ReadContentType memberSelection="ExcludeOnly">
        <Property name="projectedGraduationDate"/>
        <Object name="classRanking" memberSelection="IncludeOnly"><Property name="classRank"/></Object>
        <Collection name="gradePointAverages" memberSelection="IncludeAll">
          <Filter propertyName="gradePointAverageTypeDescriptor" filterMode="ExcludeOnly">
            <Value>uri://ed-fi.org/GradePointAverageTypeDescriptor#Unweighted</Value>
          </Filter>
        </Collection>
        <Extension name="Sample" memberSelection="IncludeAll"/>
      </ReadContentType>
    </Resource>
  </Profile>
</Profiles>
"""
JSON = b"""{"profiles": [{"name": "Counselor-Portal", "resources": [{"name": "StudentAcademicRecord",
  "logicalSchema": "Ed-Fi", "read": {
    "memberSelection": "ExcludeOnly", "properties": ["projectedGraduationDate"],
    "objects": [{"name": "classRanking", "memberSelection": "IncludeOnly", "properties": ["classRank"]}],
    "collections": [{"name": "gradePointAverages", "memberSelection": "IncludeAll", "filter": {
      "propertyName": "gradePointAverageTypeDescriptor", "filterMode": "ExcludeOnly",
      "values": ["uri://ed-fi.org/GradePointAverageTypeDescriptor#Unweighted"]}}],
    "extensions": [{"name": "Sample", "memberSelection": "IncludeAll"}]}}]}]}"""


def resource(body: str) -> str:
    return f'<Profile name="P"><Resource name="Student">\n{body}\n</Resource></Profile>'


def read_part(body: str) -> str:
    return resource(f'<ReadContentType memberSelection="IncludeOnly">\n{body}\n</ReadContentType>')


def test_xml_and_json_mean_the_same() -> None:
    assert read_xml(XML) == read_json(JSON)


def test_both_forms_are_written_as_they_are_read() -> None:
    definitions = read_xml(XML)

    assert read_xml(write_xml(definitions)) == definitions
    assert read_json(write_json(definitions)) == definitions
    assert [read_canonical_json(canonical_json(each)) for each in definitions] == definitions


def test_lines_are_those_of_the_file() -> None:
    (profile,) = read_xml(XML)
    part = profile.resources[0].read

    assert (profile.line, profile.resources[0].line, part.properties[0].line) == (3, 5, 7)
    assert [element.line for element in part.elements] == [8, 9, 14]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("<Profil/>", 1, "Profile definition XML must have a 'Profile' root element."),
        ("<Profiles/>", 1, "Profile definition XML must have a 'Profile' root element."),
        (
            '<Profile><Resource name="Student"/></Profile>',
            1,
            "Profile element must have a 'name' attribute.",
        ),
        ('<Profile name="P"/>', 1, "Profile definition must contain at least one Resource element."),
        (resource('<ReadContentType memberSelection="ExcludeAll"/>'), 2, "'memberSelection' of 'ReadContentType' must"),
        (resource("<ReadContentType/>"), 2, "'ReadContentType' must have a 'memberSelection' attribute."),
        (resource('<ReadContentType memberSelection="includeonly"/>'), 2, "must be one of IncludeOnly"),
        (resource('<Read memberSelection="IncludeAll"/>'), 2, "'Resource' cannot contain 'Read'."),
        (
            resource('<WriteContentType memberSelection="IncludeAll"/><ReadContentType memberSelection="IncludeAll"/>'),
            2,
            "In 'Resource', 'ReadContentType' must stand before 'WriteContentType'.",
        ),
        (
            resource('<ReadContentType memberSelection="IncludeAll"/><ReadContentType memberSelection="IncludeAll"/>'),
            2,
            "'Resource' can contain 'ReadContentType' only once.",
        ),
        (read_part("<Property/>"), 3, "'Property' must have a 'name' attribute."),
        (read_part('<Property name="x" as="y"/>'), 3, "'Property' cannot have the attribute 'as'."),
        (read_part('<Property name="x">text</Property>'), 3, "'Property' cannot contain text."),
        (
            read_part('<Object name="o" memberSelection="IncludeAll"/>\n<Property name="x"/>'),
            4,
            "In 'ReadContentType', 'Property' must stand before 'Object'.",
        ),
        (
            read_part(
                '<Extension name="S" memberSelection="IncludeAll">\n'
                '<Extension name="T" memberSelection="IncludeAll"/></Extension>'
            ),
            4,
            "'Extension' cannot contain 'Extension'.",
        ),
        (
            read_part(
                '<Object name="o" memberSelection="IncludeAll">\n'
                '<Filter propertyName="p" filterMode="IncludeOnly"><Value>v</Value></Filter></Object>'
            ),
            4,
            "'Object' cannot contain 'Filter'.",
        ),
        (
            read_part(
                '<Collection name="c" memberSelection="IncludeAll">\n'
                '<Filter propertyName="p" filterMode="IncludeOnly"/></Collection>'
            ),
            4,
            "'Filter' must contain at least one 'Value'.",
        ),
        ('<!DOCTYPE Profile [<!ENTITY e "x">]><Profile name="P"/>', 1, "document type declaration"),
        ("<Profile", 1, "The file is not well-formed XML"),
        ("", 1, "The file is not well-formed XML"),
    ],
)
def test_wrong_structure_is_reported_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(UnreadableDefinition) as refused:
        read_xml(text.encode())

    assert [(each.line, message in each.text) for each in refused.value.findings] == [(line, True)]


def test_every_structural_problem_is_reported() -> None:
    with pytest.raises(UnreadableDefinition) as refused:
        read_xml(read_part('<Property/>\n<Property name="x" as="y"/>\n<Thing/>').encode())

    assert [each.line for each in refused.value.findings] == [3, 4, 5]


def test_a_filter_may_stand_before_other_rules() -> None:
    text = read_part(
        '<Collection name="c" memberSelection="ExcludeOnly">'
        '<Filter propertyName="p" filterMode="IncludeOnly"><Value> v </Value></Filter><Property name="x"/></Collection>'
    )

    (profile,) = read_xml(text.encode())

    (collection,) = profile.resources[0].read.elements
    assert (collection.filter.values, [each.name for each in collection.rule.properties]) == (("v",), ["x"])


@pytest.mark.parametrize(
    "text",
    [
        b"[]",
        b"{}",
        b'{"profiles": [{"name": "P", "resources": []}]}',
        b'{"profiles": [{"name": "P", "resources": [{"name": "Student", "reed": {}}]}]}',
        b'{"profiles": [{"name": "P", "resources": [{"name": "S", "read": {"memberSelection": "ExcludeAll"}}]}]}',
        b"\xff",
        b'{"profiles": ' + b"[" * 100_000,
    ],
)
def test_wrong_json_is_refused(text: bytes) -> None:
    with pytest.raises(UnreadableDefinition):
        read_json(text)


def test_large_files_are_refused() -> None:
    for read in (read_xml, read_json):
        with pytest.raises(UnreadableDefinition, match="10 MB"):
            read(b" " * (10 * 2**20 + 1))
