"""Projects and their files."""

import json
from pathlib import Path

import pytest

from edfi_api.model.metaed.compiler import check_projects, compile_projects
from edfi_api.model.metaed.errors import ModelErrors
from edfi_api.model.metaed.model import EntityKind, Project, PublishedDeviation, SourceLocation
from tests.model.metaed.projects import write_project

CORE = {"projectName": "Ed-Fi", "projectVersion": "5.2.0"}


def package_at(folder: Path, **content: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def descriptor(file: Path, name: str, *, encoding: str = "utf-8", newline: str = "\n") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(f'Descriptor {name}\n documentation "Two\nlines."\n'.replace("\n", newline).encode(encoding))


def messages(*paths: Path) -> list[str]:
    return [problem.message for problem in check_projects(paths)[1]]


def test_a_project_is_described_by_package_json(tmp_path: Path):
    package_at(
        tmp_path,
        name="transit-model-1.2",
        description="Regional transport",
        version="9.9.9",
        metaEdProject={"projectName": "Transit", "projectVersion": "1.2.0", "projectExtension": "EXTENSION"},
    )

    (project,) = compile_projects([tmp_path]).projects

    assert project == Project(
        name="Transit",
        version="1.2.0",
        namespace="Transit",
        description="Regional transport",
        package_name="transit-model-1.2",
        is_extension=True,
        tag="EXTENSION",
    )


@pytest.mark.parametrize(
    ("declared", "tag"),
    [
        ({}, "EXTENSION"),
        ({"projectExtension": "TX"}, "TX"),
        ({"projectExtension": ""}, "EXTENSION"),
        ({"projectExtension": "Grand-Bend_2.0"}, "Grand-Bend_2.0"),
    ],
)
def test_the_tag_of_an_extension_is_the_prefix_of_its_xml_types(tmp_path: Path, declared: dict[str, str], tag: str):
    package_at(tmp_path, metaEdProject={"projectName": "Transit", "projectVersion": "1.2.0", **declared})

    assert [project.tag for project in compile_projects([tmp_path]).projects] == [tag]
    assert messages(tmp_path) == []


@pytest.mark.parametrize("tag", ["my tag", "../up", "9", 7, {"a": 1}, 'a"b'])
def test_an_invalid_tag_is_replaced_with_a_warning(tmp_path: Path, tag: object):
    package_at(tmp_path, metaEdProject={"projectName": "Transit", "projectVersion": "1.2.0", "projectExtension": tag})

    [problem] = check_projects([tmp_path])[1]

    assert not problem.is_error
    assert problem.message == f"'projectExtension' cannot begin the name of an XML type: {tag!r}; EXTENSION is used"
    assert [project.tag for project in compile_projects([tmp_path]).projects] == ["EXTENSION"]


def test_the_core_has_no_tag(tmp_path: Path):
    package_at(tmp_path, metaEdProject={**CORE, "projectExtension": "EXTENSION"})

    assert [project.tag for project in compile_projects([tmp_path]).projects] == [""]


@pytest.mark.parametrize(
    ("name", "namespace", "is_extension"),
    [
        ("Ed-Fi", "EdFi", False),
        ("edfi", "EdFi", False),
        ("Grand Bend", "GrandBend", True),
        ("TPDM", "TPDM", True),
        ("gb", "Gb", True),
    ],
)
def test_the_namespace_is_the_project_name_without_punctuation(
    tmp_path: Path, name: str, namespace: str, is_extension: bool
):
    package_at(tmp_path, metaEdProject={"projectName": name, "projectVersion": "1.0.0"})

    (project,) = compile_projects([tmp_path]).projects

    assert (project.namespace, project.is_extension) == (namespace, is_extension)


def test_published_deviations_are_read(tmp_path: Path):
    deviations = [
        {"resource": "Grade", "path": "$.a", "publishedName": "b", "reason": "As published."},
        {"resource": "Staff", "path": "$.c", "required": False, "reason": "As published."},
    ]
    package_at(tmp_path, metaEdProject={**CORE, "publishedDeviations": deviations})
    place = SourceLocation(str(tmp_path / "package.json"), 1, 1)

    (project,) = compile_projects([tmp_path]).projects

    assert project.published_deviations == (
        PublishedDeviation(resource="Grade", path="$.a", reason="As published.", published_name="b", place=place),
        PublishedDeviation(resource="Staff", path="$.c", reason="As published.", is_required=False, place=place),
    )


def test_projects_are_ordered_core_first_then_by_name(tmp_path: Path):
    for name in ("Zoo", "Ed-Fi", "Ant"):
        write_project(tmp_path / name, name, "")

    assert [project.name for project in compile_projects([tmp_path]).projects] == ["Ed-Fi", "Ant", "Zoo"]


def test_a_folder_named_twice_counts_once(tmp_path: Path):
    write_project(tmp_path / "core", "Ed-Fi", 'Descriptor Fuel documentation "."')

    model, problems = check_projects([tmp_path, tmp_path / "core"])

    assert model is not None and len(model.projects) == 1
    assert problems == ()


def test_files_are_read_in_the_order_of_their_paths_at_any_depth(tmp_path: Path):
    package_at(tmp_path, metaEdProject=CORE)
    descriptor(tmp_path / "Descriptor" / "Zebra.metaed", "Zebra")
    descriptor(tmp_path / "Anything" / "deep" / "Newt.MetaEd", "Newt")
    descriptor(tmp_path / "Descriptor" / "Ant.metaEd", "Ant")
    descriptor(tmp_path / "Top.METAED", "Top")
    descriptor(tmp_path / "Descriptor" / "notes.txt", "Notes")

    assert [key.name for key in compile_projects([tmp_path]).entities] == ["Newt", "Ant", "Zebra", "Top"]


def test_files_of_a_nested_project_do_not_belong_to_the_outer_one(tmp_path: Path):
    package_at(tmp_path, metaEdProject=CORE)
    write_project(tmp_path / "node_modules" / "other", "Other", 'Descriptor Fuel documentation "."')

    assert compile_projects([tmp_path]).entities == {}


def test_a_nested_project_that_hides_files_is_a_warning(tmp_path: Path):
    package_at(tmp_path, metaEdProject=CORE)
    nested = tmp_path / "Descriptor" / "old"
    write_project(nested, "Old", 'Descriptor Fuel documentation "."')
    write_project(tmp_path / "without_files", "Empty", "")
    package_at(tmp_path / "no_metaed", name="web", version="1.0.0")
    descriptor(tmp_path / "no_metaed" / "Color.metaed", "Color")

    model, (problem,) = check_projects([tmp_path])

    assert model is not None and [key.name for key in model.entities] == ["Color"]
    assert str(problem) == (
        f"{nested}/package.json:1:1: warning: the files of {nested} are left out of the project around it: "
        "this file makes it a project of its own"
    )


def test_a_nested_project_is_no_warning_if_it_is_read_or_installed(tmp_path: Path):
    package_at(tmp_path, metaEdProject=CORE)
    nested = write_project(tmp_path / "extension", "Transit", 'Descriptor Fuel documentation "."')
    write_project(tmp_path / "node_modules" / "@edfi" / "model", "Other", 'Descriptor Fuel documentation "."')

    assert messages(tmp_path, nested) == []


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", b" \r\n\t\n"])
def test_an_empty_file_is_an_error(tmp_path: Path, content: bytes):
    package_at(tmp_path, metaEdProject=CORE)
    (tmp_path / "Fuel.metaed").write_bytes(content)

    with pytest.raises(ModelErrors) as raised:
        compile_projects([tmp_path])

    assert str(raised.value) == f"{tmp_path}/Fuel.metaed:1:1: the file is empty"


def test_a_file_of_comments_only_is_no_error(tmp_path: Path):
    package_at(tmp_path, metaEdProject=CORE)
    (tmp_path / "Fuel.metaed").write_text("// Comes with version 2.\n", encoding="utf-8")

    assert messages(tmp_path) == []


def test_byte_order_marks_and_windows_line_ends_are_ignored(tmp_path: Path):
    package_at(tmp_path, metaEdProject=CORE)
    descriptor(tmp_path / "a.metaed", "Fuel", encoding="utf-8-sig", newline="\r\n")

    (fuel,) = compile_projects([tmp_path]).of_kind(EntityKind.DESCRIPTOR)

    assert fuel.documentation == "Two\nlines."
    assert (fuel.place.line, fuel.place.column) == (1, 12)


def problems_of_bytes(folder: Path, content: bytes) -> list[tuple[bool, int, int, str]]:
    package_at(folder, metaEdProject=CORE)
    (folder / "a.metaed").write_bytes(content)
    return [(p.is_error, p.place.line, p.place.column, p.message) for p in check_projects([folder])[1]]


def test_windows_1252_in_documentation_is_read_with_a_warning(tmp_path: Path):
    problems = problems_of_bytes(
        tmp_path, b'\xef\xbb\xbfDescriptor Fuel\r\n documentation "A ""car\x92s"" fuel \x96 caf\xc3\xa9."'
    )

    assert problems == [
        (False, 2, 24, "not UTF-8: byte 0x92 is read as Windows-1252 '\u2019'; save the file as UTF-8"),
        (False, 2, 34, "not UTF-8: byte 0x96 is read as Windows-1252 '\u2013'; save the file as UTF-8"),
    ]
    (fuel,) = compile_projects([tmp_path]).of_kind(EntityKind.DESCRIPTOR)
    assert fuel.documentation == 'A "car\u2019s" fuel \u2013 café.'


def test_documentation_is_recognised_after_a_comment_but_not_inside_one(tmp_path: Path):
    problems = problems_of_bytes(
        tmp_path, b'Descriptor Fuel // no documentation "here\n documentation // \xe4\n "It\x92s fuel." // "car\x92s"'
    )

    assert [(is_error, line, column) for is_error, line, column, _ in problems] == [
        (True, 2, 19),
        (False, 3, 5),
        (True, 3, 22),
    ]


@pytest.mark.parametrize(
    ("content", "line", "column"),
    [
        (b'Descriptor F\xfcel\n documentation "."', 1, 13),
        (b'Descriptor Fuel\n deprecated "It\xfcs old."\n documentation "."', 2, 16),
        (b'Descriptor Fuel\n documentation "no \x81 character"', 2, 20),
        (b'Descriptor Fuel\n documentation "no end \x92', 2, 24),
    ],
)
def test_bytes_elsewhere_that_are_not_utf_8_are_an_error(tmp_path: Path, content: bytes, line: int, column: int):
    problems = problems_of_bytes(tmp_path, content)

    byte = next(byte for byte in content if byte >= 0x80)
    assert (True, line, column, f"not UTF-8: byte {byte:#04x}") in problems


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON: Expecting property name enclosed in double quotes"),
        ('{"metaEdProject": 1}', "'metaEdProject' and each of its 'publishedDeviations' must be an object"),
        ('{"metaEdProject": {"projectVersion": "1"}}', "'projectName' is missing"),
        ('{"metaEdProject": {"projectName": "Ed-Fi"}}', "'projectVersion' is missing"),
        ('{"metaEdProject": {"projectName": 7, "projectVersion": "1"}}', "'projectName' must be a text"),
        (
            '{"metaEdProject": {"projectName": "123", "projectVersion": "1"}}',
            "the project name '123' gives no namespace: it must begin with a letter",
        ),
        (
            '{"description": [], "metaEdProject": {"projectName": "A", "projectVersion": "1"}}',
            "'description' must be a text",
        ),
        (
            '{"metaEdProject": {"projectName": "A", "projectVersion": "1", "publishedDeviations": {}}}',
            "'publishedDeviations' must be a list",
        ),
        (
            '{"metaEdProject": {"projectName": "A", "projectVersion": "1", "publishedDeviations": '
            '[{"resource": "R", "path": "$.p", "reason": "."}]}}',
            "a published deviation has either 'publishedName' or 'required'",
        ),
        (
            '{"metaEdProject": {"projectName": "A", "projectVersion": "1", "publishedDeviations": '
            '[{"resource": "R", "path": "$.p", "reason": ".", "required": "yes"}]}}',
            "'required' must be true or false",
        ),
    ],
)
def test_an_invalid_package_json_is_reported(tmp_path: Path, content: str, message: str):
    (tmp_path / "package.json").write_text(content, encoding="utf-8")

    assert messages(tmp_path)[0] == message


@pytest.mark.parametrize("character", ["'", '"', "%", "\\", "{", ",", "#", "=", "[", "\n"])
@pytest.mark.parametrize("member", ["projectName", "projectVersion", "name", "publishedName"])
def test_names_have_no_characters_that_are_special_in_headers_bodies_or_statements(
    tmp_path: Path, member: str, character: str
):
    text = f"Lake{character}County"
    declared = {"projectName": "Lake", "projectVersion": "1"} | {member: text}
    deviation = {"resource": "R", "path": "$.p", "reason": ".", "publishedName": declared.get("publishedName", "b")}
    package_at(tmp_path, metaEdProject=declared | {"publishedDeviations": [deviation]}, name=declared.get("name", "l"))

    found = messages(tmp_path)

    is_header = member in ("projectVersion", "name")
    assert found == ([] if is_header and character != "\n" else [refused(member, text)])


def refused(member: str, text: str) -> str:
    return f"'{member}' has characters that it must not have: {text!r}"


def test_a_path_without_project_is_reported(tmp_path: Path):
    package_at(tmp_path / "web", name="no MetaEd here")

    with pytest.raises(ModelErrors) as raised:
        compile_projects([tmp_path, tmp_path / "missing"])

    assert str(raised.value) == (
        f"{tmp_path}:1:1: no MetaEd project: no package.json with 'metaEdProject', "
        "neither here nor in the folders below; the least that it has is "
        '{"metaEdProject": {"projectName": "State", "projectVersion": "1.0.0"}}\n'
        f"{tmp_path / 'missing'}:1:1: no such folder"
    )


def test_two_projects_of_one_name_are_refused_with_both_folders(tmp_path: Path):
    first = write_project(tmp_path / "b", "Transit", 'Descriptor First documentation "."')
    second = write_project(tmp_path / "a", "Transit", 'Descriptor Second documentation "."')

    assert messages(first, second) == [
        f"there are two projects 'Transit', in {first} and in {second}: leave one out, or rename it"
    ]


def test_former_names_are_an_object_of_texts(tmp_path: Path):
    project = package_at(tmp_path, metaEdProject={**CORE, "formerNames": {"Parent": 1}})

    assert messages(project) == ["'formerNames' must be an object of texts"]


def test_namespaces_that_differ_in_case_only_are_refused(tmp_path: Path):
    projects = [write_project(tmp_path / name, name, "") for name in ("Transit", "TRAN-SIT")]

    assert messages(*projects) == [
        f"the namespace of 'TRAN-SIT' is that of 'Transit' in {projects[0]} too, but for its case"
    ]
