"""What the views mean, from the documentation of the model: domains, views, columns, keys and relations; which columns
identify students, and by which names rows are found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from edfi_api.core.documents.securables import SecurableKind, groups
from edfi_api.core.queries.name_index import name_members
from edfi_api.core.served import current_surface
from edfi_api.core.storage.database_state import database_state
from edfi_api.features.questions.asking import Origin
from edfi_api.features.sql_views.current import current_views
from edfi_api.features.sql_views.shape import RowKind, SqlColumn
from edfi_api.features.sql_views.tables import ForeignKey
from edfi_api.features.sql_views.views import View
from edfi_api.model.metaed.model import Domain, EntityKey, Model
from edfi_api.model.surface.columns import Column
from edfi_api.model.surface.naming import resource_name
from edfi_api.model.surface.resource import Resource, ResourceName, Surface

_MOST_FOUND = 25
_TEXT = "VARCHAR"


@dataclass(frozen=True, slots=True)
class Findable:
    """The search for rows of a view by name: the columns that are shown, those that are searched, and the join with the
    view of the base, if names are there."""

    view: str
    shown: tuple[str, ...]
    searched: tuple[str, ...]
    source: str


class Semantics:
    """The views of a model, described."""

    def __init__(self, views: Iterable[View], model: Model, surface: Surface) -> None:
        self.views = {str(view): view for view in views}
        self.domains = {domain.name: domain for domain in model.domains}
        self._model, self._surface = model, surface
        self._referring: dict[str, list[tuple[View, ForeignKey]]] = defaultdict(list)
        for view in self.views.values():
            for key in view.foreign_keys:
                self._referring[str(key.target)].append((view, key))
        self._student = self._entity_of_students()

    @property
    def search_path(self) -> tuple[str, ...]:
        """Return the schemas whose views may be named without them."""
        schemas = {view.schema for view in self.views.values() if view.table is not None}
        return tuple(sorted(schema for schema in schemas if not schema.endswith("_text")))

    def overview(self) -> str:
        """Return the list of domains."""
        lines = [f"- {name}: {domain.documentation}" for name, domain in sorted(self.domains.items())]
        return "\n".join(["Domains of the model; describe one of them for its views.", *lines])

    def relations(self) -> str:
        """Return every foreign key, a line each."""
        return "\n".join(f"{view}: {key}" for view in self.views.values() for key in view.foreign_keys)

    def domain(self, name: str) -> str | None:
        """Return what belongs to a domain, which is named without regard to case; None if there is none."""
        found = next((each for key, each in self.domains.items() if key.lower() == name.lower()), None)
        if found is None:
            return None
        lines = [f"- {view}: {view.table.documentation}" for view in self._of(found) if view.table is not None]
        return "\n".join([f"Domain {found.name}: {found.documentation}", *lines])

    def named(self, name: str) -> View | None:
        """Return the view of this name, with or without its schema."""
        lower = name.strip().lower().replace('"', "")
        schemas = ("", *(f"{schema}." for schema in self.search_path))
        return next((self.views[f"{schema}{lower}"] for schema in schemas if f"{schema}{lower}" in self.views), None)

    def view(self, view: View, visible: frozenset[str]) -> str:
        """Return the description of a view with the columns that a person may read."""
        table = view.table
        base = self.views[str(table)] if table is not None else view
        facts = {column.name: column for column in table.columns} if table is not None else {}
        names = [name for name, _ in view.columns]
        lines = [f"View {view}: {table.documentation if table is not None else ''}", "Columns:"]
        lines += [f"- {_column(name, facts.get(name))}" for name in names if name in visible]
        withheld = [name for name in names if name not in visible]
        text = f"{view.schema}_text.{view.name}"
        lines += [
            *([f"Withheld from you: {', '.join(withheld)}"] if withheld else []),
            *([f"Primary key: {', '.join(table.primary_key)}"] if table is not None else []),
            *(f"Refers to: {key}" for key in base.foreign_keys),
            *(f"Referred to by: {other}: {key}" for other, key in self._referring.get(str(base), ())),
            *([f"With descriptors as text: {text}"] if text in self.views else []),
        ]
        return "\n".join(lines)

    def search(self, words: str) -> str:
        """Return the views and columns whose names and documentation have all the words."""
        wanted = words.lower().split()
        found = [line for line in self._lines() if all(word in line.lower() for word in wanted)]
        # Names say more than documentation.
        found.sort(key=lambda line: not all(word in line.lower().partition(":")[0] for word in wanted))
        more = [f"and {len(found) - _MOST_FOUND} more"] if len(found) > _MOST_FOUND else []
        return "\n".join([*found[:_MOST_FOUND], *more]) or f"No view, column or domain has the words {words}."

    def values_statement(self, view: View) -> str | None:
        """Return the SELECT of the values of a descriptor; None for a view of something else."""
        if view.table is None or view.table.rows is not RowKind.DESCRIPTOR or not view.foreign_keys:
            return None
        key = view.foreign_keys[0]
        on = f"d.{key.key[0]} = v.{key.columns[0]}"
        columns = "d.codevalue, d.shortdescription, d.namespace"
        return f"SELECT {columns} FROM {view} v JOIN {key.target} d ON {on} ORDER BY 1"

    def student_columns(self, origins: Iterable[Origin | None]) -> Iterator[tuple[int, bool]]:
        """Yield the positions of the columns that identify students, and whether by number; else by unique id."""
        for position, origin in enumerate(origins):
            view = None if origin is None else self.views.get(f"{origin[0]}.{origin[1]}")
            if origin is None or view is None or view.table is None or self._student is None:
                continue
            column = next((each for each in view.table.columns if each.name == origin[2]), None)
            entity, unique_id = self._student
            if column is not None and _refers_to(column, entity):
                yield position, True
            elif view.table.entity is not None and view.table.entity.key == entity and origin[2] == unique_id:
                yield position, False

    def person_column(self, view: View) -> str | None:
        """Return the column with the number of the person that rows of a view are about: of students, if it has one."""
        columns = [column for column in (view.table.columns if view.table else ()) if _is_number_of_person(column)]
        entity = None if self._student is None else self._student[0]
        students = [column for column in columns if entity is not None and _refers_to(column, entity)]
        return next((column.name for column in [*students, *columns]), None)

    @property
    def findable(self) -> Mapping[str, Findable]:
        """Return how rows are found by name, by the name of the view."""
        found = (self._findable(view) for view in self.views.values() if not view.schema.endswith("_text"))
        return {each.view.partition(".")[2]: each for each in found if each is not None}

    def _findable(self, view: View) -> Findable | None:
        table = view.table
        if table is None or table.rows is not RowKind.DOCUMENT or table.entity is None:
            return None
        resource = self._resource(table.entity.key)
        if resource is None:
            return None
        base = next(
            (key for key in view.foreign_keys if key.target.entity and table.entity.base == key.target.owner.key), None
        )
        own = {name: f"v.{name}" for name, _ in view.columns}
        of_base = {column.name: f"b.{column.name}" for column in base.target.columns} if base is not None else {}
        places = of_base | own
        members = [*name_members(resource), *(path.steps[-1] for path in resource.identity if len(path.steps) == 1)]
        texts = {
            column.name for column in [*table.columns, *(base.target.columns if base else ())] if _TEXT in column.type
        }
        searched = [name for member in dict.fromkeys(members) if (name := member.lower()) in texts and name in places]
        names = [member for member in name_members(resource) if member.lower() in places]
        if not names:
            return None
        shown = dict.fromkeys([*table.primary_key, *searched])
        join = "" if base is None else f" JOIN {base.target} b ON {_equal(base)}"
        return Findable(
            str(view),
            tuple(places[name] for name in shown if name in places),
            tuple(places[name] for name in searched),
            f"{view} v{join}",
        )

    def _resource(self, key: EntityKey) -> Resource | None:
        project = self._model.project(key.namespace).name
        return self._surface.by_name.get(ResourceName(project, resource_name(self._model.entities[key])))

    def _entity_of_students(self) -> tuple[EntityKey, str] | None:
        """Return the entity that students are, and the column with the unique id."""
        for view in self.views.values():
            table = view.table
            if (
                table is None
                or table.rows is not RowKind.DOCUMENT
                or table.entity is None
                or len(table.primary_key) != 1
            ):
                continue
            resource = self._resource(table.entity.key)
            kinds = {
                element.kind
                for group in (groups(resource) if resource is not None else ())
                for element in group
                if resource is not None and resource.identity == (element.path,)
            }
            if SecurableKind.STUDENT in kinds and resource is not None:
                return table.entity.key, resource.identity[0].steps[0].lower()
        return None

    def _of(self, domain: Domain) -> Iterator[View]:
        """Yield the views of a domain: those of its entities, without those of descriptors as text."""
        for view in self.views.values():
            if view.schema.endswith("_text") or view.table is None or view.table.entity is None:
                continue
            if view.table.entity.key in domain.entities:
                yield view

    def _lines(self) -> Iterator[str]:
        yield from (f"Domain {name}: {domain.documentation}" for name, domain in self.domains.items())
        for view in self.views.values():
            if view.table is None or view.schema.endswith("_text"):
                continue
            yield f"{view}: {view.table.documentation}"
            for column in view.table.columns:
                yield f"{view}.{column.name}: {column.documentation}"


def semantics(using: str) -> Semantics:
    """Return the meaning of the views of a database. At first, it compiles the model, which takes some seconds."""
    return database_state(using).value(_compiled)


def _compiled(using: str) -> Semantics:
    current = current_views(using)
    return Semantics(current.views, current.model, current_surface())


def _column(name: str, column: SqlColumn | None) -> str:
    if column is None:
        return f"{name}: code value of {name}id"
    return f"{name} ({column.type.lower()}{', key' if column.is_key else ''}): {column.documentation}"


def _is_number_of_person(column: SqlColumn) -> bool:
    return isinstance(column.source, Column) and column.source.is_surrogate


def _refers_to(column: SqlColumn, entity: EntityKey) -> bool:
    source: Any = column.source
    return _is_number_of_person(column) and source.prop.declared_by == entity


def _equal(key: ForeignKey) -> str:
    return " AND ".join(f"b.{other} = v.{own}" for own, other in zip(key.columns, key.key, strict=True))
