"""The rows of a table: which documents, which objects or array items in them, and where values are read from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from edfi_api.core.documents.securables import SecurableKind
from edfi_api.features.sql_views import casts
from edfi_api.features.sql_views.bodies import IS_NUMBERED_PERSON, ResourceBody
from edfi_api.features.sql_views.shape import RowKind, SqlTable
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath

Steps = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ViewRows:
    """FROM and WHERE of a view. `arrays` are the array items on the way to a row, outermost first, of each body."""

    bodies: Sequence[ResourceBody]
    objects: Mapping[int, JsonPath]

    @classmethod
    def of(cls, table: SqlTable, bodies: Sequence[ResourceBody]) -> ViewRows:
        """The rows of a table in those of these bodies that can have some."""
        objects = {body.number: place for body in bodies if (place := _place(table, body)) is not None}
        return cls([body for body in bodies if body.number in objects], objects)

    def read(self, body: ResourceBody, path: JsonPath, read: Callable[[str, Steps], str]) -> str:
        """`read` of the nearest enclosing item of this row and the steps from there."""
        place = self.enclosing(body, path)
        number = place.steps.count(ALL_ITEMS)
        return read(f"i{number}.item" if number else "d.body", path.steps[len(place.steps) :])

    def enclosing(self, body: ResourceBody, path: JsonPath) -> JsonPath:
        """The innermost array item of this row, or the root, in which the path is one value.

        LookupError if it leads into other items.
        """
        around = [items for items in _array_paths(self.objects[body.number]) if path.steps[: len(items)] == items]
        place = max(around, key=len, default=())
        if ALL_ITEMS in path.steps[len(place) :]:
            raise LookupError(f"{path} of {body.resource.name.resource} is not one value of a row")
        return JsonPath(place)

    def by_type(self, texts: Mapping[int, str]) -> str:
        """One expression for all bodies: a CASE where those of some resource types differ."""
        numbers: dict[str, list[int]] = {}
        for number, text in texts.items():
            numbers.setdefault(text, []).append(number)
        if len(numbers) == 1:
            return next(iter(numbers))
        cases = (f"WHEN {of_types(some)} THEN {text}" for text, some in numbers.items())
        return f"CASE {' '.join(cases)} END"

    def from_clauses(self) -> list[str]:
        """The document, and a lateral join for each array on the way."""
        depth = max(len(_array_paths(place)) for place in self.objects.values())
        return ["public.document d", *(self._items(level) for level in range(depth))]

    def _items(self, level: int) -> str:
        around = "d.body" if level == 0 else f"i{level}.item"
        arrays = {}
        for body in self.bodies:
            paths = [(), *_array_paths(self.objects[body.number])]
            arrays[body.number] = casts.json(around, paths[level + 1][len(paths[level]) : -1])
        return f"CROSS JOIN LATERAL jsonb_array_elements({self.by_type(arrays)}) AS i{level + 1} (item)"

    def conditions(self) -> list[str]:
        """The resource types, what lets partial indexes serve the view, and the presence of the object."""
        found = [of_types([body.number for body in self.bodies]), *self._index_conditions()]
        presence = {body.number: self._presence(body) for body in self.bodies}
        return [*found, self.by_type(presence)] if all(presence.values()) else found

    def _presence(self, body: ResourceBody) -> str:
        """Return the condition that the object, or the item around it, has the member that the row stands for."""
        place = self.objects[body.number]
        if not place.steps or place.steps[-1] == ALL_ITEMS:
            return ""
        return self.read(body, place, _has_member)

    def _index_conditions(self) -> list[str]:
        """Conditions that all rows meet, with which partial indexes serve the view.

        That an organization has a hierarchy is said by a function, whose share the planner guesses; it would take IS
        NOT NULL for independent of the resource type, and expect five organizations where there are a thousand.
        """
        facts = {
            IS_NUMBERED_PERSON.format("d"): lambda body: body.person is not None,
            "d.opens_pathway": _opens_pathway,
            "d.student IS NOT NULL": lambda body: _opens_pathway(body) and _identifies(body, SecurableKind.STUDENT),
            "cardinality(d.hierarchy) > 0": lambda body: body.resource.organization is not None,
            "d.organization IS NOT NULL": lambda body: _identifies(body, SecurableKind.ORGANIZATION),
        }
        return [condition for condition, is_fact in facts.items() if all(map(is_fact, self.bodies))]


def _place(table: SqlTable, body: ResourceBody) -> JsonPath | None:
    match table.rows:
        case RowKind.DOCUMENT:
            return JsonPath(())
        case RowKind.EXTENSION | RowKind.COMMON_EXTENSION:
            return body.extension(table.owner, table.path)
        case _:
            return body.object(table.owner, table.path)


def _array_paths(place: JsonPath) -> list[Steps]:
    """The paths of the items of each array on the way: `a[*]`, `a[*].b[*]`."""
    return [place.steps[: end + 1] for end, step in enumerate(place.steps) if step == ALL_ITEMS]


def _has_member(base: str, steps: Steps) -> str:
    *way, last = steps
    return f"{casts.json(base, way)} ? {casts.literal(last)}"


def _identifies(body: ResourceBody, kind: SecurableKind) -> bool:
    """Return whether the column of this name is a part of the identity, and so never NULL."""
    return bool(body.securables.get(kind, frozenset()) & set(body.resource.identity))


def _opens_pathway(body: ResourceBody) -> bool:
    return bool(body.resource.authorization_pathways)


def of_types(numbers: Sequence[int]) -> str:
    """Return the condition that a document is of one of these resource types."""
    if len(numbers) == 1:
        return f"d.resource_type_id = {numbers[0]}"
    return f"d.resource_type_id IN ({', '.join(map(str, sorted(numbers)))})"
