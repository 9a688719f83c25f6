"""SQL for custom views: whether the documents of the basis to which a document refers are listed in a view."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from edfi_api.model.surface.resource import Resource, ResourceName

from .basis import Basis, BasisPath, KeyValue
from .values import STORED, KeptValues, RowValues, Values

SCHEMA = "auth"


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
        """Whether a document of the basis is in the view."""
        if isinstance(values, RowValues):
            return self._is_listed(values.column("document_uuid"))
        return f"""(
            {self._is_listed("%(document_uuid)s::uuid")} OR EXISTS (
                SELECT FROM alias a JOIN document b ON b.id = a.document_id
                 WHERE a.referential_id = %(referential_id)s::uuid AND {self._is_listed("b.document_uuid")} OFFSET 0
            ))"""

    def is_among_listed(self) -> str:
        """The same for many documents: the view is read once."""
        return f"d.document_uuid IN (SELECT listed.document_uuid FROM {self._table} listed)"

    def is_listed_by(self, path: BasisPath, values: Values) -> str:
        """Whether the document of the basis at the end of the path is in the view."""
        if isinstance(values, KeptValues):
            return self._is_listed_by_key(path, values)
        last = f"l{len(path.targets)}"
        conditions = [_is_of(f"{last}.type", self.basis.name), self._is_listed(f"{last}.id")]
        if not path.is_only_one:
            conditions.append(_has_key(f"{last}.id", path, values))
        return f"EXISTS (SELECT FROM {_steps(path, values)} WHERE {' AND '.join(conditions)} OFFSET 0)"

    def is_among_referrers(self, path: BasisPath) -> str:
        """The same for many documents: from the view, in which ids may repeat, back along the references; OFFSET fences
        this join order."""
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
        """As PostgreSQL folds the name that the operator has written without quotes."""
        return f"{SCHEMA}.{self.view.lower()}"

    def _is_listed(self, document_uuid: str) -> str:
        """OFFSET keeps the planner from reading the whole view to find one document in it."""
        return f"EXISTS (SELECT FROM {self._table} listed WHERE listed.document_uuid = {document_uuid} OFFSET 0)"

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
