"""The members of a resource, as paths to their values."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath, ReferencePath, Resource

Steps = tuple[str, ...]
Leaf = str | ReferencePath


@dataclass(frozen=True, slots=True)
class MappedMembers:
    """The leaves of bodies: values, with their JSON type, and references. `inside` are the values in references."""

    leaves: Mapping[Steps, Leaf]
    inside: Mapping[Steps, str]

    def at(self, steps: Steps) -> Leaf | None:
        return self.leaves.get(steps) or self.inside.get(steps)

    def below(self, steps: Steps) -> list[Steps]:
        """The leaves at and below a path."""
        return [leaf for leaf in self.leaves if leaf[: len(steps)] == steps]

    def missing(self, leaf: Steps) -> Steps:
        """The beginning of a path that no leaf here has."""
        known = {path[:length] for path in (*self.leaves, *self.inside) for length in range(len(path) + 1)}
        length = next(length for length in range(len(leaf) + 1) if leaf[:length] not in known)
        return leaf[: length if leaf[length - 1] != ALL_ITEMS else length - 1]

    def with_open(self, references: Collection[Steps]) -> "MappedMembers":
        """Return the members with the values of these references as leaves instead of the references."""
        leaves = {path: leaf for path, leaf in self.leaves.items() if path not in references}
        leaves.update((path, kind) for path, kind in self.inside.items() if path[:-1] in references)
        return MappedMembers(leaves, self.inside)


def members_of(resource: Resource) -> MappedMembers:
    references = {reference.path.steps: reference for reference in resource.references}
    values = dict(_values(resource.json_schema, ()))
    inside = {path: kind for path, kind in values.items() if path[:-1] in references}
    leaves: dict[Steps, Leaf] = {path: kind for path, kind in values.items() if path not in inside}
    return MappedMembers({**leaves, **references}, inside)


def arrays_of(steps: Steps) -> tuple[Steps, ...]:
    """The paths of the arrays in a path."""
    return tuple(steps[:position] for position, step in enumerate(steps) if step == ALL_ITEMS)


def steps_of(text: str) -> Steps:
    """Return the steps of a path as files write it: `addresses[*].city`."""
    return JsonPath.parse(f"$.{text}").steps


def text_of(steps: Steps) -> str:
    return JsonPath(steps).without_root()


def _values(schema: Mapping[str, Any], steps: Steps) -> Iterator[tuple[Steps, str]]:
    match schema.get("type"):
        case "object":
            for name, member in schema.get("properties", {}).items():
                if name != "_ext":
                    yield from _values(member, (*steps, name))
        case "array":
            yield from _values(schema["items"], (*steps, ALL_ITEMS))
        case kind:
            yield steps, str(kind)
