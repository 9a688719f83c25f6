"""Drafts → model: names become keys, and properties get the limits and documentation of their shared types.

Only names that cannot be linked are problems here; rules.py checks the linked model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

from edfi_api.model.metaed.drafts import (
    DomainDraft,
    EntityDraft,
    FileDraft,
    InterchangeDraft,
    InterchangeItemDraft,
    PropertyDraft,
    WrittenName,
)
from edfi_api.model.metaed.errors import Problem, error, indefinite, suggestion, warning
from edfi_api.model.metaed.model import (
    CORE_NAMESPACE,
    SHARED_KINDS,
    Cardinality,
    Domain,
    Entity,
    EntityKey,
    EntityKind,
    Interchange,
    InterchangeItem,
    Model,
    Project,
    Property,
    PropertyType,
)

Kinds = tuple[EntityKind, ...]

DOMAIN_ENTITIES = (EntityKind.DOMAIN_ENTITY, EntityKind.DOMAIN_ENTITY_SUBCLASS)
ASSOCIATIONS = (EntityKind.ASSOCIATION, EntityKind.ASSOCIATION_SUBCLASS)
COMMONS = (EntityKind.COMMON, EntityKind.COMMON_SUBCLASS)

# In the order in which they are tried; messages mention the first.
TARGET_KINDS = {
    PropertyType.DOMAIN_ENTITY: DOMAIN_ENTITIES,
    PropertyType.ASSOCIATION: ASSOCIATIONS,
    PropertyType.COMMON: COMMONS,
    PropertyType.INLINE_COMMON: (EntityKind.COMMON,),
    PropertyType.CHOICE: (EntityKind.CHOICE,),
    PropertyType.DESCRIPTOR: (EntityKind.DESCRIPTOR,),
    PropertyType.ENUMERATION: (EntityKind.ENUMERATION,),
    PropertyType.SCHOOL_YEAR_ENUMERATION: (EntityKind.SCHOOL_YEAR_ENUMERATION,),
    PropertyType.SHARED_STRING: (EntityKind.SHARED_STRING,),
    PropertyType.SHARED_DECIMAL: (EntityKind.SHARED_DECIMAL,),
    PropertyType.SHARED_INTEGER: (EntityKind.SHARED_INTEGER,),
    PropertyType.SHARED_SHORT: (EntityKind.SHARED_INTEGER,),
}
BASE_KINDS = {
    EntityKind.DOMAIN_ENTITY_SUBCLASS: DOMAIN_ENTITIES,
    EntityKind.DOMAIN_ENTITY_ADDITIONS: DOMAIN_ENTITIES,
    EntityKind.ASSOCIATION_SUBCLASS: ASSOCIATIONS,
    EntityKind.ASSOCIATION_ADDITIONS: ASSOCIATIONS,
    EntityKind.COMMON_SUBCLASS: COMMONS,
    EntityKind.COMMON_ADDITIONS: (EntityKind.COMMON,),
}
# The bundled text has many shared types of Ed-Fi's own text as plain properties of their names.
PLAIN_TYPES = {
    PropertyType.SHARED_STRING: PropertyType.STRING,
    PropertyType.SHARED_DECIMAL: PropertyType.DECIMAL,
    PropertyType.SHARED_INTEGER: PropertyType.INTEGER,
    PropertyType.SHARED_SHORT: PropertyType.SHORT,
}
# Without the hint `big` of a shared integer, which Ed-Fi's own tools do not copy either.
SHARED_LIMITS = ("min_length", "max_length", "min_value", "max_value", "total_digits", "decimal_places")

# Finding a similar name takes milliseconds; an extension without its core has thousands of unresolved names.
SUGGESTIONS_AT_MOST = 50


@dataclass(frozen=True, slots=True)
class Linked:
    """A model in which the target of an unresolved name is None; usable if no problem is an error."""

    model: Model
    problems: tuple[Problem, ...]


def link(projects: Sequence[Project], files: Sequence[FileDraft], broken_names: Set[str]) -> Linked:
    """`broken_names` are declared by text that could not be parsed: references to them are not reported as unknown."""
    linker = _Linker(projects, (draft for file in files for draft in file.entities), broken_names)
    entities = {key: linker.entity(draft) for key, draft in linker.drafts.items()}
    domains = linker.domains([draft for file in files for draft in file.domains])
    interchanges = linker.interchanges([draft for file in files for draft in file.interchanges])
    return Linked(Model(tuple(projects), entities, domains, interchanges), tuple(linker.problems))


class _Linker:
    """All drafts by key, and the problems found while linking them."""

    def __init__(self, projects: Sequence[Project], drafts: Iterable[EntityDraft], broken_names: Set[str]) -> None:
        self.namespaces = [project.namespace for project in projects]
        self.former_names = {
            former: now
            for project in projects
            if project.namespace == CORE_NAMESPACE
            for former, now in project.former_names.items()
        }
        self.broken_names = broken_names
        self.problems: list[Problem] = []
        self.drafts: dict[EntityKey, EntityDraft] = {}
        for draft in drafts:
            self._add(draft)

    def _add(self, draft: EntityDraft) -> None:
        first = self.drafts.setdefault(draft.entity.key, draft)
        if first is not draft:
            message = f"{draft.entity.kind} '{draft.entity.name}' was declared before, at {first.entity.place}"
            self.problems.append(error(draft.entity.place, message))

    # --- entities and properties ---

    def entity(self, draft: EntityDraft) -> Entity:
        key = draft.entity.key
        base = self._base(draft.base, key) if draft.base is not None else None
        members = list(self._properties(draft))
        return replace(
            draft.entity,
            base=base,
            properties=tuple(prop for prop in members if prop.cardinality is not Cardinality.QUERYABLE_ONLY),
            search_keys=tuple(prop for prop in members if prop.is_search_key),
        )

    def _base(self, reference: WrittenName, referrer: EntityKey) -> EntityKey | None:
        """Return the base of an entity, never the referrer itself: old extensions have `Domain Entity School based on
        School`.
        """
        return self._resolve(reference, BASE_KINDS[referrer.kind], referrer.namespace, other_than=referrer)

    def _properties(self, draft: EntityDraft) -> Iterator[Property]:
        """Yield the properties of an entity; of two with one full name the first is kept. A `queryable only`
        declaration can repeat a name.
        """
        names: set[str] = set()
        for property_draft in draft.properties:
            prop = property_draft.property
            is_property = prop.cardinality is not Cardinality.QUERYABLE_ONLY
            if is_property and prop.full_name in names:
                message = f"{draft.entity.kind} '{draft.entity.name}' has a property '{prop.full_name}' before this one"
                self.problems.append(error(prop.place, message))
                continue
            if is_property:
                names.add(prop.full_name)
            yield self._property(property_draft)

    def _property(self, draft: PropertyDraft) -> Property:
        prop = draft.property
        if draft.reference is None:
            if draft.inherits_documentation:
                self.problems.append(warning(prop.place, f"{indefinite(prop.type)} has no documentation to inherit"))
            return prop
        if prop.type in PLAIN_TYPES and (plain := self._plain(draft, draft.reference)):
            return plain
        target = self._resolve(draft.reference, TARGET_KINDS[prop.type], prop.declared_by.namespace)
        if target is None:
            return prop
        return _completed(replace(prop, target=target), self.drafts[target].entity, draft.inherits_documentation)

    def _plain(self, draft: PropertyDraft, reference: WrittenName) -> Property | None:
        """Return a plain property for a shared type that the core has as plain properties of its name alone: one like
        those, or the property as it is, with a problem, if they have several types or another one. None for any other
        name.
        """
        prop, own = draft.property, draft.property.declared_by.namespace
        searched = [reference.namespace] if reference.namespace else [own, CORE_NAMESPACE]
        is_shared = any(self._find(TARGET_KINDS[prop.type], namespace, reference.name) for namespace in searched)
        if is_shared or own == CORE_NAMESPACE or CORE_NAMESPACE not in searched:
            return None
        found = self.plain_properties.get(reference.name, [])
        forms = dict.fromkeys((each.type, tuple(getattr(each, limit) for limit in SHARED_LIMITS)) for each in found)
        if not forms:
            return None
        if [type_ for type_, _ in forms] != [PLAIN_TYPES[prop.type]]:
            types = " or ".join(_form(type_, limits) for type_, limits in forms)
            message = (
                f"there is no {prop.type} '{reference.name}' in {CORE_NAMESPACE}, where each property of that name is "
                f"{types}; declare a property of the type that is meant"
            )
            self.problems.append(error(reference.place, message))
            return prop
        self._advise_qualifier(reference, CORE_NAMESPACE, own)
        like = found[0]
        limits = {limit: getattr(like, limit) for limit in SHARED_LIMITS}
        documentation = like.documentation if draft.inherits_documentation else prop.documentation
        return replace(prop, type=like.type, documentation=documentation, **limits)

    @cached_property
    def plain_properties(self) -> Mapping[str, Sequence[Property]]:
        """Map the names to the plain properties of the core."""
        found: dict[str, list[Property]] = {}
        for draft in self.drafts.values():
            for each in draft.properties if draft.entity.namespace == CORE_NAMESPACE else ():
                if each.reference is None:
                    found.setdefault(each.property.name, []).append(each.property)
        return found

    # --- domains ---

    def domains(self, drafts: Sequence[DomainDraft]) -> tuple[Domain, ...]:
        """Return the domains; of two domains, or two subdomains, with one name the first is kept."""
        known: dict[tuple[str, bool, str], DomainDraft] = {}
        for draft in drafts:
            first = known.setdefault(_domain_key(draft.domain), draft)
            if first is not draft:
                message = f"domain '{draft.domain.name}' was declared before, at {first.place}"
                self.problems.append(error(draft.place, message))
        for draft in known.values():
            parent = draft.domain.parent
            if parent is not None and (draft.domain.namespace, False, parent) not in known:
                self.problems.append(warning(draft.place, f"there is no domain '{parent}' to be part of"))
        return tuple(self._domain(draft) for draft in known.values())

    def _domain(self, draft: DomainDraft) -> Domain:
        """Items are resolved without fallback to the core, as in Ed-Fi's own tools; unresolved ones are left out."""
        entities: list[EntityKey] = []
        for item in draft.items:
            namespace = item.reference.namespace or draft.domain.namespace
            key = self._find(item.kinds, namespace, item.reference.name)
            if key is not None:
                entities.append(key)
            elif item.reference.name not in self.broken_names:
                message = f"there is no {item.kinds[0]} '{item.reference.name}' in {namespace}; the line is skipped"
                if namespace != CORE_NAMESPACE and self._find(item.kinds, CORE_NAMESPACE, item.reference.name):
                    message += f"; did you mean '{CORE_NAMESPACE}.{item.reference.name}'?"
                self.problems.append(warning(item.reference.place, message))
        return replace(draft.domain, entities=tuple(dict.fromkeys(entities)))

    # --- interchanges ---

    def interchanges(self, drafts: Sequence[InterchangeDraft]) -> tuple[Interchange, ...]:
        """Return the interchanges; of two with one name in a project the first is kept. Only XML depends on
        interchanges, so their problems are warnings.
        """
        known: dict[tuple[str, str], InterchangeDraft] = {}
        for draft in drafts:
            first = known.setdefault((draft.interchange.namespace, draft.interchange.name), draft)
            if first is not draft:
                message = f"interchange '{draft.interchange.name}' was declared before, at {first.interchange.place}"
                self.problems.append(warning(draft.interchange.place, f"{message}; this one is skipped"))
        linked = (self._interchange(draft, known) for draft in known.values())
        return tuple(interchange for interchange in linked if interchange is not None)

    def _interchange(
        self, draft: InterchangeDraft, known: Mapping[tuple[str, str], InterchangeDraft]
    ) -> Interchange | None:
        """Return the interchange, or None, with a warning, for additions to an unknown interchange."""
        extends = None
        if draft.base is not None:
            extends = draft.base.namespace or CORE_NAMESPACE
            is_core = extends == CORE_NAMESPACE != draft.interchange.namespace
            if not is_core or (extends, draft.base.name) not in known:
                message = (
                    f"there is no interchange '{draft.base.name}' to extend in {extends}; the additions are skipped"
                )
                self.problems.append(warning(draft.interchange.place, message))
                return None
        items = (self._interchange_item(item, draft.interchange.namespace) for item in draft.items)
        return replace(draft.interchange, extends=extends, items=tuple(item for item in items if item is not None))

    def _interchange_item(self, item: InterchangeItemDraft, own: str) -> InterchangeItem | None:
        namespaces = [item.reference.namespace] if item.reference.namespace else [own, CORE_NAMESPACE]
        for namespace in namespaces:
            key = self._find(item.kinds, namespace, item.reference.name)
            if key is not None and namespace in (own, CORE_NAMESPACE):
                return InterchangeItem(key, item.is_identity)
        if item.reference.name not in self.broken_names:
            where = " or ".join(dict.fromkeys(namespaces))
            message = f"there is no {item.kinds[0]} '{item.reference.name}' in {where}; the line is skipped"
            self.problems.append(warning(item.reference.place, message))
        return None

    # --- names ---

    def _resolve(
        self, reference: WrittenName, kinds: Kinds, own: str, *, other_than: EntityKey | None = None
    ) -> EntityKey | None:
        """The first matching entity; with a problem, if there is none, the one that had the name, or None."""
        namespaces = self._searched(reference, own)
        for namespace in namespaces:
            key = self._find(kinds, namespace, reference.name, other_than=other_than)
            if key is not None:
                self._advise_qualifier(reference, namespace, own)
                return key
        if reference.name not in self.broken_names and namespaces:
            self.problems.append(error(reference.place, self._unknown(reference, kinds, namespaces)))
            if CORE_NAMESPACE in namespaces and (now := self.former_names.get(reference.name)):
                # What else is wrong is found as if the present name were there.
                return self._find(kinds, CORE_NAMESPACE, now, other_than=other_than)
        return None

    def _searched(self, reference: WrittenName, own: str) -> list[str]:
        """The written namespace; without one, the own namespace and then, as before 2019, the core."""
        if not reference.namespace:
            return list(dict.fromkeys([own, CORE_NAMESPACE]))
        if reference.namespace in (own, CORE_NAMESPACE):
            return [reference.namespace]
        if reference.namespace in self.namespaces:
            reason = f"{own} cannot refer to '{reference}': a project can refer only to itself and {CORE_NAMESPACE}"
        else:
            reason = f"there is no project with namespace '{reference.namespace}'"
            reason += suggestion(reference.namespace, dict.fromkeys([CORE_NAMESPACE, own]))
        self.problems.append(error(reference.place, reason))
        return []

    def _find(
        self, kinds: Kinds, namespace: str, name: str, *, other_than: EntityKey | None = None
    ) -> EntityKey | None:
        keys = (EntityKey(namespace, kind, name) for kind in kinds)
        return next((key for key in keys if key in self.drafts and key != other_than), None)

    def _advise_qualifier(self, reference: WrittenName, found_in: str, own: str) -> None:
        if not reference.namespace and found_in != own:
            message = f"'{reference.name}' was found in {found_in} only; write '{found_in}.{reference.name}'"
            self.problems.append(warning(reference.place, message))

    def _unknown(self, reference: WrittenName, kinds: Kinds, namespaces: list[str]) -> str:
        where = " or ".join(namespaces)
        message = f"there is no {kinds[0]} '{reference.name}' in {where}"
        others = [kind for kind in EntityKind if self._find((kind,), namespaces[0], reference.name)]
        if others:
            return f"{message}, only {indefinite(others[0])}"
        if CORE_NAMESPACE in namespaces and (now := self.former_names.get(reference.name)):
            return f"{message}; it has become '{now}'"
        if len(self.problems) > SUGGESTIONS_AT_MOST:
            return message
        known = (key.name for key in self.drafts if key.kind in kinds and key.namespace in namespaces)
        return message + suggestion(reference.name, known)


def _form(type_: PropertyType, limits: tuple[object, ...]) -> str:
    """`string (max length 60)`"""
    named = zip((name.replace("_", " ") for name in SHARED_LIMITS), limits, strict=True)
    given = ", ".join(f"{name} {value}" for name, value in named if value is not None)
    return f"{type_} ({given})" if given else str(type_)


def _domain_key(domain: Domain) -> tuple[str, bool, str]:
    """Domains and subdomains have name spaces of their own."""
    return domain.namespace, domain.parent is not None, domain.name


def _completed(prop: Property, target: Entity, inherits_documentation: bool) -> Property:
    """The property with the limits and documentation that it takes from its target."""
    if target.kind in SHARED_KINDS:
        prop = replace(prop, **{limit: getattr(target, limit) for limit in SHARED_LIMITS})
    return replace(prop, documentation=target.documentation) if inherits_documentation else prop
