"""What is found wrong with definitions, by severity and text; and what a sound part shows."""

import pytest

from edfi_api.model.profiles.checking import ProfileChecker
from edfi_api.model.profiles.definition import FilterMode, Usage
from edfi_api.model.profiles.view import CollectionView, ItemFilter, ObjectView
from tests.core.security.profiles.definitions import profile_of

ADDRESS_KEY = "".join(
    f'<Property name="{name}"/>'
    for name in ("addressTypeDescriptor", "city", "postalCode", "stateAbbreviationDescriptor", "streetNumberName")
)


@pytest.fixture(scope="module")
def checker(surface) -> ProfileChecker:
    return ProfileChecker(surface)


def findings(checker: ProfileChecker, resource: str, read: str = "", write: str = "", **more: str):
    checked = checker.check(profile_of(resource, read, write, **more))
    return [(each.severity.value, each.text) for each in checked.findings if "has no" not in each.text]


def view(checker: ProfileChecker, resource: str, part: str, usage: Usage = Usage.READABLE):
    parts = {"read" if usage is Usage.READABLE else "write": part}
    checked = checker.check(profile_of(resource, **parts))
    assert not checked.has_errors, checked.findings
    return next(iter(checked.views.values()))


@pytest.mark.parametrize(
    ("resource", "part", "severity", "text"),
    [
        ("Pupil", "IncludeAll", "error", "Resource 'Pupil' does not exist in the API schema."),
        ("EducationOrganization", "IncludeAll", "error", "Resource 'EducationOrganization' does not exist"),
        (
            "Student",
            'IncludeOnly:<Property name="_etag"/>',
            "error",
            "Property '_etag' in read content type is a server-generated field and is not profile-addressable.",
        ),
        (
            "Student",
            'IncludeOnly:<Property name="nickname"/>',
            "error",
            "Property 'nickname' in read content type does not exist in resource 'Student'.",
        ),
        (
            "Student",
            'ExcludeOnly:<Property name="nickname"/>',
            "warning",
            "Property 'nickname' in read content type does not exist in resource 'Student'.",
        ),
        (
            "Student",
            'IncludeAll:<Collection name="otherNames" memberSelection="IncludeOnly"><Property name="x"/></Collection>',
            "error",
            "Property 'x' in collection 'otherNames' (read content type) does not exist.",
        ),
        (
            "Assessment",
            'IncludeAll:<Object name="contentStandard" memberSelection="ExcludeOnly">'
            '<Property name="title"/><Object name="x" memberSelection="IncludeAll"/></Object>',
            "warning",
            "Nested object 'x' in object 'contentStandard' (read content type) does not exist.",
        ),
        (
            "Student",
            'IncludeOnly:<Extension name="Unknown" memberSelection="IncludeAll"/>',
            "error",
            "Extension 'Unknown' in read content type does not exist in resource 'Student'.",
        ),
        (
            "Student",
            'ExcludeOnly:<Extension name="Unknown" memberSelection="IncludeAll"/>',
            "warning",
            "Extension 'Unknown' in read content type does not exist in resource 'Student'.",
        ),
        (
            "Student",
            'ExcludeOnly:<Property name="studentUniqueId"/>',
            "warning",
            "Property 'studentUniqueId' in read content type ExcludeOnly is an identity member and cannot be excluded.",
        ),
        (
            "Student",
            'IncludeOnly:<Object name="otherNames" memberSelection="IncludeAll"/>',
            "error",
            "'otherNames' is a collection, for which 'Object' does not fit.",
        ),
        (
            "Student",
            'IncludeOnly:<Object name="personReference" memberSelection="IncludeAll"/>',
            "error",
            "'personReference' is a reference, for which 'Object' does not fit.",
        ),
        ("Student", 'IncludeAll:<Property name="firstName"/>', "warning", "Property 'firstName' under IncludeAll says"),
        (
            "Student",
            'IncludeOnly:<Property name="firstName"/><Property name="firstName"/>',
            "error",
            "'firstName' is named twice at one level.",
        ),
        (
            "Student",
            'ExcludeOnly:<Collection name="otherNames" memberSelection="IncludeAll"/>',
            "warning",
            "Collection 'otherNames' in read content type hides nothing. To hide the whole member: "
            '<Property name="otherNames"/>.',
        ),
        (
            "Student",
            'IncludeAll:<Collection name="otherNames" memberSelection="IncludeAll">'
            '<Filter propertyName="x" filterMode="IncludeOnly"><Value>v</Value></Filter></Collection>',
            "error",
            "The filter of 'otherNames' needs a descriptor or string, which 'x' is not.",
        ),
    ],
)
def test_findings_of_a_read_part(checker, resource: str, part: str, severity: str, text: str) -> None:
    found = findings(checker, resource, part)

    assert [(each, text in message) for each, message in found] == [(severity, True)], found


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (
            'IncludeAll:<Collection name="addresses" memberSelection="ExcludeOnly">'
            '<Property name="postalCode"/></Collection>',
            "The write part hides members that identify the items of 'addresses': add 'postalCode'.",
        ),
        (
            'IncludeAll:<Collection name="addresses" memberSelection="ExcludeOnly"><Property name="nameOfCounty"/>'
            '<Filter propertyName="nameOfCounty" filterMode="IncludeOnly"><Value>Bend</Value></Filter></Collection>',
            "The filter of 'addresses' looks at 'nameOfCounty', which the write part hides.",
        ),
    ],
)
def test_errors_of_a_write_part(checker, part: str, text: str) -> None:
    found = findings(checker, "School", write=part)

    assert [severity for severity, _ in found] == ["error"]
    assert text in found[0][1]


def test_a_part_that_is_missing_is_noticed(checker) -> None:
    checked = checker.check(profile_of("Student", read="IncludeAll"))

    assert [each.text for each in checked.findings] == [
        "Student has no write part: clients with this profile write it without restriction."
    ]
    assert not checked.has_errors


def test_a_write_part_under_which_nothing_can_be_created_is_noticed(checker) -> None:
    found = findings(checker, "Student", write='IncludeOnly:<Property name="firstName"/>')

    assert found == [("notice", "Student cannot be created with this profile, which hides 'birthDate', 'lastSurname'.")]


@pytest.mark.parametrize("name", ["1-Profile", "Pro file", "", "Prüfung", "x" * 501])
def test_a_profile_needs_a_name_that_fits_a_media_type(checker, name: str) -> None:
    definition = profile_of("Student", read="IncludeAll", name="x")

    checked = checker.check(type(definition)(name, definition.resources))

    assert checked.has_errors


def test_a_name_is_defined_once_in_a_file_in_whatever_case(checker) -> None:
    both = [profile_of("Student", read="IncludeAll", name=name) for name in ("Portal", "PORTAL")]

    checked = checker.check_all(both)

    assert [each.has_errors for each in checked] == [False, True]


def test_a_resource_is_named_once_in_whatever_case(checker) -> None:
    one, other = (profile_of(name, read="IncludeAll") for name in ("Student", "STUDENT"))

    checked = checker.check(type(one)("P", one.resources + other.resources))

    assert [each.text for each in checked.findings if each.severity == "error"] == [
        "Resource 'STUDENT' is named twice."
    ]


@pytest.mark.parametrize(
    ("named", "member"),
    [
        ("FirstName", "firstName"),
        ("StudentUSI", "studentUniqueId"),
        ("BirthSexDescriptorId", "birthSexDescriptor"),
        ("StudentOtherNames", "otherNames"),
        ("PersonReference", "personReference"),
        ("FIRSTNAME", "firstName"),
    ],
)
def test_the_spelling_of_the_ods_is_understood_and_noticed(checker, named: str, member: str) -> None:
    checked = checker.check(profile_of("Student", read=f'IncludeOnly:<Property name="{named}"/>'))

    assert f"'{named}' is read as '{member}', its name in JSON." in [each.text for each in checked.findings]
    assert not checked.has_errors
    assert member in next(iter(checked.views.values())).whole


def test_include_only_shows_what_it_names_and_the_identity(checker) -> None:
    shown = view(checker, "Student", 'IncludeOnly:<Property name="firstName"/>')

    assert shown == ObjectView(whole=frozenset({"studentUniqueId", "firstName"}))


def test_exclude_only_hides_what_it_names_but_not_the_identity(checker) -> None:
    shown = view(checker, "Student", 'ExcludeOnly:<Property name="studentUniqueId"/><Property name="firstName"/>')

    assert not shown.shows("firstName")
    assert shown.shows("studentUniqueId")
    assert shown.shows("lastSurname")


def test_a_collection_is_narrowed_by_members_and_by_a_filter(checker) -> None:
    part = (
        'IncludeOnly:<Collection name="addresses" memberSelection="IncludeOnly"><Property name="city"/>'
        '<Filter propertyName="addressTypeDescriptor" filterMode="ExcludeOnly">'
        "<Value>uri://ed-fi.org/AddressTypeDescriptor#Home</Value></Filter></Collection>"
    )

    shown = view(checker, "School", part)

    assert shown == ObjectView(
        whole=frozenset({"schoolId"}),
        narrowed={
            "addresses": CollectionView(
                ObjectView(frozenset({"city"})),
                ItemFilter(
                    "addressTypeDescriptor",
                    frozenset({"uri://ed-fi.org/addresstypedescriptor#home"}),
                    FilterMode.EXCLUDE_ONLY,
                    is_descriptor=True,
                ),
            )
        },
    )


def test_a_part_that_hides_nothing_has_no_view(checker) -> None:
    assert view(checker, "Student", "IncludeAll") is None
    assert view(checker, "Student", "ExcludeOnly") is None


def test_a_write_part_may_narrow_a_collection_with_its_key(checker) -> None:
    part = f'IncludeAll:<Collection name="addresses" memberSelection="IncludeOnly">{ADDRESS_KEY}</Collection>'

    shown = view(checker, "School", part, Usage.WRITABLE)

    assert not shown.narrowed["addresses"].items.shows("nameOfCounty")


@pytest.mark.parametrize(
    ("resource", "part", "member"),
    [
        (
            "StudentCTEProgramAssociation",
            '<Collection name="StudentCTEProgramAssociationCTEProgramServices" memberSelection="IncludeAll"/>',
            "cteProgramServices",
        ),
        ("StudentCTEProgramAssociation", '<Property name="CTEProgramServices"/>', "cteProgramServices"),
        ("School", '<Property name="EducationOrganizationAddresses"/>', "addresses"),
        ("School", '<Collection name="SchoolGradeLevels" memberSelection="IncludeAll"/>', "gradeLevels"),
        (
            "StudentCTEProgramAssociation",
            '<Property name="GeneralStudentProgramAssociationProgramParticipationStatuses"/>',
            "programParticipationStatuses",
        ),
    ],
)
def test_acronyms_and_names_of_the_superclass_are_understood(checker, resource: str, part: str, member: str) -> None:
    checked = checker.check(profile_of(resource, read=f"IncludeOnly:{part}"))

    assert [each.text for each in checked.findings if each.severity == "error"] == []
    assert next(iter(checked.views.values())).shows(member)
    assert any(f"is read as '{member}', its name in JSON." in each.text for each in checked.findings)


@pytest.mark.parametrize(
    ("resource", "named", "suggested"),
    [
        ("StudentSchoolAssociation", "Calendar", "calendarReference"),
        ("Student", "firstNam", "firstName"),
        ("Student", "MidleName", "middleName"),
    ],
)
def test_an_unknown_name_is_refused_with_a_suggestion(checker, resource: str, named: str, suggested: str) -> None:
    assert findings(checker, resource, read=f'IncludeOnly:<Property name="{named}"/>') == [
        (
            "error",
            f"Property '{named}' in read content type does not exist in resource '{resource}'. "
            f"Did you mean '{suggested}'?",
        )
    ]


def test_a_write_part_shows_what_identifies_items_although_it_is_not_listed(checker) -> None:
    rule = 'IncludeAll:<Collection name="addresses" memberSelection="IncludeOnly"><Property name="city"/></Collection>'

    assert findings(checker, "School", write=rule) == [
        (
            "notice",
            "The write part shows also 'addressTypeDescriptor', 'postalCode', 'stateAbbreviationDescriptor', "
            "'streetNumberName', by which the items of 'addresses' are matched with stored ones.",
        )
    ]
    found = view(checker, "School", rule, Usage.WRITABLE)
    assert found.narrowed["addresses"].items.whole == {
        "addressTypeDescriptor",
        "city",
        "postalCode",
        "stateAbbreviationDescriptor",
        "streetNumberName",
    }
