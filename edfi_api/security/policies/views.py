"""Custom views: documents whose basis document is listed in a view that the operator created.

The strategy `StudentWithCTECourseEnrollments` applies to documents that refer to a student (its basis), and allows
those whose student's id is in `auth.StudentWithCTECourseEnrollments (document_uuid)`. The name is not quoted, so
PostgreSQL folds it to lower case. The operator is responsible for the cost of the view: single documents are looked up
in it one at a time, and a condition over all documents of a resource reads it as a whole. See
meadowlark/docs/operate/custom-view-authorization.md.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from edfi_api.model.surface.resource import ResourceName, Surface
from edfi_api.storage import resource_types
from edfi_api.storage.driver.execution import execute
from edfi_api.storage.driver.sql import Sql
from edfi_api.storage.row_policy import Explanation

from ..authenticated_client import AuthenticatedClient
from ..exceptions import NotInView, StrategyNotApplicable, ViewElementRequired, ViewElementUninitialized
from .basis import Basis, BasisPath, basis_named, documents_of, member_name, paths_to
from .strategy import Strategy, Subject, Unresolved, distinct, pairs
from .values import Values
from .view_conditions import SCHEMA, ViewConditions, kept_path, types_parameter

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
        """From the view to the documents, so that the view is read once."""
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
        """Two for each path: whether its reference is there, and whether its document is listed."""
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
