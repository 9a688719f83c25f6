"""The XML schemas over HTTP: lists and files."""

import gzip
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import orjson
import pytest
from django.test import Client, override_settings
from lxml import etree

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.core.served import Compilation, compilation_of, compiled
from edfi_api.model.apischema.writer import api_schema
from tests.model.surface.models import write_project
from tests.model.xsd.models import SHARED_STRINGS, loaded
from tests.support.serving import LAKE_COUNTY, Served, served

CORE_FILES = {"3.3.1-b": 24, "4.0": 24, "5.2": 27, "6.1": 33}
CORE_TEXT = f"""
{SHARED_STRINGS}
Domain Entity Student
  string StudentUniqueId is part of identity max length 32
Descriptor Color
Interchange Student
  domain entity Student
"""
TRANSIT_TEXT = """
Domain Entity Bus
  string BusNumber is part of identity max length 12
Descriptor Paint
"""
EXTENSION_FILES = [
    "Ed-Fi-Core.xsd",
    "Interchange-Descriptors.xsd",
    "Interchange-Student.xsd",
    "SchemaAnnotation.xsd",
    "EXTENSION-Ed-Fi-Extended-Core.xsd",
    "EXTENSION-Interchange-Descriptors-Extension.xsd",
]


def get(path: str, **headers: str):
    return Client().get(path, headers=headers)


def names(project: str) -> list[str]:
    """The names of the files listed for a project; asserts that all are below its address."""
    addresses = get(f"/metadata/xsd/{project}/files").json()
    folder = f"http://testserver/metadata/xsd/{project}/"
    assert all(address.startswith(folder) for address in addresses)
    return [address.removeprefix(folder) for address in addresses]


@contextmanager
def serving(compilation: Compilation) -> Iterator[None]:
    with override_settings(ROOT_URLCONF=Served("test", compilation).urls):
        yield


def api_schema_file(compilation: Compilation, project: str, folder: Path) -> Path:
    """The ApiSchema file of one project."""
    (facts,) = (facts for facts in compilation.surface.projects if facts.name == project)
    file = folder / f"{project}.json"
    file.write_bytes(orjson.dumps(api_schema(compilation.surface, facts)))
    return file


@pytest.fixture
def projects(tmp_path: Path) -> Callable[..., list[Path]]:
    """Writes a small core project, and extension projects given by name."""

    def write(**extensions: str) -> list[Path]:
        core = write_project(tmp_path / "core", "Ed-Fi", CORE_TEXT)
        return [core, *(write_project(tmp_path / name, name, text, "1.0.0") for name, text in extensions.items())]

    return write


def test_the_files_of_the_core_are_listed_in_case_insensitive_order(standard: str) -> None:
    listed = names("ed-fi")

    assert len(listed) == CORE_FILES[standard]
    assert listed[:2] == ["Ed-Fi-Core.xsd", "Interchange-AssessmentMetadata.xsd"]
    assert listed[-2:] == ["Interchange-Survey.xsd", "SchemaAnnotation.xsd"]
    assert listed == sorted(listed, key=str.lower)


def test_the_listed_files_are_usable_in_one_folder(tmp_path: Path) -> None:
    """As the Bulk Load Client does: each file by the last segment of its address."""
    for address in get("/metadata/xsd/ed-fi/files").json():
        content = get(urlsplit(address).path).content
        (tmp_path / address.rpartition("/")[2]).write_bytes(content)

    schemas = loaded(tmp_path)

    assert schemas["Interchange-Student.xsd"] is not None
    assert len(schemas) == len(names("ed-fi"))


def test_a_file_is_xml_with_a_declaration(standard: str) -> None:
    response = get("/metadata/xsd/ed-fi/Ed-Fi-Core.xsd")

    assert response.status_code == 200
    assert response["Content-Type"] == "application/xml"
    assert response.content.startswith(b"<?xml version='1.0' encoding='UTF-8'?>\n<xs:schema ")
    version = {"3.3.1-b": "3.3.1-b", "4.0": "4.0.0", "5.2": "5.2.0", "6.1": "6.1.0"}[standard]
    assert etree.fromstring(response.content).get("targetNamespace") == f"http://ed-fi.org/{version}"


@pytest.mark.parametrize(
    "path",
    [
        "/metadata/xsd/Ed-Fi/SCHEMAANNOTATION.XSD",
        "/METADATA/XSD/ED-FI/schemaannotation.xsd",
        "/metadata/xsd/ed-fi/SchemaAnnotation.xsd/",
    ],
)
def test_names_are_case_insensitive(path: str) -> None:
    assert get(path).content == get("/metadata/xsd/ed-fi/SchemaAnnotation.xsd").content


@pytest.mark.parametrize(
    "path",
    [
        "/metadata/xsd/none/files",
        "/metadata/xsd/none/Ed-Fi-Core.xsd",
        "/metadata/xsd/ed-fi/Core.xsd",
        "/metadata/xsd/ed-fi/Ed-Fi-Core",
        "/metadata/xsd/ed-fi/Ed-Fi-Core.xsd/more",
        "/metadata/xsd/ed-fi/..%2FEd-Fi-Core.xsd",
        "/metadata/xsd/ed-fi",
    ],
)
def test_an_unknown_name_is_an_invalid_path(path: str) -> None:
    response = get(path)

    assert (response.status_code, response.content) == (404, b"Invalid resource path")
    assert response["Content-Type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize("path", ["/metadata/xsd/ed-fi/files", "/metadata/xsd/ed-fi/Ed-Fi-Core.xsd"])
def test_lists_and_files_are_published_like_all_metadata(path: str) -> None:
    plain, compressed = get(path), get(path, **{"Accept-Encoding": "gzip"})

    assert gzip.decompress(compressed.content) == plain.content
    assert compressed["Content-Encoding"] == "gzip"
    assert plain["Cache-Control"] == compressed["Cache-Control"] == "no-cache"
    assert "Accept-Encoding" in plain["Vary"]
    assert plain["ETag"] != compressed["ETag"]
    for response in (plain, compressed):
        accepted = {"Accept-Encoding": response.get("Content-Encoding", "identity"), "If-None-Match": response["ETag"]}
        again = get(path, **accepted)
        assert (again.status_code, again.content) == (304, b"")


def test_a_head_has_the_headers_of_the_file_and_no_body() -> None:
    path = "/metadata/xsd/ed-fi/SchemaAnnotation.xsd"

    head = Client().head(path)

    assert (head.status_code, head.content) == (200, b"")
    assert head["ETag"] == get(path)["ETag"]


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_files_are_read_only(method: str) -> None:
    assert getattr(Client(), method)("/metadata/xsd/ed-fi/Ed-Fi-Core.xsd").status_code == 405


def test_an_extension_has_the_files_of_the_core_below_its_own_address(projects, tmp_path: Path) -> None:
    with serving(compiled(projects(Transit=TRANSIT_TEXT))):
        assert names("transit") == EXTENSION_FILES
        assert names("ed-fi") == EXTENSION_FILES[:4]
        listed = get("/metadata/xsd").json()
        for name in EXTENSION_FILES:
            (tmp_path / name).write_bytes(get(f"/metadata/xsd/Transit/{name}").content)
        assert get("/metadata/xsd/ed-fi/EXTENSION-Ed-Fi-Extended-Core.xsd").status_code == 404
        same = [
            get(f"/metadata/xsd/{project}/Ed-Fi-Core.xsd").content == (tmp_path / "Ed-Fi-Core.xsd").read_bytes()
            for project in ("ed-fi", "transit")
        ]

    assert same == [True, True]
    assert [(project["name"], project["files"]) for project in listed] == [
        ("ed-fi", "http://testserver/metadata/xsd/ed-fi/files"),
        ("transit", "http://testserver/metadata/xsd/transit/files"),
    ]
    schemas = loaded(tmp_path)
    document = """<InterchangeDescriptors xmlns="http://ed-fi.org/5.2.0"><PaintDescriptor><CodeValue>Red</CodeValue>
        <ShortDescription>Red</ShortDescription><Namespace>uri://transit.org</Namespace></PaintDescriptor>
        </InterchangeDescriptors>"""
    assert schemas["EXTENSION-Interchange-Descriptors-Extension.xsd"].validate(etree.fromstring(document))
    assert not schemas["Interchange-Descriptors.xsd"].validate(etree.fromstring(document))


def test_the_annotation_schema_lists_the_descriptors_of_the_core_and_below_an_extension_also_its_own(projects) -> None:
    with serving(compiled(projects(Transit=TRANSIT_TEXT))):
        core = get("/metadata/xsd/ed-fi/SchemaAnnotation.xsd").content
        extension = get("/metadata/xsd/transit/SchemaAnnotation.xsd").content

    assert (b"ColorDescriptor" in core, b"PaintDescriptor" in core) == (True, False)
    assert (b"ColorDescriptor" in extension, b"PaintDescriptor" in extension) == (True, True)


def test_neither_of_two_extensions_sees_the_other(projects) -> None:
    lake = "Domain Entity Boat\n  string BoatNumber is part of identity\nInterchange Lake\n  domain entity Boat\n"

    with serving(compiled(projects(Transit=TRANSIT_TEXT, Lake=lake))):
        listed = {project: names(project)[4:] for project in ("transit", "lake")}
        boats = b"Boat" in get("/metadata/xsd/transit/EXTENSION-Ed-Fi-Extended-Core.xsd").content
        annotations = get("/metadata/xsd/lake/SchemaAnnotation.xsd").content

    assert listed == {
        "transit": ["EXTENSION-Ed-Fi-Extended-Core.xsd", "EXTENSION-Interchange-Descriptors-Extension.xsd"],
        "lake": ["EXTENSION-Ed-Fi-Extended-Core.xsd", "EXTENSION-Interchange-Lake-Extension.xsd"],
    }
    assert not boats
    assert b"PaintDescriptor" not in annotations


def test_an_extension_with_a_name_of_the_core_has_the_files_of_the_core_only(projects) -> None:
    student = "Domain Entity Student\n  string BoatNumber is part of identity\n"

    with serving(compiled(projects(Transit=TRANSIT_TEXT, Lake=student))):
        assert names("lake") == EXTENSION_FILES[:4]
        assert names("transit") == EXTENSION_FILES


def test_an_extension_without_valid_xml_schemas_has_the_files_of_the_core(standard: str) -> None:
    with serving(served(standard, LAKE_COUNTY).compilation):
        assert names("lakecounty") == names("ed-fi")
        assert len(names("ed-fi")) == CORE_FILES[standard]


def test_a_project_with_a_blank_in_its_name_has_usable_addresses(tmp_path: Path, projects) -> None:
    [core] = projects()
    extension = write_project(tmp_path / "gb", "Grand Bend", TRANSIT_TEXT, "1.0.0")

    with serving(compiled([core, extension])):
        files = get("/metadata/xsd").json()[1]["files"]
        listed = get(urlsplit(files).path).json()
        statuses = {get(urlsplit(address).path).status_code for address in listed}

    assert files == "http://testserver/metadata/xsd/grand%20bend/files"
    assert listed[-1].endswith("/metadata/xsd/grand%20bend/EXTENSION-Interchange-Descriptors-Extension.xsd")
    assert statuses == {200}


def test_a_core_from_an_api_schema_file_has_no_files(projects, tmp_path: Path) -> None:
    """The format does not keep the order of declarations."""
    with serving(compiled([api_schema_file(compiled(projects()), "Ed-Fi", tmp_path)])):
        assert names("ed-fi") == []
        assert get("/metadata/xsd/ed-fi/Ed-Fi-Core.xsd").status_code == 404


def test_an_extension_from_an_api_schema_file_has_the_files_of_the_core_only(projects, tmp_path: Path) -> None:
    core, extension = projects(Transit=TRANSIT_TEXT)
    file = api_schema_file(compiled([core, extension]), "Transit", tmp_path)

    with serving(compiled([core, file])):
        assert names("transit") == EXTENSION_FILES[:4]


def test_the_files_of_a_surface_from_the_cache_are_the_same(projects, tmp_path: Path) -> None:
    """A cached surface has no model from which they could be generated."""
    sources = projects(Transit=TRANSIT_TEXT)

    first = compilation_of(sources, tmp_path / "cache")
    second = compilation_of(sources, tmp_path / "cache")

    assert len(list((tmp_path / "cache").iterdir())) == 1
    assert second.schema_files == first.schema_files
    with serving(second):
        assert names("transit") == EXTENSION_FILES


def test_files_are_kept_compressed() -> None:
    kept = sum(len(file.compressed) for file in compiled([BUNDLED_STANDARDS / "5.2"]).schema_files.core)

    assert 50_000 < kept < 150_000
