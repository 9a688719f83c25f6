"""The public functions of the package: a model → the files of all its projects, and its problems."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lxml import etree

from edfi_api.model.metaed.errors import Problem
from edfi_api.model.metaed.model import Model, Project
from edfi_api.model.xsd.core_schema import ANNOTATION_NAMESPACE, annotation_schema, core_schema
from edfi_api.model.xsd.interchange_schemas import interchange_schemas
from edfi_api.model.xsd.problems import contradictions, homographs, incomplete_restrictions
from edfi_api.model.xsd.schema import (
    ANNOTATION_FILE,
    Annotation,
    Choice,
    ComplexType,
    Element,
    EnumeratedValue,
    InterchangeRoot,
    Particle,
    Schema,
    SimpleType,
)
from edfi_api.model.xsd.schema_file import SchemaFile, SchemaFiles


@dataclass(frozen=True, slots=True)
class ProjectSchemas:
    """The schemas of one project, why they are not served, and what else there is to say about them."""

    project: Project
    schemas: tuple[Schema, ...]
    reasons_against: tuple[Problem, ...]
    advice: tuple[Problem, ...]

    @property
    def problems(self) -> tuple[Problem, ...]:
        return (*self.reasons_against, *self.advice)


def schema_files(model: Model) -> SchemaFiles:
    """The files of all projects that have valid ones. An extension has none where the core has none."""
    projects = project_schemas(model)
    warnings = tuple(f"{problem.place}: {problem.message}" for made in projects for problem in made.problems)
    core, *extensions = projects
    if core.reasons_against:
        return SchemaFiles(warnings=warnings)
    own = {made.project.name: _files(made.schemas) for made in extensions if not made.reasons_against}
    return SchemaFiles(_files(core.schemas), own, warnings)


def schema_problems(model: Model) -> tuple[Problem, ...]:
    """Warnings about the files of all projects."""
    return tuple(problem for made in project_schemas(model) for problem in made.problems)


def project_schemas(model: Model) -> tuple[ProjectSchemas, ...]:
    """The schemas of each project, the core's first."""
    core, *extensions = model.projects
    of_core = _project_schemas(model, core, core, ())
    shared = tuple(schema for schema in of_core.schemas if schema.file_name != ANNOTATION_FILE)
    return (of_core, *(_project_schemas(model, project, core, shared) for project in extensions))


def _project_schemas(model: Model, project: Project, core: Project, shared: Sequence[Schema]) -> ProjectSchemas:
    schemas = (
        annotation_schema(model, {core.namespace, project.namespace}),
        core_schema(model, project, core.version),
        *interchange_schemas(model, project, core.version),
    )
    return ProjectSchemas(
        project=project,
        schemas=schemas,
        reasons_against=tuple(homographs(model, project)) or tuple(contradictions(project, schemas, shared)),
        advice=tuple(incomplete_restrictions(model, project)),
    )


def _files(schemas: Sequence[Schema]) -> tuple[SchemaFile, ...]:
    in_order = sorted(schemas, key=lambda schema: schema.file_name.lower())
    return tuple(SchemaFile(schema.file_name, gzip.compress(render(schema), mtime=0)) for schema in in_order)


_XML_SCHEMA_NAMESPACE = "http://www.w3.org/2001/XMLSchema"
_XS = f"{{{_XML_SCHEMA_NAMESPACE}}}"
_ANN = f"{{{ANNOTATION_NAMESPACE}}}"

# Model text may have them, in documentation that was pasted; XML cannot.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# lxml has no type hints.
Node = Any


def render(schema: Schema) -> bytes:
    """The text of a file, in UTF-8 and indented."""
    prefixes: dict[str | None, str] = {None: schema.namespace, "xs": _XML_SCHEMA_NAMESPACE}
    if schema.has_annotations_for_tools:
        prefixes["ann"] = ANNOTATION_NAMESPACE
    root = etree.Element(f"{_XS}schema", nsmap=prefixes)
    root.set("targetNamespace", schema.namespace)
    root.set("elementFormDefault", "qualified")
    root.set("attributeFormDefault", "unqualified")
    if schema.version:
        root.set("version", schema.version)
    if schema.imports:
        _add(root, "import", namespace=ANNOTATION_NAMESPACE, schemaLocation=schema.imports)
    if schema.includes:
        _add(root, "include", schemaLocation=schema.includes)
    for component in schema.components:
        match component:
            case Annotation():
                _write_annotation(root, component)
            case ComplexType():
                _write_complex_type(root, component)
            case SimpleType():
                _write_simple_type(root, component)
            case InterchangeRoot():
                _write_interchange(root, component)
    etree.indent(root)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8"))


def _add(parent: Node, tag: str, /, **attributes: str) -> Node:
    return etree.SubElement(parent, _XS + tag, attributes)


def _write_annotation(parent: Node, annotation: Annotation | None) -> None:
    if annotation is None:
        return
    node = _add(parent, "annotation")
    _add(node, "documentation").text = _NO_XML.sub("\N{REPLACEMENT CHARACTER}", annotation.documentation)
    if annotation.group or annotation.descriptor:
        for_tools = _add(node, "appinfo")
        name = "TypeGroup" if annotation.group else "Descriptor"
        etree.SubElement(for_tools, _ANN + name).text = annotation.group or annotation.descriptor


def _write_complex_type(parent: Node, type_: ComplexType) -> None:
    node = _add(parent, "complexType", name=type_.name)
    if type_.is_abstract:
        node.set("abstract", "true")
    _write_annotation(node, type_.annotation)
    for attribute in type_.attributes:
        _write_annotation(
            _add(node, "attribute", name=attribute.name, type=attribute.type), Annotation(attribute.documentation)
        )
    holder = node
    if type_.base:
        holder = _add(_add(node, "complexContent"), type_.derivation, base=type_.base)
    if type_.particles:
        _write_particles(_add(holder, "sequence"), type_.particles)


def _write_particles(parent: Node, particles: Iterable[Particle]) -> None:
    for particle in particles:
        match particle:
            case Element():
                node = _add(parent, "element", name=particle.name, type=particle.type, **_occurrence(particle))
                _write_annotation(node, particle.annotation)
            case Choice():
                _write_particles(_add(parent, "choice", **_occurrence(particle)), particle.particles)


def _occurrence(particle: Particle) -> dict[str, str]:
    least = {"minOccurs": "0"} if particle.is_optional else {}
    return least | ({"maxOccurs": "unbounded"} if particle.is_repeated else {})


def _write_simple_type(parent: Node, type_: SimpleType) -> None:
    node = _add(parent, "simpleType", name=type_.name)
    _write_annotation(node, type_.annotation)
    restriction = _add(node, "restriction", base=type_.base)
    for facet, value in type_.facets:
        _add(restriction, facet, value=value)
    for enumerated in type_.values:
        _write_enumerated(restriction, enumerated)


def _write_enumerated(parent: Node, enumerated: EnumeratedValue) -> None:
    _write_annotation(
        _add(parent, "enumeration", value=_NO_XML.sub("\N{REPLACEMENT CHARACTER}", enumerated.value)),
        enumerated.annotation,
    )


def _write_interchange(parent: Node, interchange: InterchangeRoot) -> None:
    node = _add(parent, "element", name=interchange.name)
    _write_annotation(node, interchange.annotation)
    choice = _add(_add(node, "complexType"), "choice", maxOccurs="unbounded")
    _write_particles(choice, interchange.elements)
