"""Custom views: documents whose basis document is listed in a view that the operator created.

The strategy `StudentWithCTECourseEnrollments` applies to documents that refer to a student (its basis), and allows
those whose student's id is in `auth.StudentWithCTECourseEnrollments (document_uuid)`. The name is not quoted, so
PostgreSQL folds it to lower case. The operator is responsible for the cost of the view: single documents are looked up
in it one at a time, and a condition over all documents of a resource reads it as a whole.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from edfi_api.model.surface.resource import Resource, ResourceName, Surface
from edfi_api.storage import resource_types
from edfi_api.storage.driver.execution import execute
from edfi_api.storage.driver.sql import Sql

from ..exceptions import NotInView, StrategyNotApplicable, ViewElementRequired, ViewElementUninitialized
from ..tokens import AuthenticatedClient
from .basis import Basis, BasisPath, KeyValue, basis_named, documents_of, member_name, paths_to
from .strategy import Candidates, Subject, Unresolved
from .values import STORED, KeptValues, RowValues, Values

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


def is_custom_view(name: str) -> bool:
    """Whether the name has the form of a custom view strategy."""
    return bool(_NAME.fullmatch(name)) and len(name) <= _LONGEST_NAME


def unusable(names: Iterable[str], surface: Surface, using: str = "default") -> list[str]:
    """The custom views among the names that have no resource as their basis or do not exist in the database."""
    named = list(names)
    if not named:
        return []
    rows = execute(Sql(_USABLE, {"names": [name.lower() for name in named]}), using)
    in_database = {name for (name,) in rows}
    return [name for name in named if name.lower() not in in_database or basis_named(name, surface) is None]


@dataclass(frozen=True)
class CustomView:
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
            paths = [kept for path in paths if (kept := _kept(path, resource))]
        if not paths:
            raise StrategyNotApplicable(resource.name.resource, name, basis.name.resource)
        names = {*basis.names, *(target for path in paths for target in path.targets)}
        targets = {each: tuple(document.name for document in documents_of(each, surface)) for each in names}
        return cls(name, basis, (), tuple(paths), targets)

    def parameters(self, client: AuthenticatedClient, using: str) -> Mapping[str, Any]:
        numbers = resource_types.numbers(using)
        return {_parameter(name): [numbers[each] for each in documents] for name, documents in self.targets.items()}

    def precondition(self, client: AuthenticatedClient) -> Exception | None:
        return None

    def sql(self, values: Values) -> str:
        if not self.paths:
            return self._is_listed_itself(values)
        return " AND ".join(self._is_listed_by(path, values) for path in self.paths)

    def sql_for_many(self, values: Values, is_alone: bool) -> str:
        """From the view to the documents, so that the view is read once."""
        if not self.paths:
            return f"d.document_uuid IN (SELECT listed.document_uuid FROM {self._view} listed)"
        return " AND ".join(self._is_among_referrers(path) for path in self.paths)

    def candidates(self) -> Candidates | None:
        return None

    def questions(self, values: Values) -> list[str]:
        if not self.paths:
            return ["true", f"coalesce({self.sql(values)}, false)"]
        asked = []
        for path in self.paths:
            asked.append(" AND ".join(f"{values.member(value.here)} IS NOT NULL" for value in path.key))
            asked.append(f"coalesce({self._is_listed_by(path, values)}, false)")
        return asked

    def refusal(
        self, answers: Sequence[bool], values: Values, unresolved: Unresolved, client: AuthenticatedClient
    ) -> Exception | None:
        keys = [tuple(value.name for value in path.key) for path in self.paths] or [self.own_key]
        lost = [path.reference in unresolved for path in self.paths] or [False]
        found = list(zip(keys, lost, answers[::2], answers[1::2], strict=True))
        if missing := _distinct(key for key, is_lost, has_value, _ in found if is_lost or not has_value):
            if values.is_stored:
                return ViewElementUninitialized(missing, self.name, self._hints)
            return ViewElementRequired(missing, self._hints)
        if unlisted := _distinct(key for key, _, _, is_listed in found if not is_listed):
            return NotInView(unlisted, self._hints, values.is_stored)
        return None

    @cached_property
    def _view(self) -> str:
        return f"{SCHEMA}.{self.name.lower()}"

    @property
    def _hints(self) -> tuple[str, ...]:
        basis, description = self.name[: len(self.basis.name.resource)], self.name[len(self.basis.name.resource) :]
        words = " ".join([*_words(basis), "with", *_words(description.removeprefix("With"))])
        return (f"You may need {'an' if words[0] in 'AEIOU' else 'a'} {words}.",)

    def _is_listed(self, document_uuid: str) -> str:
        """OFFSET keeps the planner from reading the whole view to find one document in it."""
        return f"EXISTS (SELECT FROM {self._view} listed WHERE listed.document_uuid = {document_uuid} OFFSET 0)"

    def _is_listed_itself(self, values: Values) -> str:
        if isinstance(values, RowValues):
            return self._is_listed(values.column("document_uuid"))
        return f"""(
            {self._is_listed("%(document_uuid)s::uuid")} OR EXISTS (
                SELECT FROM alias a JOIN document b ON b.id = a.document_id
                 WHERE a.referential_id = %(referential_id)s::uuid AND {self._is_listed("b.document_uuid")} OFFSET 0
            ))"""

    def _is_listed_by(self, path: BasisPath, values: Values) -> str:
        if isinstance(values, KeptValues):
            return self._is_listed_by_key(path, values)
        last = f"l{len(path.targets)}"
        conditions = [_is_of(f"{last}.type", self.basis.name), self._is_listed(f"{last}.id")]
        if not path.is_only_one:
            conditions.append(_has_key(f"{last}.id", path, values))
        return f"EXISTS (SELECT FROM {_steps(path, values)} WHERE {' AND '.join(conditions)} OFFSET 0)"

    def _is_listed_by_key(self, path: BasisPath, values: KeptValues) -> str:
        """For deleted documents, of which only the key is kept."""
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

    def _is_among_referrers(self, path: BasisPath) -> str:
        """From the view, in which ids may repeat, back along the references; OFFSET fences this join order."""
        reached = f"""
            SELECT t.id FROM (SELECT DISTINCT document_uuid FROM {self._view} OFFSET 0) listed
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
        return found if path.is_only_one else f"{found} AND {self._is_listed_by(path, STORED)}"


def _kept(path: BasisPath, resource: Resource) -> BasisPath | None:
    """The path in terms of the key values kept of deleted documents; None if these lack part of the key."""
    places = {place: kept for field, kept in resource.key_fields for place in field.paths}
    if not all(value.here in places for value in path.key):
        return None
    return replace(path, key=tuple(replace(value, here=places[value.here]) for value in path.key))


def _parameter(name: ResourceName) -> str:
    return "types_of_" + re.sub(r"\W", "_", f"{name.project}_{name.resource}").lower()


def _types(name: ResourceName) -> str:
    return f"%({_parameter(name)})s::smallint[]"


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
    """Whether a document of the basis has the key that the subject has at the end of the path."""
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


def _words(name: str) -> list[str]:
    return _WORD.findall(name)


def _distinct(keys: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for key in keys for name in key))
