"""Projects of models without valid schemas have no files, and a warning has the reason."""

import pytest

from edfi_api.model.metaed.compiler import compile_projects
from edfi_api.model.metaed.model import Model
from edfi_api.model.xsd.files import schema_files, schema_problems
from tests.model.surface.models import write_project
from tests.model.xsd.models import loaded, saved

CORE = """
Domain Entity School
  integer SchoolId is part of identity
  common Address is required
Common Address
  string City is part of identity
Descriptor Color
Interchange Schools
  domain entity School
"""


def messages(model: Model) -> list[str]:
    """The messages with their lines in the file."""
    return [f"{problem.place.line}: {problem.message}" for problem in schema_problems(model)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "Domain Entity Bus\n  integer BusId is part of identity\n  string Bus is required",
            "'Bus' would be the name of two XML types",
        ),
        (
            "Domain Entity Bus\n  integer BusId is part of identity\n  decimal Load is required\n"
            "Common Van\n  string Load is required",
            "'Load' would be the name of two XML types",
        ),
        (
            "Domain Entity Bus\n  integer BusId is part of identity\nCommon BusReferenceType\n  bool A is required",
            "'BusReferenceType' would be the name of two XML types",
        ),
        ("Shared String Currency", "'Currency' would be the name of two XML types"),
        (
            "Common Bus\n  integer Seats is required max value 3000000000",
            "3000000000 is no int; 'big' makes room for it",
        ),
        ("Common Bus\n  short Seats is required min value -32769", "-32769 is no short; 'big' makes room for it"),
        ("Shared Decimal Load total digits 0 decimal places 0", "a number has at least one digit"),
        (
            "Common Bus\n  string SchoolReference is required\n  domain entity School is required",
            "there would be 2 XML elements 'SchoolReference' that cannot be distinguished",
        ),
        (
            "Interchange Colors\n  descriptor Color\n  domain entity Color\n"
            "Domain Entity Color\n  integer ColorId is part of identity",
            "there would be 2 XML elements 'Color' that cannot be distinguished",
        ),
        (
            "Interchange Descriptors\n  descriptor Color",
            "two interchanges would make a file",
        ),
    ],
)
def test_a_core_that_would_make_an_invalid_file_has_none(model_of, text: str, problem: str) -> None:
    model = model_of(CORE + text)

    assert problem in " ".join(messages(model))
    assert all(message.endswith("; Ed-Fi is served without XML schemas") for message in messages(model))
    assert schema_files(model).of("Ed-Fi") == ()


def test_a_problem_names_both_positions(model_of) -> None:
    model = model_of("Domain Entity Bus\n  integer BusId is part of identity\n  string Bus is required")

    [message] = messages(model)

    assert message.startswith("7: 'Bus' would be the name of two XML types, this one and the one declared at /")
    assert message.endswith("/Model.metaed:5:15; Ed-Fi is served without XML schemas")


@pytest.mark.parametrize(("limit", "is_served"), [("2147483647", True), ("2147483648", False)])
def test_a_limit_must_fit_its_type(model_of, limit: str, is_served: bool) -> None:
    model = model_of(f"Common Bus\n  integer Seats is required max value {limit}")

    assert (schema_files(model).core != ()) is is_served


@pytest.mark.parametrize(
    ("members", "is_served"),
    [
        ("inline common Span is required role name A\n  inline common Span is required role name B", True),
        ("choice One is required\n  choice Two is required", False),
        ("choice One is required\n  choice Other is required", True),
    ],
)
def test_two_elements_of_one_name_are_refused(model_of, tmp_path, members: str, is_served: bool) -> None:
    """The identity of an entity with one inline common twice has its values twice."""
    model = model_of(f"""
Domain Entity Bus
  integer BusId is part of identity
  {members}
Inline Common Span
  date From is part of identity
Choice One
  bool Walk is required
  bool Ride is required
Choice Two
  bool Walk is required
  bool Swim is required
Choice Other
  bool Swim is required
  bool Fly is required
""")
    files = schema_files(model)

    assert (files.core != ()) is is_served
    loaded(saved(files.core, tmp_path / "core"))


def test_an_extension_that_would_make_an_invalid_file_has_the_files_of_the_core_only(model_of, tmp_path) -> None:
    model = model_of(
        CORE,
        Transit="Domain Entity Bus\n  integer BusId is part of identity\n  string Bus is required",
        Lake="Domain Entity Boat\n  integer BoatId is part of identity",
    )
    files = schema_files(model)

    assert [of.split("; ")[1] for of in messages(model)] == ["Transit is served without XML schemas"]
    assert files.of("Transit") == files.core != ()
    assert len(files.of("Lake")) == len(files.core) + 1
    loaded(saved(files.of("Lake"), tmp_path / "lake"))


def test_an_extension_has_no_files_where_the_core_has_none(model_of) -> None:
    model = model_of("Shared String Currency", Transit="Descriptor Paint")

    assert schema_files(model).of("Transit") == ()
    assert [of.split("; ")[1] for of in messages(model)] == ["Ed-Fi is served without XML schemas"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Domain Entity School\n  string Code is part of identity", "a domain entity"),
        (
            "Domain Entity School based on EdFi.Organization\n  string Code renames identity property OrganizationCode",
            "a domain entity",
        ),
        (
            "Association School\n  domain entity EdFi.Color\n  domain entity EdFi.Color role name Other",
            "an association",
        ),
        ("Common School\n  string Street is required", "a common"),
        ("Descriptor School", "a descriptor"),
        ("Choice School\n  bool Walk is required", "a choice"),
        ("Shared String School", "a shared string"),
    ],
)
def test_an_extension_that_declares_a_name_of_the_core_for_the_same_kind_has_none(
    model_of, text: str, kind: str
) -> None:
    """Another kind is allowed: each text is compiled with a core where `School` is of its kind, and with others."""
    head = "Domain Entity Color\n  string ColorCode is part of identity\n"
    organization = "Abstract Entity Organization\n  string OrganizationCode is part of identity\n"
    of_kind = {
        "a domain entity": "Domain Entity School\n  string SchoolCode is part of identity",
        "an association": "Association School\n  domain entity Color\n  domain entity Color role name Second",
        "a common": "Common School\n  bool Ride is required",
        "a descriptor": "Descriptor School",
        "a choice": "Choice School\n  bool Ride is required",
        "a shared string": "Shared String School",
    }
    for core_kind, core in of_kind.items():
        model = model_of(head + organization + core, Lake=text)
        files = schema_files(model)

        if core_kind == kind:
            [message] = messages(model)
            assert message == f"1: 'School' is the name of {kind} of the core too; Lake is served without XML schemas"
            assert files.of("Lake") == files.core != ()
        else:
            assert messages(model) == []
            assert len(files.of("Lake")) > len(files.core)


def test_a_required_common_that_an_extension_replaces_is_a_warning_and_files_are_served(model_of, tmp_path) -> None:
    """Ed-Fi's own files violate XML Schema here, which libxml2 accepts."""
    model = model_of(
        CORE,
        Lake="""
Common EdFi.Address additions
  bool Lake is optional
Domain Entity EdFi.School additions
  common extension EdFi.Address is required
""",
    )
    files = schema_files(model)

    assert messages(model) == [
        "5: 'Address' is required in 'School': strict processors refuse the XML schema of this extension, which leaves"
        " it out"
    ]
    assert len(loaded(saved(files.of("Lake"), tmp_path))) == len(files.core) + 2


def test_a_standard_without_the_shared_strings_of_descriptors_has_no_files(tmp_path) -> None:
    model = compile_projects([write_project(tmp_path / "core", "Ed-Fi", "Shared String URI" + CORE)])

    assert messages(model) == [
        "2: needs XML types that no declaration makes: 'ShortDescription', 'Description'; Ed-Fi is served without XML"
        " schemas"
    ]
    assert schema_files(model).core == ()
