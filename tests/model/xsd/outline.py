"""Schemas as short text for diffs: a line for each type, element and value, without documentation.

complex EXTENSION-Bus extends ComplexObjectType (Domain Entity)
  HomeSchoolReference: SchoolReferenceType
  MeetingTime: MeetingTime 0..*
  Paint: EXTENSION-PaintDescriptorReferenceType 0..1 (EXTENSION-PaintDescriptor)
  choice 0..1
    Price: Currency
simple EXTENSION-BusNumber: xs:string maxLength=12 (Simple)
"""

from collections.abc import Iterator
from typing import Any

from lxml import etree

XS = "{http://www.w3.org/2001/XMLSchema}"
ANN = "{http://ed-fi.org/annotation}"

Node = Any

_VERBS = {"extension": "extends", "restriction": "restricts"}


def outline(schema: Node) -> list[str]:
    """The lines of a file, from its root."""
    version = f" version {schema.get('version')}" if schema.get("version") else ""
    return [f"namespace {schema.get('targetNamespace')}{version}", *(line for node in schema for line in _lines(node))]


def outline_of(schema: Node, name: str) -> list[str]:
    """The lines of the type or of the root element of an interchange with this name; of all if there are several."""
    return [line for node in schema if node.get("name") == name for line in _lines(node)]


def names_of(schema: Node) -> list[str]:
    """The names of all types, in order."""
    return [node.get("name") for node in schema if node.tag in (f"{XS}complexType", f"{XS}simpleType")]


def _lines(node: Node) -> Iterator[str]:
    match etree.QName(node).localname:
        case "import" | "include" as how:
            yield f"{how}s {node.get('schemaLocation')}"
        case "annotation":
            yield f"# {node.findtext(f'{XS}documentation').strip('= ')}"
        case "complexType":
            yield from _complex_type(node)
        case "simpleType":
            yield from _simple_type(node)
        case "element":
            yield f"element {node.get('name')}"
            yield from _content(node.find(f"{XS}complexType"), 1)


def _complex_type(node: Node) -> Iterator[str]:
    abstract = "abstract " if node.get("abstract") == "true" else ""
    holder, base = node, ""
    for derivation in node.iterfind(f"{XS}complexContent/*"):
        holder, base = derivation, f" {_VERBS[etree.QName(derivation).localname]} {derivation.get('base')}"
    yield f"{abstract}complex {node.get('name')}{base}{_for_tools(node)}"
    for attribute in node.iterfind(f"{XS}attribute"):
        yield f"  @{attribute.get('name')}: {attribute.get('type')}"
    yield from _content(holder, 1)


def _content(holder: Node, depth: int) -> Iterator[str]:
    """The content of a type, a sequence or a choice. A sequence has no line."""
    indent = "  " * depth
    for node in holder:
        match etree.QName(node).localname:
            case "sequence":
                yield from _content(node, depth)
            case "choice":
                yield f"{indent}choice{_occurrence(node)}"
                yield from _content(node, depth + 1)
            case "element":
                yield f"{indent}{node.get('name')}: {node.get('type')}{_occurrence(node)}{_for_tools(node)}"


def _occurrence(node: Node) -> str:
    least, most = node.get("minOccurs", "1"), node.get("maxOccurs", "1").replace("unbounded", "*")
    return "" if (least, most) == ("1", "1") else f" {least}..{most}"


def _simple_type(node: Node) -> Iterator[str]:
    restriction = node.find(f"{XS}restriction")
    facets = [f" {etree.QName(f).localname}={f.get('value')}" for f in restriction if f.tag != f"{XS}enumeration"]
    yield f"simple {node.get('name')}: {restriction.get('base')}{''.join(facets)}{_for_tools(node)}"
    for value in restriction.iterfind(f"{XS}enumeration"):
        yield f"  {value.get('value')!r}"


def _for_tools(node: Node) -> str:
    appinfo = node.find(f"{XS}annotation/{XS}appinfo")
    return f" ({''.join(appinfo.itertext()).strip()})" if appinfo is not None else ""
