"""Files of interchange XML → their documents as small element trees, one at a time (`documents`) → a fragment of each,
in which the surface maps every element to its place in the body (`DocumentReader`).

Only one document is in memory at any time, however large the file. The parser is expat from the standard library: it
has the line of every element (libxml2 does not beyond line 65,535), and it reports a document type declaration before
it processes the content. Interchange XML has none, and entity expansion and external entities need one, so a
declaration ends the reading.

Values remain text with all their blanks, as XML Schema has them; `documents.document_validator` coerces and validates
them, as for the API. Empty elements are ignored, and those with white space alone, which editors add.
All problems of a document are collected.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NoReturn, cast
from xml.parsers import expat

from edfi_api.features.loading.exceptions import UnknownElement, UnreadableDocument, UnreadableInterchange
from edfi_api.features.loading.interchange.disk_queue import Fragment, IdReference, LookUp, Named, OpenReference, Place
from edfi_api.features.loading.interchange.entities import Elements, ElementShape, Entities, EntityElements
from edfi_api.features.loading.interchange.resolution import reference_object
from edfi_api.features.loading.renames import NO_RENAMES, Renames
from edfi_api.model.surface.naming import ROOT_PREFIX, identity_element, lookup_element
from edfi_api.model.surface.resource import ALL_ITEMS, InterchangeKind, ResourceName

_CHUNK_BYTES = 1 << 16
_NAMESPACE_SEPARATOR = " "
# Real documents are less than twenty levels deep.
_DEEPEST = 100


@dataclass(slots=True)
class XmlElement:
    """An element without its namespace. `text` is the text before the first child."""

    name: str
    line: int
    attributes: dict[str, str]
    text: str = ""
    children: list["XmlElement"] = field(default_factory=list)


def documents(file: BinaryIO) -> Iterator[XmlElement]:
    """The elements directly below the root, in order.

    Raises UnreadableFile where the text is no valid interchange; the documents before that are yielded first.
    """
    builder = _TreeBuilder()
    while chunk := file.read(_CHUNK_BYTES):
        yield from builder.feed(chunk)
        builder.raise_failure()
    yield from builder.feed(b"", is_last=True)
    builder.raise_failure()


class _TreeBuilder:
    """Parses the text in chunks and collects complete documents."""

    def __init__(self) -> None:
        self._open: list[XmlElement] = []
        self._complete: list[XmlElement] = []
        self._failure: UnreadableInterchange | None = None
        self._parser = expat.ParserCreate(namespace_separator=_NAMESPACE_SEPARATOR)
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text

    def feed(self, chunk: bytes, *, is_last: bool = False) -> list[XmlElement]:
        """The documents that this chunk completes, including those before a failure."""
        try:
            self._parser.Parse(chunk, is_last)
        except expat.ExpatError as error:
            self._failure = UnreadableInterchange(error.lineno, f"malformed XML: {expat.ErrorString(error.code)}")
        except UnreadableInterchange as failure:
            self._failure = failure
        except (LookupError, ValueError) as error:  # An encoding that Python or expat does not support.
            self._failure = self._unreadable(str(error))
        complete, self._complete = self._complete, []
        return complete

    def raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _doctype(self, *_: object) -> NoReturn:
        raise self._unreadable("a document type declaration is not accepted")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local_name = name.rpartition(_NAMESPACE_SEPARATOR)[2]
        if not self._open and not local_name.startswith(ROOT_PREFIX):
            raise self._unreadable(f"not an Ed-Fi interchange: the root element is {local_name}")
        if len(self._open) == _DEEPEST:
            raise self._unreadable(f"elements are nested more than {_DEEPEST} levels deep")
        element = XmlElement(local_name, self._parser.CurrentLineNumber, attributes)
        if len(self._open) > 1:
            self._open[-1].children.append(element)
        self._open.append(element)

    def _end(self, _: str) -> None:
        element = self._open.pop()
        if len(self._open) == 1:
            self._complete.append(element)

    def _text(self, text: str) -> None:
        if not self._open[-1].children:
            self._open[-1].text += text

    def _unreadable(self, reason: str) -> UnreadableInterchange:
        return UnreadableInterchange(self._parser.CurrentLineNumber, reason)


_SCHOOL_YEAR = re.compile(r"\d{4}-(\d{4})")


@dataclass(frozen=True, slots=True)
class ReadElement:
    """The result of reading one element below the root.

    `document` is None for a reference that only defines an `id` for others; `named` are the elements with an `id`.
    """

    document: Fragment | None
    named: dict[str, Named]


class DocumentReader:
    """Reads the documents of one surface."""

    def __init__(self, entities: Entities, renames: Renames = NO_RENAMES) -> None:
        self._entities = entities
        self._renames = renames

    def read(self, element: XmlElement) -> ReadElement:
        """Read an element directly below the root.

        Raises UnknownElement if the element is not one of a resource, UnreadableDocument if its content cannot be
        interpreted.
        """
        reading = _Reading(self._entities, self._renames)
        document = None
        if (entity := self.entity(element)) is not None:
            document = reading.document(element, entity)
        elif (target := self._target(element)) is not None:
            reading.read_template(element, target)
        else:
            raise UnknownElement(element.line, f"unknown element {element.name}", element.name)
        reading.raise_problems()
        return ReadElement(document, reading.named)

    def entity(self, element: XmlElement) -> EntityElements | None:
        """The entity of a document by the name of its element, otherwise by the new name of that."""
        found = self._entities.document_in(element.name)
        return found or self._entities.document_in(self._renames.renamed(element.name))

    def _target(self, element: XmlElement) -> EntityElements | None:
        found = self._entities.target_of(element.name)
        return found or self._entities.target_of(self._renames.renamed(element.name))


@dataclass(slots=True)
class _Reading:
    """The state of reading one document: problems and elements with an `id` so far."""

    entities: Entities
    renames: Renames
    named: dict[str, Named] = field(default_factory=dict)
    problems: list[tuple[int, str]] = field(default_factory=list)

    def document(self, element: XmlElement, entity: EntityElements) -> Fragment:
        fragment = self._fragment(element, entity, entity.elements)
        if "id" in element.attributes:
            self.named[element.attributes["id"]] = _identity_of(fragment, entity)
        return fragment

    def read_template(self, element: XmlElement, target: EntityElements) -> None:
        """Read a reference below the root, which belongs to no document: other references use it through its `id`."""
        self._named(element, target)

    def raise_problems(self) -> None:
        """Raise one exception for all problems, at the line of the first."""
        if self.problems:
            first = self.problems[0][0]
            problems = dict.fromkeys(self.problems)
            texts = [reason if line == first else f"{reason} (line {line})" for line, reason in problems]
            raise UnreadableDocument(first, "; ".join(texts))

    def _fragment(self, element: XmlElement, entity: EntityElements, elements: Elements) -> Fragment:
        fragment = Fragment(entity.name, {}, [])
        self._fill(fragment, element.children, elements, fragment.body, ())
        return fragment

    def _fill(
        self, fragment: Fragment, children: Iterable[XmlElement], elements: Elements, body: dict[str, Any], at: Place
    ) -> None:
        """Put the children's content into the object `body`, which is at `at` in the fragment."""
        for child in children:
            meaning = elements.get(self.renames.known_name(child.name, elements))
            if meaning is None:
                self._add_problem(child, f"unknown element {child.name}")
            else:
                self._put(fragment, child, meaning, body, at)

    def _put(
        self, fragment: Fragment, child: XmlElement, meaning: ElementShape, body: dict[str, Any], at: Place
    ) -> None:
        match meaning.kind:
            case InterchangeKind.INLINE:
                self._fill(fragment, child.children, meaning.elements, body, at)
            case InterchangeKind.OBJECT:
                value: dict[str, Any] = {}
                place = self._set(child, meaning, body, value)
                self._fill(fragment, child.children, meaning.elements, value, at + place)
            case InterchangeKind.REFERENCE:
                self._put_reference(fragment, child, meaning, body, at)
            case InterchangeKind.VALUE | InterchangeKind.SCHOOL_YEAR:
                self._put_value(child, meaning, body)

    def _put_value(self, child: XmlElement, meaning: ElementShape, body: dict[str, Any]) -> None:
        is_year = meaning.kind is InterchangeKind.SCHOOL_YEAR
        if child.children:
            self._add_problem(child.children[0], f"unknown element {child.children[0].name}")
        elif not child.text.isspace() and child.text:
            self._set(child, meaning, body, _school_year(child.text.strip()) if is_year else child.text)

    def _put_reference(
        self, fragment: Fragment, child: XmlElement, meaning: ElementShape, body: dict[str, Any], at: Place
    ) -> None:
        target = cast(ResourceName, meaning.target)  # A reference has one.
        named = self._named(child, self.entities.by_name[target])
        if isinstance(named, Fragment) and not named.open_references:
            self._set(child, meaning, body, self._reference_object(child, meaning, target, named))
        elif named is not None:
            place = at + self._set(child, meaning, body, {})
            reference = OpenReference(place, target, meaning.identity, named, child.line)
            fragment.open_references.append(reference)

    def _reference_object(
        self, child: XmlElement, meaning: ElementShape, target: ResourceName, named: Fragment
    ) -> dict[str, Any]:
        try:
            return reference_object(self.entities, target, meaning.identity, named, child.line)
        except UnreadableDocument as problem:
            self.problems.append((problem.line, problem.reason))
            return {}

    def _named(self, element: XmlElement, target: EntityElements) -> Named | None:
        """The target of a reference element; an identity takes precedence over a look-up."""
        named = self._parts(element, target)
        if named is None and "ref" in element.attributes:
            named = IdReference(element.attributes["ref"])
        if named is None:
            self._add_problem(element, f"{element.name} has no identity, look-up or ref")
        elif "id" in element.attributes:
            self.named[element.attributes["id"]] = named
        return named

    def _parts(self, element: XmlElement, target: EntityElements) -> Named | None:
        identity_name, look_up_name = identity_element(target.name.resource), lookup_element(target.name.resource)
        parts = {
            self.renames.known_name(child.name, (identity_name, look_up_name)): child for child in element.children
        }
        for name, child in parts.items():
            if name not in (identity_name, look_up_name):
                self._add_problem(child, f"unknown element {child.name}")
        if identity_name in parts:
            return self._fragment(parts[identity_name], target, target.identity_elements)
        if look_up_name in parts:
            return self._look_up(parts[look_up_name], target)
        return None

    def _look_up(self, element: XmlElement, target: EntityElements) -> LookUp:
        if not element.children:
            self._add_problem(element, f"{element.name} has no values to look up")
        possible = [self.entities.by_name[resource.name] for resource in self.entities.concrete(target.name)]
        return LookUp([self._fragment(element, entity, entity.look_up_elements) for entity in possible])

    def _set(self, child: XmlElement, meaning: ElementShape, body: dict[str, Any], value: Any) -> Place:
        try:
            return _place_value(body, meaning.steps, value)
        except _PlaceTaken:
            self._add_problem(child, f"{child.name} may stand here only once")
            return ()

    def _add_problem(self, element: XmlElement, reason: str) -> None:
        self.problems.append((element.line, reason))


class _PlaceTaken(Exception):
    """A second value for a place that holds a single one."""


def _place_value(container: Any, steps: tuple[str, ...], value: Any) -> Place:
    """Put a value at the path, creating objects and a new item in each array on it; returns the resulting place."""
    step, rest = steps[0], steps[1:]
    inner = value if not rest else [] if rest[0] == ALL_ITEMS else {}
    if step == ALL_ITEMS:
        container.append(inner)
        key: str | int = len(container) - 1
    else:
        if not rest and step in container:
            raise _PlaceTaken
        key, inner = step, container.setdefault(step, inner)
    return (key, *_place_value(inner, rest, value)) if rest else (key,)


def _school_year(text: str) -> int | str:
    """A school year is identified by the year in which it ends: `2021-2022` is 2022."""
    years = _SCHOOL_YEAR.fullmatch(text)
    return int(years[1]) if years else text


def _identity_of(document: Fragment, entity: EntityElements) -> Fragment:
    """The part of the document that references to it need."""
    return Fragment(
        document.name,
        {name: value for name, value in document.body.items() if name in entity.identity_members},
        [reference for reference in document.open_references if reference.place[0] in entity.identity_members],
    )
