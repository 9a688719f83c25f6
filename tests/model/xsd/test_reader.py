"""The reader of interchange files and the schemas agree: documents that the reader accepts are valid."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.features.loading.interchange.document_reader import DocumentReader, documents
from edfi_api.features.loading.interchange.entities import Entities
from edfi_api.model.metaed.compiler import compile_projects
from edfi_api.model.surface.builder import build_surface
from edfi_api.model.surface.resource import InterchangeElement, InterchangeKind, Resource, ResourceKind, Surface
from edfi_api.model.xsd.files import schema_files
from tests.model.xsd.documents import Writer
from tests.model.xsd.models import loaded, parsed, saved
from tests.model.xsd.outline import XS
from tests.model.xsd.reviewed import without_homograph
from tests.support.factories import DocumentFactory
from tests.support.serving import OTHERS_MARKED

MODELS = (*OTHERS_MARKED, "lake_county")
# Entities without an interchange, by standard.
NOWHERE_IN_5_2 = {
    "DescriptorMapping",
    "StudentAssessmentEducationOrganizationAssociation",
    "StudentSpecialEducationProgramEligibilityAssociation",
}
NOWHERE = {
    "3.3.1-b": set(),
    "4.0": {"DescriptorMapping", "StudentAssessmentEducationOrganizationAssociation"},
    "5.2": NOWHERE_IN_5_2,
    "6.1": NOWHERE_IN_5_2,
    "lake_county": NOWHERE_IN_5_2
    | {"Crossing", "DeckSection", "LostOar", "Raft", "StudentFerryAssociation", "StudentSailingProgramAssociation"},
}


@dataclass(frozen=True)
class Made:
    """The surface and the schemas of a model."""

    name: str
    surface: Surface
    writer: Writer
    schemas: dict[str, etree.XMLSchema]


@pytest.fixture(scope="module", params=MODELS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder: Path = tmp_path_factory.mktemp("schemas")
    project, sources = "Ed-Fi", [BUNDLED_STANDARDS / request.param]
    if request.param == "lake_county":
        project, sources = "LakeCounty", [BUNDLED_STANDARDS / "5.2", without_homograph(folder / "lake_county")]
    model = compile_projects(sources)
    files = schema_files(model).of(project)
    surface = build_surface(model)
    return Made(request.param, surface, Writer(parsed(files), surface), loaded(saved(files, folder / "schemas")))


def written(made: Made) -> Iterator[tuple[Resource, dict[str, Any], Any]]:
    """Every resource of an interchange, with a body that has every member, and its file."""
    factory = DocumentFactory(made.surface)
    for resource in made.surface.resources:
        if resource.kind is not ResourceKind.SCHOOL_YEAR and resource.name.resource in made.writer.places:
            body = factory.full_body(resource)
            yield resource, body, made.writer.interchange(resource.name, body)


@pytest.mark.long
def test_only_these_entities_are_in_no_interchange(made: Made) -> None:
    entities = {resource.name.resource for resource in made.surface.resources if resource.kind is ResourceKind.ENTITY}

    assert entities - made.writer.places.keys() == NOWHERE[made.name]


def test_a_document_with_every_member_is_valid(made: Made) -> None:
    invalid = []
    for resource, _, document in written(made):
        schema = made.schemas[made.writer.places[resource.name.resource].file]
        if not schema.validate(document):
            invalid.append((resource.endpoint, str(schema.error_log)))

    assert invalid == []


def test_the_reader_reads_documents_of_the_schemas(made: Made) -> None:
    """A body that is read from a file gives the same file."""
    reader = DocumentReader(Entities(made.surface))
    count = 0
    for resource, _, document in written(made):
        (element,) = documents(io.BytesIO(etree.tostring(document)))
        fragment = reader.read(element).document
        assert etree.tostring(made.writer.interchange(resource.name, fragment.body)) == etree.tostring(document)
        count += 1

    assert count > 250


def type_of(writer: Writer, entity: str) -> str:
    """The type of an entity: that of the extension, if it declares the entity or adds to it."""
    candidates = (f"EXTENSION-{entity}Extension", f"EXTENSION-{entity}", entity)
    return next(name for name in candidates if name in writer.types)


def names_of(elements: tuple[InterchangeElement, ...]) -> set[str]:
    return {element.name for element in elements}


def test_the_reader_accepts_exactly_the_elements_of_every_type(made: Made) -> None:
    """Except the identity of abstract entities, which the reader accepts and the schemas declare in subclasses."""
    abstract = {entity.name for entity in made.surface.abstract_resources}
    different = {}
    for entity in made.surface.interchange:
        found = dict(_differences(made.writer, type_of(made.writer, entity.name.resource), entity.elements))
        if found and entity.name not in abstract:
            different[entity.name.resource] = found

    assert different == {}


def _differences(
    writer: Writer, type_name: str, elements: tuple[InterchangeElement, ...]
) -> Iterator[tuple[str, set[str]]]:
    """The names that only one of both has, by type, including nested types."""
    declared = {
        node.get("name"): node.get("type")
        for particle in writer._particles(type_name)
        for node in particle.iter(f"{XS}element")
    }
    if declared.keys() != names_of(elements):
        yield type_name, declared.keys() ^ names_of(elements)
    for element in elements:
        if element.kind in (InterchangeKind.OBJECT, InterchangeKind.INLINE) and element.name in declared:
            yield from _differences(writer, declared[element.name], element.elements)
