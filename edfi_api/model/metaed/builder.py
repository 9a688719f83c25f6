"""Syntax trees of one file → drafts: model elements whose references are still names.

Catalogue numbers and hints without effect are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import Any

from lark import Token, Tree

from edfi_api.model.metaed.core_names import ABSTRACT_ASSOCIATION
from edfi_api.model.metaed.drafts import (
    DomainDraft,
    DomainItem,
    EntityDraft,
    FileDraft,
    InterchangeDraft,
    InterchangeItemDraft,
    PropertyDraft,
    WrittenName,
)
from edfi_api.model.metaed.errors import Problem, error, warning
from edfi_api.model.metaed.model import (
    CORE_NAMESPACE,
    Cardinality,
    Domain,
    Entity,
    EntityKey,
    EntityKind,
    Interchange,
    Item,
    MapType,
    Merge,
    Property,
    PropertyType,
    SourceLocation,
)
from edfi_api.model.metaed.parser import ParsedFile

Node = Tree[Token]
# Values by the name of their field in Entity or Property.
Clauses = dict[str, Any]

KINDS = {
    "abstract_entity": EntityKind.DOMAIN_ENTITY,
    "domain_entity": EntityKind.DOMAIN_ENTITY,
    "domain_entity_subclass": EntityKind.DOMAIN_ENTITY_SUBCLASS,
    "domain_entity_additions": EntityKind.DOMAIN_ENTITY_ADDITIONS,
    "association": EntityKind.ASSOCIATION,
    "association_subclass": EntityKind.ASSOCIATION_SUBCLASS,
    "association_additions": EntityKind.ASSOCIATION_ADDITIONS,
    "common": EntityKind.COMMON,
    "common_subclass": EntityKind.COMMON_SUBCLASS,
    "common_additions": EntityKind.COMMON_ADDITIONS,
    "inline_common": EntityKind.COMMON,
    "choice": EntityKind.CHOICE,
    "descriptor": EntityKind.DESCRIPTOR,
    "enumeration": EntityKind.ENUMERATION,
    "shared_string": EntityKind.SHARED_STRING,
    "shared_integer": EntityKind.SHARED_INTEGER,
    "shared_short": EntityKind.SHARED_INTEGER,
    "shared_decimal": EntityKind.SHARED_DECIMAL,
}
ITEM_KINDS = {
    "domain entity": (EntityKind.DOMAIN_ENTITY, EntityKind.DOMAIN_ENTITY_SUBCLASS),
    "association": (EntityKind.ASSOCIATION, EntityKind.ASSOCIATION_SUBCLASS),
    "common": (EntityKind.COMMON, EntityKind.COMMON_SUBCLASS),
    "inline common": (EntityKind.COMMON,),
    "descriptor": (EntityKind.DESCRIPTOR,),
}
SCHOOL_YEAR = "SchoolYear"
IDENTITY_ITEM = " identity"
OPTIONAL_MAP_TYPE = "with optional map type"


def build(parsed: ParsedFile, namespace: str) -> FileDraft:
    """`namespace` is that of the project to which the file belongs."""
    builder = _FileBuilder(parsed.file, namespace)
    for statement in parsed.statements:
        builder.add(statement)
    return FileDraft(
        tuple(builder.entities), tuple(builder.domains), tuple(builder.interchanges), tuple(builder.problems)
    )


class _FileBuilder:
    """The file and the namespace while the file's statements are read one by one."""

    def __init__(self, file: str, namespace: str) -> None:
        self.file = file
        self.namespace = namespace
        self.entities: list[EntityDraft] = []
        self.domains: list[DomainDraft] = []
        self.interchanges: list[InterchangeDraft] = []
        self.problems: list[Problem] = []

    def add(self, statement: Node) -> None:
        match str(statement.data):
            case "end_namespace":
                return
            case "begin_namespace":
                self._check_wrapper(*_tokens(statement))
            case "domain" | "subdomain":
                self.domains.append(self._domain(statement))
            case "interchange" | "interchange_additions":
                self.interchanges.append(self._interchange(statement))
            case _:
                self.entities.append(self._entity(statement))

    def _check_wrapper(self, name: Token, tag: Token) -> None:
        """The namespace has to be that of the project; before 2019 a wrapper could have a lower-case or other name."""
        is_old_name = name[0].islower() and tag.type != "CORE" and self.namespace != CORE_NAMESPACE
        if name.casefold() != self.namespace.casefold() and not is_old_name:
            message = f"the namespace of this project is '{self.namespace}', not '{name}'"
            self.problems.append(error(self._place(name), message))

    # --- declarations ---

    def _entity(self, node: Node) -> EntityDraft:
        place, name, base = self._named_as(node)
        key = EntityKey(self.namespace, _entity_kind(node, name), name)
        entity = Entity(
            key=key,
            place=place,
            is_abstract=node.data == "abstract_entity" or key == ABSTRACT_ASSOCIATION,
            is_inline=node.data == "inline_common",
            is_short=node.data == "shared_short",
            items=_items(node),
            map_type=_map_type(node),
            **_clauses(node),
        )
        return EntityDraft(entity, self._members(node, key), base)

    def _named_as(self, node: Node) -> tuple[SourceLocation, str, WrittenName | None]:
        """Additions have the name of the entity that they extend; all others have their own."""
        base = next((self._reference(child) for child in _nodes(node, "qualified_name")), None)
        if base is not None and not _tokens(node):
            return base.place, base.name, base
        return *self._placed_name(node), base

    def _members(self, node: Node, key: EntityKey) -> tuple[PropertyDraft, ...]:
        """The ends of an association, which come first, and the properties."""
        ends = [self._end(child, key) for child in _nodes(node, "end")]
        properties = [self._property(child, key) for child in _nodes(node, "property")]
        members = (*ends, *properties)
        if key.kind is EntityKind.DESCRIPTOR and members:
            # The grammar of Ed-Fi's tools allows them, but the tools refuse them.
            message = "a descriptor has no properties of its own: the API gives all descriptors the same"
            self.problems.extend(error(member.property.place, message) for member in members)
            return ()
        return members

    def _domain(self, node: Node) -> DomainDraft:
        name, *more_names = _tokens(node)
        domain = Domain(
            namespace=self.namespace,
            name=str(name),
            entities=(),
            documentation=_clauses(node).get("documentation", ""),
            parent=str(more_names[0]) if node.data == "subdomain" else None,
        )
        items = tuple(self._domain_item(child) for child in _nodes(node, "domain_item"))
        return DomainDraft(domain, self._place(name), items)

    def _domain_item(self, node: Node) -> DomainItem:
        kind, name = _nodes(node)
        return DomainItem(ITEM_KINDS[_phrase(kind)], self._reference(name))

    def _interchange(self, node: Node) -> InterchangeDraft:
        place, name, base = self._named_as(node)
        interchange = Interchange(
            namespace=self.namespace, name=name, place=place, documentation=_clauses(node).get("documentation", "")
        )
        children = _nodes(node)
        items = (child for child in children if child.data in ("interchange_element", "interchange_identity"))
        return InterchangeDraft(interchange, tuple(map(self._interchange_item, items)), base)

    def _interchange_item(self, node: Node) -> InterchangeItemDraft:
        kind, name = _nodes(node)
        phrase = _phrase(kind)
        return InterchangeItemDraft(
            ITEM_KINDS[phrase.removesuffix(IDENTITY_ITEM)], self._reference(name), phrase.endswith(IDENTITY_ITEM)
        )

    # --- properties ---

    def _property(self, node: Node, key: EntityKey) -> PropertyDraft:
        phrase = _phrase(_nodes(node)[0])
        draft = self._draft(node, key, phrase, {"is_common_extension": phrase == "common extension"})
        if _nodes(node, "is_weak"):
            self.problems.append(warning(draft.property.place, "'is weak' is obsolete, and has no effect"))
        return draft

    def _end(self, node: Node, key: EntityKey) -> PropertyDraft:
        """An end of an association has no cardinality of its own: it is always part of the identity."""
        return self._draft(node, key, PropertyType.DOMAIN_ENTITY, {"cardinality": Cardinality.IDENTITY})

    def _draft(self, node: Node, key: EntityKey, phrase: str, facts: Clauses) -> PropertyDraft:
        reference = next((self._reference(child) for child in _nodes(node, "qualified_name")), None)
        place, name = (reference.place, reference.name) if reference else self._placed_name(node)
        facts = {"name": name, **facts, **_clauses(node)}
        merges = tuple(self._merge(child) for child in _nodes(node, "merge"))
        for context in _nodes(node, "context"):
            message = "'with context' is the former word for 'role name'"
            self.problems.append(warning(self._place(_tokens(context)[0]), message))
        return PropertyDraft(
            Property(type=_property_type(phrase, name), place=place, declared_by=key, merges=merges, **facts),
            reference,
            inherits_documentation=any(_nodes(node, "inherited")),
        )

    def _merge(self, node: Node) -> Merge:
        source, target = _nodes(node, "path")
        place = self._place(_tokens(source)[0])
        return Merge(_steps(source), _steps(target), place)

    # --- names and places ---

    def _reference(self, node: Node) -> WrittenName:
        *qualifier, name = _tokens(node)
        return WrittenName(str(qualifier[0]) if qualifier else "", str(name), self._place([*qualifier, name][0]))

    def _placed_name(self, node: Node) -> tuple[SourceLocation, str]:
        name = _tokens(node)[0]
        return self._place(name), str(name)

    def _place(self, token: Token) -> SourceLocation:
        return SourceLocation(self.file, token.line or 1, token.column or 1)


# --- reading nodes, independent of file and namespace ---


def _tokens(node: Node) -> list[Token]:
    return [child for child in node.children if isinstance(child, Token)]


def _nodes(node: Node, rule: str | None = None) -> list[Node]:
    """The children that are nodes themselves, of one rule if one is given."""
    nodes = (child for child in node.children if isinstance(child, Tree))
    return [child for child in nodes if rule is None or child.data == rule]


def _phrase(node: Node) -> str:
    """The phrase that is a node's only child, with one blank between its words."""
    return " ".join(_tokens(node)[0].split())


def _text(token: Token) -> str:
    return token[1:-1].replace('""', '"')


def _steps(path: Node) -> tuple[str, ...]:
    return tuple(str(step) for step in _tokens(path))


def _number(node: Node) -> int | Decimal:
    """A `signed_integer` or a `signed_decimal`."""
    *signs, digits = _tokens(node)
    value = Decimal(digits) if digits.type == "DECIMAL" else int(digits)
    return -value if "-" in signs else value


def _entity_kind(node: Node, name: str) -> EntityKind:
    kind = KINDS[str(node.data)]
    if kind is EntityKind.ENUMERATION and name == SCHOOL_YEAR:
        return EntityKind.SCHOOL_YEAR_ENUMERATION
    return kind


def _property_type(phrase: str, name: str) -> PropertyType:
    if phrase == PropertyType.ENUMERATION and name == SCHOOL_YEAR:
        return PropertyType.SCHOOL_YEAR_ENUMERATION
    return PropertyType.COMMON if phrase == "common extension" else PropertyType(phrase)


def _items(node: Node) -> tuple[Item, ...]:
    return tuple(Item(_text(_tokens(item)[0]), **_clauses(item)) for item in _nodes(node, "item"))


def _map_type(node: Node) -> MapType | None:
    for child in _nodes(node, "map_type"):
        is_optional = _phrase(_nodes(child, "map_type_phrase")[0]) == OPTIONAL_MAP_TYPE
        return MapType(items=_items(child), is_optional=is_optional, **_clauses(child))
    return None


def _clauses(node: Node) -> Clauses:
    """The values of the clauses below a declaration or property, by field of the model."""
    values: Clauses = {}
    for child in _nodes(node):
        values.update(_clause(child))
    return values


def _clause(node: Node) -> Clauses:
    """Empty for nodes that are not clauses: properties, ends, items, names."""
    read = CLAUSES.get(str(node.data))
    return read(node) if read is not None else {}


def _text_clause(node: Node) -> Clauses:
    return {str(node.data): _text(_tokens(node)[0])}


def _name_clause(node: Node) -> Clauses:
    return {str(node.data): str(_tokens(node)[0])}


def _number_clause(node: Node) -> Clauses:
    return {str(node.data): int(_tokens(node)[0])}


def _flag_clause(node: Node) -> Clauses:
    return {str(node.data): True}


def _own_name_clause(node: Node) -> Clauses:
    return {"name": str(_tokens(node)[0])}


def _context_clause(node: Node) -> Clauses:
    return {"role_name": str(_tokens(node)[0])}


def _cardinality_clause(node: Node) -> Clauses:
    return {"cardinality": Cardinality(_phrase(node))}


def _rename_clause(node: Node) -> Clauses:
    return {"cardinality": Cardinality.IDENTITY_RENAME, "renames": str(_tokens(node)[0])}


def _limit_clause(field: str, node: Node) -> Clauses:
    """`big` sets no limit; it only requests 64 bits."""
    (value,) = _nodes(node)
    return {"is_big": True} if value.data == "big" else {field: _number(value)}


CLAUSES: Mapping[str, Callable[[Node], Clauses]] = {
    "deprecated": _text_clause,
    "documentation": _text_clause,
    "role_name": _name_clause,
    "context": _context_clause,
    "shorten_to": _name_clause,
    "named": _own_name_clause,
    "cardinality": _cardinality_clause,
    "renames": _rename_clause,
    "is_queryable_field": _flag_clause,
    "allows_primary_key_updates": _flag_clause,
    "min_length": _number_clause,
    "max_length": _number_clause,
    "total_digits": _number_clause,
    "decimal_places": _number_clause,
    "min_value": partial(_limit_clause, "min_value"),
    "min_value_or_big": partial(_limit_clause, "min_value"),
    "min_decimal": partial(_limit_clause, "min_value"),
    "max_value": partial(_limit_clause, "max_value"),
    "max_value_or_big": partial(_limit_clause, "max_value"),
    "max_decimal": partial(_limit_clause, "max_value"),
}
