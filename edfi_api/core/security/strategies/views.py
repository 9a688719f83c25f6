"""Custom views: documents whose basis document is listed in a view that the operator created.

The strategy `StudentWithCTECourseEnrollments` applies to documents that refer to a student (its basis), and allows
those whose student's id is in `auth.StudentWithCTECourseEnrollments (document_uuid)`. The name is not quoted, so
PostgreSQL folds it to lower case. The operator is responsible for the cost of the view: single documents are looked up
in it one at a time, and a condition over all documents of a resource reads it as a whole. See
meadowlark/docs/operate/custom-view-authorization.md.

A path to the basis leads over references outside of collections. References of the identity take precedence over other
required ones, and these over optional ones: the school of a section is that of its course offering, not that of its
location. A path may pass through further documents whose keys contain the basis: from a grade to its student by the
section association. The shortest path is used, and of equally short ones the one whose references have no role name.
If several remain, all of their documents have to be in the view.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.exceptions import (
    NotInView,
    StrategyNotApplicable,
    ViewElementRequired,
    ViewElementUninitialized,
)
from edfi_api.core.security.strategies.strategy import (
    STORED,
    KeptValues,
    RowValues,
    Strategy,
    Subject,
    Unresolved,
    Values,
    distinct,
    pairs,
)
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.driver.execution import execute
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.core.storage.row_policy import Explanation
from edfi_api.model.surface.naming import lower_camel
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath, ReferencePath, Resource, ResourceName, Surface

SCHEMA = "auth"
_NAME = re.compile(r"[A-Z][A-Za-z0-9]*With[A-Z0-9][A-Za-z0-9]*", re.ASCII)
# PostgreSQL truncates longer names.
_LONGEST_NAME = 63
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]*|[a-z]+|\d+")
# Views, tables and the like that have the column, and that the server may read.
_USABLE = f"""
SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'document_uuid' AND a.atttypid = 'uuid'::regtype
 WHERE n.nspname = '{SCHEMA}' AND c.relname = ANY (%(names)s::text[]) AND c.relkind IN ('v', 'm', 'r', 'p', 'f')
   AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
"""


@dataclass(frozen=True)
class Basis:
    """The resource whose documents a custom view lists; an abstract one stands for its subclasses."""

    name: ResourceName
    documents: tuple[Resource, ...]

    @cached_property
    def names(self) -> frozenset[ResourceName]:
        """The possible targets of references to its documents."""
        return frozenset([self.name, *(each.name for each in self.documents)])


@dataclass(frozen=True)
class KeyValue:
    """One value of the key: its path in the subject, and its path in the documents of each basis resource."""

    here: JsonPath
    there: tuple[JsonPath, ...]

    @property
    def name(self) -> str:
        """Return its name in error messages."""
        return member_name(self.here)


@dataclass(frozen=True)
class BasisPath:
    """A path from the subject: the targets of its references, in order, the last of them the basis."""

    reference: JsonPath
    targets: tuple[ResourceName, ...]
    key: tuple[KeyValue, ...]
    # Whether no document on the path has another reference to the same target, so that the key need not be compared.
    is_only_one: bool


def member_name(path: JsonPath) -> str:
    """Return the name of the member in the model's case: `StudentUniqueId`."""
    step = path.steps[-1]
    return step[0].upper() + step[1:]


def basis_named(strategy: str, surface: Surface) -> Basis | None:
    """The resource named before `With` in the strategy's name; the longest name if several match."""
    ends = [index for index in range(1, len(strategy)) if _is_split(strategy, index)]
    bases = (_basis(strategy[:end], surface) for end in reversed(ends))
    return next((basis for basis in bases if basis), None)


def paths_to(basis: Basis, subject: Resource, surface: Surface) -> list[BasisPath]:
    """The paths to use; empty if the subject does not refer to the basis."""
    references = [reference for reference in subject.references if ALL_ITEMS not in reference.path.steps]
    for found in (
        _shortest([each for each in references if each.is_identity], basis, surface),
        _shortest([each for each in references if each.is_required and not each.is_identity], basis, surface),
        _shortest([each for each in references if not each.is_required and not each.is_identity], basis, surface),
    ):
        if found:
            fewest = min(way.roles for way in found)
            return [way.as_path(basis, subject, surface) for way in found if way.roles == fewest]
    return []


def documents_of(name: ResourceName, surface: Surface) -> tuple[Resource, ...]:
    """The resources whose documents a reference to `name` can refer to."""
    if name in surface.by_name:
        return (surface.by_name[name],)
    subclasses = (each.subclasses for each in surface.abstract_resources if each.name == name)
    return tuple(surface.by_name[each] for each in next(subclasses, ()))


def _is_split(strategy: str, index: int) -> bool:
    description = strategy[index:].removeprefix("With")
    return strategy.startswith("With", index) and description[:1].isalnum() and not description[:1].islower()


def _basis(name: str, surface: Surface) -> Basis | None:
    names = [*(each.name for each in surface.resources), *(each.name for each in surface.abstract_resources)]
    known = [each for each in names if each.resource == name]
    # The core project takes precedence over extensions with a resource of the same name.
    known.sort(key=lambda each: each.project != surface.core_project.name)
    documents = documents_of(known[0], surface) if known else ()
    return Basis(known[0], documents) if documents and not documents[0].is_descriptor else None


@dataclass(frozen=True)
class _Way:
    """A chain of references; `pairs` maps the paths of the last target's key to the paths in the subject."""

    before: tuple[ReferencePath, ...]
    last: ReferencePath
    pairs: dict[JsonPath, JsonPath]

    @property
    def target(self) -> ResourceName:
        return self.last.target

    @property
    def references(self) -> tuple[ReferencePath, ...]:
        return (*self.before, self.last)

    def longer(self, surface: Surface) -> Iterator["_Way"]:
        """Chains with one more reference, of those in the target's identity: only their keys repeat in the subject."""
        for target in documents_of(self.target, surface)[:1]:
            for reference in target.references:
                pairs = {pair.there: self.pairs[pair.here] for pair in reference.identity if pair.here in self.pairs}
                if reference.is_identity and len(pairs) == len(reference.identity):
                    yield _Way(self.references, reference, pairs)

    def as_path(self, basis: Basis, subject: Resource, surface: Surface) -> BasisPath:
        key = [KeyValue(here, _in_documents(there, self.target, basis)) for there, here in self.pairs.items()]
        targets = tuple(reference.target for reference in self.references)
        on_the_way = [(subject,), *(documents_of(target, surface) for target in targets[:-1])]
        is_only_one = all(
            _counted(document, documents_of(target, surface), surface) == 1
            for documents, target in zip(on_the_way, (*targets[:-1], basis.name), strict=True)
            for document in documents
        )
        return BasisPath(self.references[0].path, targets, tuple(sorted(key, key=_place)), is_only_one)

    @property
    def roles(self) -> int:
        return sum(map(_has_role, self.references))


def _shortest(references: Iterable[ReferencePath], basis: Basis, surface: Surface) -> list[_Way]:
    """The shortest chains that begin with these references."""
    found = [_Way((), reference, {pair.there: pair.here for pair in reference.identity}) for reference in references]
    seen: set[ResourceName] = set()
    while found:
        if arrived := [way for way in found if way.target in basis.names]:
            return arrived
        onward = [way for way in found if way.target not in seen]
        seen.update(way.target for way in onward)
        found = [longer for way in onward for longer in way.longer(surface)]
    return []


def _place(value: KeyValue) -> JsonPath:
    return value.here


def _counted(resource: Resource, targets: tuple[Resource, ...], surface: Surface) -> int:
    """The number of the resource's references that can refer to documents of these resources."""
    return sum(
        any(document in targets for document in documents_of(reference.target, surface))
        for reference in resource.references
    )


def _has_role(reference: ReferencePath) -> bool:
    return reference.path.steps[-1] != f"{lower_camel(reference.target.resource)}Reference"


def _in_documents(there: JsonPath, target: ResourceName, basis: Basis) -> tuple[JsonPath, ...]:
    """The paths, in the documents themselves, of the value that a reference to their superclass has at `there`."""
    found = [
        next(
            (
                pair.here
                for pair in (document.superclass.identity if document.superclass else ())
                if document.name != target and pair.there == there
            ),
            there,
        )
        for document in basis.documents
    ]
    return tuple(found)


def types_parameter(name: ResourceName) -> str:
    """The parameter with the type numbers of the resources to which a reference to `name` can refer."""
    return "types_of_" + re.sub(r"\W", "_", f"{name.project}_{name.resource}").lower()


def kept_path(path: BasisPath, resource: Resource) -> BasisPath | None:
    """The path in terms of the key values kept of deleted documents; None if these lack part of the key."""
    places = {place: kept for field, kept in resource.key_fields for place in field.paths}
    if not all(value.here in places for value in path.key):
        return None
    return replace(path, key=tuple(replace(value, here=places[value.here]) for value in path.key))


@dataclass(frozen=True, slots=True)
class ViewConditions:
    """The conditions of one view on documents, and on the documents of its basis."""

    view: str
    basis: Basis

    def is_listed_itself(self, values: Values) -> str:
        """Return whether a document of the basis is in the view."""
        if isinstance(values, RowValues):
            return self._is_listed(values.column("document_uuid"))
        return f"""(
            {self._is_listed("%(document_uuid)s::uuid")} OR EXISTS (
                SELECT FROM alias a JOIN document b ON b.id = a.document_id
                 WHERE a.referential_id = %(referential_id)s::uuid AND {self._is_listed("b.document_uuid")} OFFSET 0
            ))"""

    def is_among_listed(self) -> str:
        """Return the condition of `is_listed` for many documents: the view is read once."""
        return f"d.document_uuid IN (SELECT listed.document_uuid FROM {self._table} listed)"

    def is_listed_by(self, path: BasisPath, values: Values) -> str:
        """Return whether the document of the basis at the end of the path is in the view."""
        if isinstance(values, KeptValues):
            return self._is_listed_by_key(path, values)
        last = f"l{len(path.targets)}"
        conditions = [_is_of(f"{last}.type", self.basis.name), self._is_listed(f"{last}.id")]
        if not path.is_only_one:
            conditions.append(_has_key(f"{last}.id", path, values))
        return f"EXISTS (SELECT FROM {_steps(path, values)} WHERE {' AND '.join(conditions)} OFFSET 0)"

    def is_among_referrers(self, path: BasisPath) -> str:
        """Return the condition for many documents. It leads from the view, in which ids may repeat, back along the
        references; OFFSET fences this join order.
        """
        reached = f"""
            SELECT t.id FROM (SELECT DISTINCT document_uuid FROM {self._table} OFFSET 0) listed
              JOIN document t ON t.document_uuid = listed.document_uuid
             WHERE {_is_of("t.resource_type_id", self.basis.name)}
        """
        between = [_is_of("r.resource_type_id", target) for target in path.targets[:-1]]
        for is_referring in reversed(["r.resource_type_id = %(type)s", *between]):
            reached = f"""
                SELECT r.document_id AS id FROM ({reached} OFFSET 0) t JOIN alias a ON a.document_id = t.id
                  JOIN reference r ON r.alias_id = a.referential_id AND {is_referring}
            """
        found = f"d.id IN ({reached})"
        return found if path.is_only_one else f"{found} AND {self.is_listed_by(path, STORED)}"

    @property
    def _table(self) -> str:
        """Return the name of the view as PostgreSQL folds what the operator has written without quotes."""
        return f"{SCHEMA}.{self.view.lower()}"

    def _is_listed(self, document_uuid: str) -> str:
        """OFFSET keeps the planner from reading the whole view to find one document in it."""
        return f"EXISTS (SELECT FROM {self._table} listed WHERE listed.document_uuid = {document_uuid} OFFSET 0)"

    def _is_listed_by_key(self, path: BasisPath, values: KeptValues) -> str:
        """Return the condition for deleted documents, of which only the key is kept."""
        return "({})".format(
            " OR ".join(
                f"""EXISTS (
                    SELECT FROM document t
                     WHERE t.resource_type_id = {number} AND {self._is_listed("t.document_uuid")}
                       AND scoped_body(t.resource_type_id, t.body)
                           @> jsonb_build_object({number}::text, {_example(path.key, position, values)}) OFFSET 0
                )"""
                for position, document in enumerate(self.basis.documents)
                if (number := f"({_types(document.name)})[1]")
            )
        )


def _types(name: ResourceName) -> str:
    return f"%({types_parameter(name)})s::smallint[]"


def _is_of(type_: str, name: ResourceName) -> str:
    return f"{type_} = ANY ({_types(name)})"


def _steps(path: BasisPath, values: Values) -> str:
    """Types and ids of the subject's referenced documents (`l1`), of theirs (`l2`), and so on. OFFSET keeps the planner
    from considering other join orders than that of the references."""
    if isinstance(values, RowValues):
        steps = f"unnest({values.alias}.linked_types, {values.alias}.linked_ids) l1 (type, id)"
    else:
        steps = """(
            SELECT b.resource_type_id AS type, b.document_uuid AS id
              FROM unnest(%(linked)s::uuid[]) AS l (alias_id) JOIN alias a ON a.referential_id = l.alias_id
              JOIN document b ON b.id = a.document_id OFFSET 0
        ) l1"""
    for number, target in enumerate(path.targets[:-1], start=1):
        steps += f""" CROSS JOIN LATERAL (
            SELECT l.type, l.id
              FROM document b CROSS JOIN LATERAL unnest(b.linked_types, b.linked_ids) AS l (type, id)
             WHERE {_is_of(f"l{number}.type", target)} AND b.document_uuid = l{number}.id OFFSET 0
        ) l{number + 1}"""
    return steps


def _has_key(document_uuid: str, path: BasisPath, values: Values) -> str:
    """Return whether a document of the basis has the key that the subject has at the end of the path."""
    row = RowValues("t")
    key = (
        f"coalesce({', '.join(map(row.member, dict.fromkeys(value.there)))}) = {values.member(value.here)}"
        for value in path.key
    )
    return f"EXISTS (SELECT FROM document t WHERE t.document_uuid = {document_uuid} AND {' AND '.join(key)} OFFSET 0)"


def _example(key: Sequence[KeyValue], position: int, values: KeptValues) -> str:
    """SQL for the minimal body that has the key, in the form of the basis resource at this position."""
    tree: dict[str, Any] = {}
    for value in key:
        *above, last = value.there[position].steps
        node = tree
        for step in above:
            node = node.setdefault(step, {})
        node[last] = values.json_member(value.here)
    return _object(tree)


def _object(tree: Mapping[str, Any]) -> str:
    members = (
        f"'{name}', {value if isinstance(value, str) else _object(value)}" for name, value in sorted(tree.items())
    )
    return f"jsonb_build_object({', '.join(members)})"


def is_custom_view(name: str) -> bool:
    """Return whether the name has the form of a custom view strategy."""
    return bool(_NAME.fullmatch(name)) and len(name) <= _LONGEST_NAME


def view_name(strategy: str) -> str:
    """`auth.studentwithpets`: the view of a custom view strategy."""
    return f"{SCHEMA}.{strategy.lower()}"


def unusable(names: Iterable[str], surface: Surface, using: str) -> list[str]:
    """The custom views among the names that have no resource as their basis or do not exist in the database."""
    named = list(names)
    if not named:
        return []
    rows = execute(Sql(_USABLE, {"names": [name.lower() for name in named]}), using)
    in_database = {name for (name,) in rows}
    return [name for name in named if name.lower() not in in_database or basis_named(name, surface) is None]


@dataclass(frozen=True, slots=True)
class CustomView(Strategy):
    """One view for one resource; without `paths` the resource is the basis itself. `targets` are the resources on the
    paths, each with the resources whose documents a reference to it can refer to."""

    name: str
    basis: Basis
    own_key: tuple[str, ...]
    paths: tuple[BasisPath, ...]
    targets: Mapping[ResourceName, tuple[ResourceName, ...]]

    @classmethod
    def of(cls, name: str, subject: Subject) -> "CustomView":
        """Raises StrategyNotApplicable if the resource does not refer to the basis."""
        resource, surface = subject.resource, subject.surface
        basis = basis_named(name, surface)
        if basis is None:
            raise StrategyNotApplicable(resource.name.resource, name, "basis")
        if resource in basis.documents:
            return cls(name, basis, tuple(member_name(path) for path in resource.identity), (), {})
        paths = paths_to(basis, resource, surface)
        if subject.is_for_changes:
            paths = [kept for path in paths if (kept := kept_path(path, resource))]
        if not paths:
            raise StrategyNotApplicable(resource.name.resource, name, basis.name.resource)
        names = {*basis.names, *(target for path in paths for target in path.targets)}
        targets = {each: tuple(document.name for document in documents_of(each, surface)) for each in names}
        return cls(name, basis, (), tuple(paths), targets)

    def parameters(self, client: AuthenticatedClient, using: str) -> Mapping[str, Any]:
        numbers = resource_types.numbers(using)
        return {types_parameter(name): [numbers[each] for each in names] for name, names in self.targets.items()}

    @property
    def depends_on_its_subject(self) -> bool:
        """The view may read any document."""
        return True

    def condition(self, values: Values) -> Sql:
        if not self.paths:
            return Sql(self._conditions.is_listed_itself(values))
        return Sql(" AND ".join(self._conditions.is_listed_by(path, values) for path in self.paths))

    def condition_for_many(self, is_alone: bool) -> Sql:
        """Return a condition that leads from the view to the documents, so that the view is read once."""
        if not self.paths:
            return Sql(self._conditions.is_among_listed())
        return Sql(" AND ".join(self._conditions.is_among_referrers(path) for path in self.paths))

    def explanation(self, values: Values, client: AuthenticatedClient) -> Explanation:
        keys = [tuple(value.name for value in path.key) for path in self.paths] or [self.own_key]

        def refuse(results: Sequence[bool], unresolved: Unresolved) -> Exception | None:
            lost = [path.reference in unresolved for path in self.paths] or [False]
            tested = list(zip(keys, lost, pairs(results), strict=True))
            missing = _names(key for key, is_lost, (has_value, _) in tested if is_lost or not has_value)
            if missing and values.is_stored:
                return ViewElementUninitialized(missing, self.name, self._hints)
            if missing:
                return ViewElementRequired(missing, self._hints)
            unlisted = _names(key for key, _, (_, is_listed) in tested if not is_listed)
            return NotInView(unlisted, self._hints, values.is_stored) if unlisted else None

        return Explanation(tuple(self._tests(values)), refuse)

    def _tests(self, values: Values) -> Iterator[Sql]:
        """Yield two tests for each path: whether its reference is there, and whether its document is listed."""
        if not self.paths:
            yield from (Sql("true"), "coalesce(" + self.condition(values) + ", false)")
        for path in self.paths:
            yield Sql(" AND ".join(f"{values.member(value.here)} IS NOT NULL" for value in path.key))
            yield Sql(f"coalesce({self._conditions.is_listed_by(path, values)}, false)")

    @property
    def _conditions(self) -> ViewConditions:
        return ViewConditions(self.name, self.basis)

    @property
    def _hints(self) -> tuple[str, ...]:
        basis, description = self.name[: len(self.basis.name.resource)], self.name[len(self.basis.name.resource) :]
        words = " ".join([*_words(basis), "with", *_words(description.removeprefix("With"))])
        return (f"You may need {'an' if words[0] in 'AEIOU' else 'a'} {words}.",)


def _names(keys: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return distinct(name for key in keys for name in key)


def _words(name: str) -> list[str]:
    return _WORD.findall(name)
