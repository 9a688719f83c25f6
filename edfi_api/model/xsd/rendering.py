"""Schemas → XML text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from lxml import etree

from edfi_api.model.xsd.core_schema import ANNOTATION_NAMESPACE
from edfi_api.model.xsd.schema import (
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

XML_SCHEMA_NAMESPACE = "http://www.w3.org/2001/XMLSchema"
_XS = f"{{{XML_SCHEMA_NAMESPACE}}}"
_ANN = f"{{{ANNOTATION_NAMESPACE}}}"

# Model text may have them, in documentation that was pasted; XML cannot.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# lxml has no type hints.
Node = Any


def render(schema: Schema) -> bytes:
    """The text of a file, in UTF-8 and indented."""
    prefixes: dict[str | None, str] = {None: schema.namespace, "xs": XML_SCHEMA_NAMESPACE}
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
                _annotation(root, component)
            case ComplexType():
                _complex_type(root, component)
            case SimpleType():
                _simple_type(root, component)
            case InterchangeRoot():
                _interchange(root, component)
    etree.indent(root)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8"))


def _add(parent: Node, tag: str, /, **attributes: str) -> Node:
    return etree.SubElement(parent, _XS + tag, attributes)


def _annotation(parent: Node, annotation: Annotation | None) -> None:
    if annotation is None:
        return
    node = _add(parent, "annotation")
    _add(node, "documentation").text = _NO_XML.sub("\N{REPLACEMENT CHARACTER}", annotation.documentation)
    if annotation.group or annotation.descriptor:
        for_tools = _add(node, "appinfo")
        name = "TypeGroup" if annotation.group else "Descriptor"
        etree.SubElement(for_tools, _ANN + name).text = annotation.group or annotation.descriptor


def _complex_type(parent: Node, type_: ComplexType) -> None:
    node = _add(parent, "complexType", name=type_.name)
    if type_.is_abstract:
        node.set("abstract", "true")
    _annotation(node, type_.annotation)
    for attribute in type_.attributes:
        _annotation(
            _add(node, "attribute", name=attribute.name, type=attribute.type), Annotation(attribute.documentation)
        )
    holder = node
    if type_.base:
        holder = _add(_add(node, "complexContent"), type_.derivation, base=type_.base)
    if type_.particles:
        _particles(_add(holder, "sequence"), type_.particles)


def _particles(parent: Node, particles: Iterable[Particle]) -> None:
    for particle in particles:
        match particle:
            case Element():
                node = _add(parent, "element", name=particle.name, type=particle.type, **_occurrence(particle))
                _annotation(node, particle.annotation)
            case Choice():
                _particles(_add(parent, "choice", **_occurrence(particle)), particle.particles)


def _occurrence(particle: Particle) -> dict[str, str]:
    least = {"minOccurs": "0"} if particle.is_optional else {}
    return least | ({"maxOccurs": "unbounded"} if particle.is_repeated else {})


def _simple_type(parent: Node, type_: SimpleType) -> None:
    node = _add(parent, "simpleType", name=type_.name)
    _annotation(node, type_.annotation)
    restriction = _add(node, "restriction", base=type_.base)
    for facet, value in type_.facets:
        _add(restriction, facet, value=value)
    for enumerated in type_.values:
        _enumerated(restriction, enumerated)


def _enumerated(parent: Node, enumerated: EnumeratedValue) -> None:
    _annotation(
        _add(parent, "enumeration", value=_NO_XML.sub("\N{REPLACEMENT CHARACTER}", enumerated.value)),
        enumerated.annotation,
    )


def _interchange(parent: Node, interchange: InterchangeRoot) -> None:
    node = _add(parent, "element", name=interchange.name)
    _annotation(node, interchange.annotation)
    choice = _add(_add(node, "complexType"), "choice", maxOccurs="unbounded")
    _particles(choice, interchange.elements)
