"""The surface's interchange elements, indexed by name for the document reader."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from edfi_api.model.surface.naming import REFERENCE_SUFFIX
from edfi_api.model.surface.resource import (
    InterchangeElement,
    InterchangeEntity,
    InterchangeKind,
    JsonPath,
    KeyPair,
    Resource,
    ResourceName,
    Surface,
)

Elements = Mapping[str, "ElementShape"]


@dataclass(frozen=True, slots=True)
class ElementShape:
    """An `InterchangeElement` with its child elements by name."""

    kind: InterchangeKind
    steps: tuple[str, ...]
    elements: Elements
    target: ResourceName | None
    identity: tuple[KeyPair, ...]


@dataclass(frozen=True, slots=True)
class EntityElements:
    """The elements allowed in a document of this name, in its identity, and in a look-up of it.

    An identity has the values of inline commons with or without the element around them. A look-up can use the
    superclass's element names.
    """

    name: ResourceName
    elements: Elements
    identity_elements: Elements
    look_up_elements: Elements
    identity_members: frozenset[str]


class Entities:
    """All entities of a surface, by name and by element name."""

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        self._raw = {entity.name: entity for entity in surface.interchange}
        self._identities = {resource.name: resource.identity for resource in surface.resources}
        self._identities |= {abstract.name: abstract.identity for abstract in surface.abstract_resources}
        self.by_name = {name: self._entity(entity) for name, entity in self._raw.items()}
        self._by_element: dict[str, EntityElements] = {}
        for name, entity in self.by_name.items():  # the core project comes first, so it keeps its names
            self._by_element.setdefault(name.resource, entity)

    def document_in(self, element_name: str) -> EntityElements | None:
        """The entity of the documents with this element name; None for an abstract or unknown one."""
        entity = self._by_element.get(element_name)
        return entity if entity is not None and entity.name in self.surface.by_name else None

    def target_of(self, element_name: str) -> EntityElements | None:
        """The target of a reference below the root, where references have no role name."""
        target_name, suffix, rest = element_name.rpartition(REFERENCE_SUFFIX)
        return self._by_element.get(target_name) if suffix and not rest else None

    def resource(self, name: ResourceName) -> Resource | None:
        """Return the resource of a name, None for an abstract one."""
        return self.surface.by_name.get(name)

    def concrete(self, name: ResourceName) -> list[Resource]:
        """The resources whose documents a reference to this name can refer to."""
        if name in self.surface.by_name:
            return [self.surface.by_name[name]]
        return [r for r in self.surface.resources if r.superclass is not None and r.superclass.name == name]

    def _entity(self, entity: InterchangeEntity) -> EntityElements:
        own = _by_name(entity.elements)
        return EntityElements(
            name=entity.name,
            elements=own,
            identity_elements=_by_name(_without_inline(entity.elements)) | own,
            look_up_elements=_by_name(self._superclass_elements(entity.name)) | own,
            identity_members=frozenset(path.steps[0] for path in self._identities[entity.name]),
        )

    def _superclass_elements(self, name: ResourceName) -> Iterator[InterchangeElement]:
        """The superclass's elements for values that this subclass renames: `EducationOrganizationId`."""
        superclass = self.surface.by_name[name].superclass if name in self.surface.by_name else None
        if superclass is not None:
            own_paths = {pair.there: pair.here for pair in superclass.identity}
            for element in self._raw[superclass.name].elements:
                if element.path in own_paths:
                    yield replace(element, path=own_paths[element.path])


def _by_name(elements: Iterable[InterchangeElement]) -> dict[str, ElementShape]:
    return {
        element.name: ElementShape(
            element.kind, element.path.steps, _by_name(element.elements), element.target, element.identity
        )
        for element in elements
    }


def _without_inline(elements: tuple[InterchangeElement, ...]) -> Iterator[InterchangeElement]:
    for element in elements:
        if element.kind is InterchangeKind.INLINE:
            yield from _without_inline(element.elements)
        else:
            yield element


def identity_value_path(entities: Entities, found: ResourceName, asked_as: ResourceName, there: JsonPath) -> JsonPath:
    """The path in documents of `found` for the path `there` of `asked_as`, which is `found` or its superclass."""
    resource = entities.resource(found)
    if found == asked_as or resource is None or resource.superclass is None:
        return there
    return next((pair.here for pair in resource.superclass.identity if pair.there == there), there)
