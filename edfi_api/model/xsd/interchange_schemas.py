"""Interchanges → a file for each: which documents and references the interchange may hold.

A document of an entity that an extension adds to has the type of the additions, so the extension has a copy of each
interchange of the core in which the entity stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from edfi_api.model.metaed.model import (
    CORE_NAMESPACE,
    DESCRIPTOR_SUFFIX,
    EntityKey,
    EntityKind,
    Interchange,
    Model,
    Project,
    SourceLocation,
)
from edfi_api.model.surface.naming import ROOT_PREFIX, reference_element
from edfi_api.model.xsd.schema import (
    Annotation,
    Element,
    InterchangeRoot,
    Schema,
    TypeNames,
    core_file,
    in_words,
    interchange_file,
    namespace,
)

DESCRIPTORS = "Descriptors"


def interchange_schemas(model: Model, project: Project, core_version: str) -> Iterator[Schema]:
    """The files of a project."""
    interchanges = _Interchanges(model, project)
    for contents in interchanges.of_extension() if project.is_extension else interchanges.of_core():
        title = Annotation(f"===== {in_words(contents.name)} Interchange Model =====")
        root = InterchangeRoot(
            ROOT_PREFIX + contents.name, Annotation(contents.documentation), contents.elements, contents.place
        )
        yield Schema(
            file_name=interchange_file(project, contents.name),
            namespace=namespace(core_version),
            components=(title, root),
            includes=core_file(project),
        )


@dataclass(frozen=True, slots=True)
class _Contents:
    """The elements of an interchange."""

    name: str
    documentation: str
    elements: tuple[Element, ...]
    place: SourceLocation | None = None


class _Interchanges:
    """The contents of the interchanges of one project."""

    def __init__(self, model: Model, project: Project) -> None:
        self._model = model
        self._project = project
        self._names = TypeNames(model)
        self._core = {i.name: i for i in model.interchanges if i.namespace == CORE_NAMESPACE}
        self._own = {i.name: i for i in model.interchanges if i.namespace == project.namespace}

    def of_core(self) -> Iterator[_Contents]:
        for interchange in self._core.values():
            yield self._contents(interchange, self._declared(interchange))
        yield from self._descriptors(CORE_NAMESPACE)

    def of_extension(self) -> Iterator[_Contents]:
        for interchange in self._own.values():
            elements = self._declared(interchange)
            if interchange.name in self._core:
                elements = self._known_first(elements, self._core[interchange.name])
            yield self._contents(interchange, elements)
        if any(self._descriptor_elements(self._project.namespace)):
            yield from self._descriptors(CORE_NAMESPACE, self._project.namespace)
        for interchange in self._core.values():
            if interchange.name not in self._own and self._is_added_to(interchange):
                yield self._contents(interchange, self._declared(interchange))

    def _contents(self, interchange: Interchange, elements: Iterable[Element]) -> _Contents:
        documentation = interchange.documentation or self._core[interchange.name].documentation
        return _Contents(interchange.name, documentation, tuple(dict.fromkeys(elements)), interchange.place)

    def _declared(self, interchange: Interchange) -> list[Element]:
        """Documents, then references. Additions put their documents after the core's, their references before."""
        documents, references = self._documents(interchange), self._references(interchange)
        if interchange.extends is None:
            return [*documents, *references]
        extended = self._core[interchange.name]
        return [*self._documents(extended), *documents, *references, *self._references(extended)]

    def _known_first(self, elements: list[Element], extended: Interchange) -> list[Element]:
        """The elements that the core's interchange has, then the others, each in the given order."""
        known = {element.name for element in self._declared(extended)}
        return sorted(elements, key=lambda element: element.name not in known)

    def _documents(self, interchange: Interchange) -> Iterator[Element]:
        items = (item.entity for item in interchange.items if not item.is_identity)
        return (Element(entity.name, self._document_type(entity)) for entity in items)

    def _references(self, interchange: Interchange) -> Iterator[Element]:
        items = (item.entity for item in interchange.items if item.is_identity)
        return (Element(reference_element(entity.name), self._names.reference(entity)) for entity in items)

    def _document_type(self, entity: EntityKey) -> str:
        if self._has_additions(entity):
            return self._names.extension(self._project.namespace, entity.name)
        return self._names.of(entity)

    def _has_additions(self, entity: EntityKey) -> bool:
        return self._model.additions(self._model.entities[entity], self._project.namespace) is not None

    def _is_added_to(self, interchange: Interchange) -> bool:
        return any(not item.is_identity and self._has_additions(item.entity) for item in interchange.items)

    # --- descriptors, whose interchange no model declares ---

    def _descriptors(self, *namespaces: str) -> Iterator[_Contents]:
        elements = [element for name in namespaces for element in self._descriptor_elements(name)]
        if elements:
            yield _Contents(DESCRIPTORS, "All descriptors.", tuple(dict.fromkeys(elements)))

    def _descriptor_elements(self, of_namespace: str) -> Iterator[Element]:
        keys = (d.key for d in self._model.of_kind(EntityKind.DESCRIPTOR) if d.namespace == of_namespace)
        for key in sorted(keys, key=lambda key: key.name.lower()):
            yield Element(key.name + DESCRIPTOR_SUFFIX, self._names.of(key))
