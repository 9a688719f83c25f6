"""The semantic rules of the language: a function for each, named after the rule, that yields the model's violations.

A violation is an error if the model would be ambiguous or could not be served, otherwise a warning. Rules run on a
linked model; the target of an unresolved name is None there, and no rule reports it again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal

from edfi_api.model.metaed.errors import Problem, error, indefinite, suggestion, warning
from edfi_api.model.metaed.merge_rules import check_merges, circles, paths_to_one_value_are_merged_or_have_roles
from edfi_api.model.metaed.model import (
    ADDITIONS_KINDS,
    CORE_NAMESPACE,
    DESCRIPTOR_SUFFIX,
    ENTITY_ADDITIONS_KINDS,
    SHARED_KINDS,
    SUBCLASS_KINDS,
    Cardinality,
    Entity,
    EntityKey,
    EntityKind,
    Model,
    Property,
    PropertyType,
)

Rule = Callable[[Model], Iterable[Problem]]

# Within one namespace, entities of all these kinds together have distinct names.
ONE_NAME_KINDS = (
    SUBCLASS_KINDS
    | SHARED_KINDS
    | {
        EntityKind.ASSOCIATION,
        EntityKind.CHOICE,
        EntityKind.COMMON,
        EntityKind.DOMAIN_ENTITY,
    }
)
IDENTITY_KINDS = frozenset(
    {EntityKind.DOMAIN_ENTITY, EntityKind.ASSOCIATION, EntityKind.COMMON, EntityKind.COMMON_SUBCLASS}
)
GROUP_TYPES = frozenset({PropertyType.COMMON, PropertyType.INLINE_COMMON, PropertyType.CHOICE})
LIMITED_TYPES = frozenset({PropertyType.STRING, PropertyType.INTEGER, PropertyType.SHORT, PropertyType.DECIMAL})
PAGING_NAMES = frozenset({"offset", "limit", "totalcount"})
CIRCLE_SHOWN = 10


def check(model: Model) -> Iterator[Problem]:
    """The violations of all rules, in the order of the rules."""
    for rule in RULES:
        yield from rule(model)


# --- names ---


def entities_of_one_namespace_have_distinct_names(model: Model) -> Iterator[Problem]:
    """Descriptors, enumerations and additions have name spaces of their own: only the other kinds share one."""
    first: dict[tuple[str, str], Entity] = {}
    for entity in model.of_kind(*ONE_NAME_KINDS):
        earlier = first.setdefault((entity.namespace, entity.name), entity)
        if earlier is not entity:
            yield error(
                entity.place, f"'{entity.name}' is the name of {indefinite(earlier.kind)} too, at {earlier.place}"
            )


def names_do_not_end_in_descriptor(model: Model) -> Iterator[Problem]:
    """The suffix is the API's: `Descriptor Fuel` is served as `FuelDescriptor`."""
    for entity in model.of_kind(EntityKind.DESCRIPTOR):
        if entity.name.endswith(DESCRIPTOR_SUFFIX):
            yield error(entity.place, f"the name of a descriptor must not end in '{DESCRIPTOR_SUFFIX}'")
    for prop in _properties(model):
        if prop.target is None and prop.name.endswith(DESCRIPTOR_SUFFIX):
            yield error(prop.place, f"the name of a property must not end in '{DESCRIPTOR_SUFFIX}'")


def names_leave_paging_parameters_free(model: Model) -> Iterator[Problem]:
    for prop in _properties(model):
        if prop.full_name.casefold() in PAGING_NAMES:
            yield error(prop.place, f"'{prop.full_name}' is the name of a paging parameter")


def plain_properties_are_not_named_like_shared_types(model: Model) -> Iterator[Problem]:
    """The property should use the shared type, or turn a part of its name into the role name."""
    shared = {(entity.namespace, entity.name): entity for entity in model.of_kind(*SHARED_KINDS)}
    for prop in _properties(model):
        namesake = shared.get((prop.declared_by.namespace, prop.name))
        if prop.type in LIMITED_TYPES and namesake is not None:
            yield error(
                prop.place, f"'{prop.name}' is the name of {indefinite(namesake.kind)}: use it, or another name"
            )


def role_names_of_extensions_differ_from_the_name(model: Model) -> Iterator[Problem]:
    """Yield role names of extensions that equal the name. In the core a role name equal to the name is an idiom with an
    effect of its own.
    """
    for prop in _properties(model):
        if prop.role_name == prop.name and prop.declared_by.namespace != CORE_NAMESPACE:
            yield warning(prop.place, f"role name and name are both '{prop.name}'")


def references_to_the_own_entity_have_a_role_name(model: Model) -> Iterator[Problem]:
    for prop in _properties(model):
        if prop.target == prop.declared_by and not prop.role_name:
            yield error(prop.place, f"a reference of '{prop.name}' to itself needs a role name")


# --- where things may be declared ---


def only_the_core_declares_closed_vocabularies_and_inline_commons(model: Model) -> Iterator[Problem]:
    closed = (EntityKind.ENUMERATION, EntityKind.SCHOOL_YEAR_ENUMERATION)
    for entity in model.entities.values():
        if entity.namespace != CORE_NAMESPACE and (entity.is_inline or entity.kind in closed):
            kind = "inline common" if entity.is_inline else entity.kind
            yield error(entity.place, f"only the core project may declare {indefinite(kind)}")


def identity_is_declared_where_it_counts(model: Model) -> Iterator[Problem]:
    """Subclasses have the identity of their base, additions that of what they extend."""
    for prop in _properties(model):
        kind = prop.declared_by.kind
        if prop.cardinality is Cardinality.IDENTITY and kind not in IDENTITY_KINDS:
            holder = "additions" if kind in ADDITIONS_KINDS else indefinite(kind)
            advice = "; a subclass may only rename it" if kind in SUBCLASS_KINDS else ""
            yield error(prop.place, f"a property of {holder} cannot be part of the identity{advice}")


def commons_are_no_identity(model: Model) -> Iterator[Problem]:
    for prop in _properties(model):
        if prop.type is PropertyType.COMMON and prop.is_identity:
            yield error(prop.place, "a common cannot be part of the identity")


def common_and_inline_common_are_distinguished(model: Model) -> Iterator[Problem]:
    for prop in _properties(model, PropertyType.COMMON, PropertyType.INLINE_COMMON):
        if prop.target is None:
            continue
        is_inline = model.target(prop).is_inline
        if is_inline != (prop.type is PropertyType.INLINE_COMMON):
            kind = "inline common" if is_inline else "common"
            yield error(prop.place, f"'{prop.name}' is {indefinite(kind)}, and must be used as one")


def inline_commons_are_no_collections(model: Model) -> Iterator[Problem]:
    for prop in _properties(model, PropertyType.INLINE_COMMON):
        if prop.is_collection:
            yield error(prop.place, "an inline common cannot be a collection")


# --- identity ---


def domain_entities_have_an_identity(model: Model) -> Iterator[Problem]:
    for entity in model.of_kind(EntityKind.DOMAIN_ENTITY):
        if not _has_identity(model, entity):
            yield error(entity.place, f"domain entity '{entity.name}' has no property that is part of its identity")


def commons_in_collections_have_an_identity(model: Model) -> Iterator[Problem]:
    """The identity of a common distinguishes the items of a collection."""
    for prop in _properties(model, PropertyType.COMMON):
        if prop.is_collection and prop.target is not None and not _has_identity(model, model.target(prop)):
            message = f"common '{prop.name}' has no property that is part of its identity, and cannot be a collection"
            yield error(prop.place, message)


def _has_identity(model: Model, entity: Entity) -> bool:
    """Return whether it has one itself, from a base, or in inline commons. An unresolved name counts."""
    waiting = list(model.lineage(entity))
    seen: set[EntityKey] = set()
    while waiting:
        holder = waiting.pop()
        seen.add(holder.key)
        for prop in holder.properties:
            if prop.is_identity or (prop.type is PropertyType.INLINE_COMMON and prop.target is None):
                return True
            if prop.type is PropertyType.INLINE_COMMON and prop.target not in seen:
                waiting.append(model.target(prop))
    return False


def identities_do_not_go_in_circles(model: Model) -> Iterator[Problem]:
    """A key that contains itself would be infinite."""
    yield from _circle(model, {key: set(_identity_parts(entity)) for key, entity in model.entities.items()})


def _identity_parts(entity: Entity) -> Iterator[EntityKey]:
    if entity.kind in SUBCLASS_KINDS and entity.base is not None and not _renames(entity):
        yield entity.base
    for prop in entity.properties:
        is_spliced_in = prop.type in (PropertyType.INLINE_COMMON, PropertyType.CHOICE)
        if prop.target is not None and (is_spliced_in or (prop.is_identity and prop.type.is_reference)):
            yield prop.target


def contents_do_not_go_in_circles(model: Model) -> Iterator[Problem]:
    """A common that contains itself would make the document schema infinite."""
    contents = {key: set(_contents(entity)) for key, entity in model.entities.items()}
    for entity in model.of_kind(EntityKind.COMMON_ADDITIONS):
        if entity.base is not None:
            contents[entity.base].add(entity.key)
    yield from _circle(model, contents)


def _contents(entity: Entity) -> Iterator[EntityKey]:
    if entity.kind is EntityKind.COMMON_SUBCLASS and entity.base is not None:
        yield entity.base
    yield from (prop.target for prop in entity.properties if prop.type in GROUP_TYPES and prop.target is not None)


def bases_do_not_go_in_circles(model: Model) -> Iterator[Problem]:
    subclasses = model.of_kind(*SUBCLASS_KINDS)
    yield from _circle(model, {entity.key: {entity.base} for entity in subclasses if entity.base is not None})


def _circle(model: Model, parts: Mapping[EntityKey, Iterable[EntityKey]]) -> Iterator[Problem]:
    """Cycles without an entity in common; others are reported once these are fixed."""
    for keys in circles(parts):
        names = " → ".join(f"'{key.name}'" for key in keys[-1:-CIRCLE_SHOWN:-1])
        yield error(model.entities[keys[-1]].place, f"is circular: {names}")


# --- subclasses ---


def domain_entity_subclasses_rename_the_identity(model: Model) -> Iterator[Problem]:
    """Otherwise a document of the subclass would have no key of its own name. Associations keep that of their base."""
    for entity in model.of_kind(EntityKind.DOMAIN_ENTITY_SUBCLASS):
        if not _renames(entity):
            yield error(entity.place, f"'{entity.name}' must rename the identity property of its base")


def renames_fit_the_base(model: Model) -> Iterator[Problem]:
    for entity in model.entities.values():
        for prop in _renames(entity):
            if entity.kind not in SUBCLASS_KINDS:
                yield error(prop.place, "only a subclass can rename an identity property")
            elif entity.base is not None:
                yield from _wrong_rename(prop, model.entities[entity.base])


def _wrong_rename(prop: Property, base: Entity) -> Iterator[Problem]:
    renamed = next((candidate for candidate in base.properties if candidate.full_name == prop.renames), None)
    identity = [candidate.full_name for candidate in base.properties if candidate.is_identity]
    if renamed is None or not renamed.is_identity:
        message = f"'{prop.renames}' is not an identity property of '{base.name}'{suggestion(prop.renames, identity)}"
        yield error(prop.place, message)
    elif renamed.type is not prop.type:
        yield error(
            prop.place, f"'{prop.renames}' of '{base.name}' is {indefinite(renamed.type)}, not {indefinite(prop.type)}"
        )
    elif len(identity) > 1:
        yield error(prop.place, f"the identity of '{base.name}' has {len(identity)} properties, and cannot be renamed")


def at_most_one_property_is_renamed(model: Model) -> Iterator[Problem]:
    for entity in model.entities.values():
        for prop in _renames(entity)[1:]:
            yield error(prop.place, f"'{entity.name}' renames more than one identity property")


def subclasses_do_not_redeclare(model: Model) -> Iterator[Problem]:
    for entity in model.of_kind(*SUBCLASS_KINDS):
        inherited = {
            prop.full_name: ancestor for ancestor in list(model.lineage(entity))[1:] for prop in ancestor.properties
        }
        for prop in entity.properties:
            if prop.full_name in inherited:
                name = inherited[prop.full_name].name
                yield error(prop.place, f"'{prop.full_name}' is inherited from '{name}', and cannot be declared again")


def subclasses_have_no_subclasses(model: Model) -> Iterator[Problem]:
    """The derivation of the API is only defined for one level."""
    for entity in model.of_kind(*SUBCLASS_KINDS):
        if entity.base is not None and entity.base.kind in SUBCLASS_KINDS:
            yield warning(entity.place, f"'{entity.base.name}' is a subclass itself; only one level is well defined")


# --- additions ---


def additions_extend_another_project(model: Model) -> Iterator[Problem]:
    for entity in model.of_kind(*ADDITIONS_KINDS):
        if entity.base is not None and entity.base.namespace == entity.namespace:
            yield error(entity.place, f"'{entity.name}' is of the same project: declare the properties there")


def abstract_entities_are_not_extended(model: Model) -> Iterator[Problem]:
    for entity in model.of_kind(*ADDITIONS_KINDS):
        if entity.base is not None and model.entities[entity.base].is_abstract:
            yield error(entity.place, f"'{entity.name}' is abstract, and cannot be extended")


def no_project_declares_what_it_extends(model: Model) -> Iterator[Problem]:
    """Yield declarations of what the project extends: both would have one endpoint in the project."""
    for entity in model.of_kind(*ADDITIONS_KINDS):
        if entity.base is None or entity.base.namespace == entity.namespace:
            continue
        namesakes = (EntityKey(entity.namespace, kind, entity.name) for kind in ONE_NAME_KINDS)
        namesake = next((model.entities[key] for key in namesakes if key in model.entities), None)
        if namesake is not None:
            yield error(entity.place, f"this project declares a '{entity.name}' of its own, at {namesake.place}")


def additions_do_not_repeat(model: Model) -> Iterator[Problem]:
    """A property of the extended entity can be repeated only to add members to its common."""
    for entity in model.of_kind(*ADDITIONS_KINDS):
        inherited = {prop.full_name for ancestor in list(model.lineage(entity))[1:] for prop in ancestor.properties}
        for prop in entity.properties:
            if prop.full_name in inherited and not prop.is_common_extension:
                yield error(prop.place, f"'{entity.name}' has a property '{prop.full_name}' already")


def common_extensions_stand_where_the_common_is_used(model: Model) -> Iterator[Problem]:
    """A warning if the extended entity lacks the property, as in a newer standard: the other additions still apply."""
    for prop in _properties(model, PropertyType.COMMON):
        if not prop.is_common_extension:
            continue
        entity = model.entities[prop.declared_by]
        if entity.kind not in ENTITY_ADDITIONS_KINDS:
            yield error(prop.place, "'common extension' stands only in additions to a domain entity or an association")
        elif entity.base is not None and prop.target is not None:
            yield from _wrong_common_extension(prop, model.entities[entity.base], model)


def _wrong_common_extension(prop: Property, extended: Entity, model: Model) -> Iterator[Problem]:
    repeated = (used for ancestor in model.lineage(extended) for used in ancestor.properties)
    uses = [used for used in repeated if used.type is prop.type and used.target == prop.target]
    if not uses:
        yield warning(prop.place, f"'{extended.name}' has no common '{prop.name}'; the extension is without effect")
    elif prop.cardinality not in {used.cardinality for used in uses}:
        yield error(prop.place, f"the common is not as in '{extended.name}', where it '{uses[0].cardinality}'")


# --- values ---


def limits_leave_room(model: Model) -> Iterator[Problem]:
    """Report a plain property or shared type whose limits no value can satisfy."""
    plain = (prop for prop in _properties(model) if prop.target is None)
    limited_values: tuple[Entity | Property, ...] = (*model.of_kind(*SHARED_KINDS), *plain)
    for limited in limited_values:
        if _exceeds(limited.min_length, limited.max_length):
            yield error(limited.place, f"min length {limited.min_length} is more than max length {limited.max_length}")
        if _exceeds(limited.min_value, limited.max_value):
            yield error(limited.place, f"min value {limited.min_value} is more than max value {limited.max_value}")
        if _exceeds(limited.decimal_places, limited.total_digits):
            message = f"{limited.decimal_places} decimal places are more than {limited.total_digits} total digits"
            yield error(limited.place, message)


def _exceeds(lower: int | Decimal | None, upper: int | Decimal | None) -> bool:
    return lower is not None and upper is not None and lower > upper


# --- deprecation and coming rules ---


def nothing_current_builds_on_what_is_deprecated(model: Model) -> Iterator[Problem]:
    for entity in model.entities.values():
        if entity.deprecated is not None:
            continue
        if entity.base is not None and model.entities[entity.base].deprecated is not None:
            yield warning(entity.place, _deprecation(model.entities[entity.base]))
        for prop in entity.properties:
            if prop.deprecated is None and prop.target is not None and model.target(prop).deprecated is not None:
                yield warning(prop.place, _deprecation(model.target(prop)))


def _deprecation(entity: Entity) -> str:
    return f"{entity.kind} '{entity.name}' is deprecated: {entity.deprecated}"


def commons_do_not_repeat_the_identity_around_them(model: Model) -> Iterator[Problem]:
    """Refused by Ed-Fi's own tools from data standard 6.1 on."""
    if not _standard_is_from(model, (6, 1)):
        return
    for prop in _properties(model, PropertyType.COMMON):
        if prop.target is None:
            continue
        identity = {own.full_name for own in model.entities[prop.declared_by].properties if own.is_identity}
        repeated = [member.full_name for member in model.target(prop).properties if member.full_name in identity]
        for name in repeated:
            yield warning(prop.place, f"'{name}' of common '{prop.name}' is named like an identity property around it")


def _standard_is_from(model: Model, oldest: tuple[int, int]) -> bool:
    versions = [project.version for project in model.projects if project.namespace == CORE_NAMESPACE]
    numbers = tuple(int(number) for number in re.findall(r"[0-9]{1,9}", "".join(versions))[:2])
    return numbers >= oldest


# --- walking the model ---


def _properties(model: Model, *types: PropertyType) -> Iterator[Property]:
    """All properties of all entities, or those of the types."""
    properties = (prop for entity in model.entities.values() for prop in entity.properties)
    return (prop for prop in properties if not types or prop.type in types)


def _renames(entity: Entity) -> list[Property]:
    return [prop for prop in entity.properties if prop.cardinality is Cardinality.IDENTITY_RENAME]


RULES: tuple[Rule, ...] = (
    entities_of_one_namespace_have_distinct_names,
    names_do_not_end_in_descriptor,
    names_leave_paging_parameters_free,
    plain_properties_are_not_named_like_shared_types,
    role_names_of_extensions_differ_from_the_name,
    references_to_the_own_entity_have_a_role_name,
    only_the_core_declares_closed_vocabularies_and_inline_commons,
    identity_is_declared_where_it_counts,
    commons_are_no_identity,
    common_and_inline_common_are_distinguished,
    inline_commons_are_no_collections,
    domain_entities_have_an_identity,
    commons_in_collections_have_an_identity,
    identities_do_not_go_in_circles,
    contents_do_not_go_in_circles,
    bases_do_not_go_in_circles,
    domain_entity_subclasses_rename_the_identity,
    renames_fit_the_base,
    at_most_one_property_is_renamed,
    subclasses_do_not_redeclare,
    subclasses_have_no_subclasses,
    additions_extend_another_project,
    abstract_entities_are_not_extended,
    no_project_declares_what_it_extends,
    additions_do_not_repeat,
    common_extensions_stand_where_the_common_is_used,
    limits_leave_room,
    nothing_current_builds_on_what_is_deprecated,
    commons_do_not_repeat_the_identity_around_them,
    check_merges,
    paths_to_one_value_are_merged_or_have_roles,
)
