"""Bodies of documents → interchange XML, with the elements in the order of the schemas.

The inverse of the reader of interchange files. It takes the names of elements from the schemas, so that tests can
compare both.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

from edfi_api.model.surface.resource import (
    ALL_ITEMS,
    InterchangeElement,
    InterchangeKind,
    JsonPath,
    KeyPair,
    ResourceName,
    Surface,
)
from tests.model.xsd.models import Schemas
from tests.model.xsd.outline import XS

Node = Any


@dataclass(frozen=True)
class Place:
    """The file of an entity's documents, its root element, and the type of the document."""

    file: str
    root: str
    type: str


@dataclass
class Writer:
    """Writes documents of a surface by the schemas of a project, of core and extension."""

    schemas: Schemas
    surface: Surface
    types: dict[str, Node] = field(init=False)
    places: dict[str, Place] = field(init=False)

    def __post_init__(self) -> None:
        self.types = {
            node.get("name"): node for root in self.schemas.values() for node in root.iterfind(f"{XS}complexType")
        }
        self.places = {}
        for file, root in self.schemas.items():  # Files of the extension come last and replace those of the core.
            for interchange in root.iterfind(f"{XS}element"):
                for item in interchange.iter(f"{XS}element"):
                    if item is not interchange:
                        self.places[item.get("name")] = Place(file, interchange.get("name"), item.get("type"))
        self._elements = {entity.name: entity.elements for entity in self.surface.interchange}

    def interchange(self, name: ResourceName, body: dict[str, Any]) -> Node:
        """A file with only this document."""
        place = self.places[name.resource]
        namespace = self.schemas[place.file].get("targetNamespace")
        root = etree.Element(f"{{{namespace}}}{place.root}", nsmap={None: namespace})
        self._fill(_child(root, name.resource), place.type, self._elements[name], body)
        return root

    def _fill(self, node: Node, type_name: str, elements: Iterable[InterchangeElement], body: dict[str, Any]) -> None:
        by_name = {element.name: element for element in elements}
        for particle in self._particles(type_name):
            self._write(node, particle, by_name, body)

    def _particles(self, type_name: str) -> Iterator[Node]:
        """Elements and choices, starting with those of the base."""
        type_ = self.types[type_name]
        extension = type_.find(f"{XS}complexContent/{XS}extension")
        if extension is not None:
            yield from self._particles(extension.get("base"))
        yield from type_.iterfind(f"{XS}sequence/*")
        yield from type_.iterfind(f"{XS}complexContent/*/{XS}sequence/*")

    def _write(self, node: Node, particle: Node, elements: dict[str, InterchangeElement], body: dict[str, Any]) -> None:
        if particle.tag == f"{XS}element":
            self._write_element(node, particle, elements[particle.get("name")], body)
            return
        before = len(node)
        for alternative in particle:
            if len(node) == before or particle.get("maxOccurs") == "unbounded":
                self._write(node, alternative, elements, body)

    def _write_element(self, node: Node, declared: Node, element: InterchangeElement, body: dict[str, Any]) -> None:
        name, type_name = declared.get("name"), declared.get("type")
        if element.kind is InterchangeKind.INLINE:
            inside = _child(node, name)
            self._fill(inside, type_name, element.elements, body)
            if not len(inside):
                node.remove(inside)
            return
        if element.kind is InterchangeKind.LEFT_OUT:
            if declared.get("minOccurs") != "0":
                _child(node, name).text = self._first_value(type_name)
            return
        for value in _values(body, element.path.steps):
            child = _child(node, name)
            match element.kind:
                case InterchangeKind.OBJECT:
                    self._fill(child, type_name, element.elements, value)
                case InterchangeKind.REFERENCE:
                    self._fill_reference(child, type_name, element, value)
                case InterchangeKind.SCHOOL_YEAR:
                    child.text = f"{value - 1}-{value}"
                case _ if type_name == "TimeInterval":  # The API accepts any text for it.
                    child.text = "P1DT2H"
                case _:
                    child.text = str(value).lower() if isinstance(value, bool) else str(value)

    def _first_value(self, type_name: str) -> str:
        """The first value of an enumeration, to which descriptors of an old standard may be mapped."""
        types = (node for root in self.schemas.values() for node in root.iterfind(f"{XS}simpleType"))
        (type_,) = (node for node in types if node.get("name") == type_name)
        return type_.find(f"{XS}restriction/{XS}enumeration").get("value")

    def _fill_reference(self, node: Node, type_name: str, element: InterchangeElement, value: dict[str, Any]) -> None:
        identity = next(self._particles(type_name))
        elements = _without_inline(self._elements[element.target])
        self._fill(_child(node, identity.get("name")), identity.get("type"), elements, _target(element.identity, value))


def _child(node: Node, name: str) -> Node:
    return etree.SubElement(node, f"{{{etree.QName(node).namespace}}}{name}")


def _without_inline(elements: Iterable[InterchangeElement]) -> Iterator[InterchangeElement]:
    for element in elements:
        if element.kind is InterchangeKind.INLINE:
            yield from _without_inline(element.elements)
        else:
            yield element


def _values(body: Any, steps: tuple[str, ...]) -> Iterator[Any]:
    if not steps:
        yield body
    elif steps[0] == ALL_ITEMS:
        for item in body:
            yield from _values(item, steps[1:])
    elif steps[0] in body:
        yield from _values(body[steps[0]], steps[1:])


def _target(identity: Iterable[KeyPair], reference: dict[str, Any]) -> dict[str, Any]:
    """The part of the target document that is known from the reference."""
    body: dict[str, Any] = {}
    for pair in identity:
        (value,) = _values(reference, pair.here.steps)
        _put(body, pair.there, value)
    return body


def _put(body: dict[str, Any], path: JsonPath, value: Any) -> None:
    *way, last = path.steps
    for step in way:
        body = body.setdefault(step, {})
    body[last] = value
