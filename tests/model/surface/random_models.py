"""Random models: entities that refer to each other, with roles and merges.

Apple is a person with a unique id; each of the others has a school year in its identity.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import strategies as st

from edfi_api.model.metaed.compiler import compile_projects
from edfi_api.model.surface.builder import build_surface
from edfi_api.model.surface.resource import Surface
from tests.model.surface.models import write_project

Steps = tuple[str, ...]

SCHOOL_YEAR = "SchoolYear"
UNIQUE_ID = "AppleUniqueId"
SHARED = """
Shared String UniqueId max length 32
Enumeration SchoolYear
  item "2025-2026"
"""


@dataclass(frozen=True)
class Reference:
    """`domain entity Apple is part of identity role name Red`, with its merges as text."""

    target: str
    role: str
    cardinality: str
    merges: tuple[str, ...] = ()

    @property
    def full_name(self) -> str:
        return self.target if self.role == self.target else self.role + self.target

    @property
    def is_identity(self) -> bool:
        return self.cardinality == "is part of identity"

    @property
    def is_collection(self) -> bool:
        return self.cardinality.endswith("collection")

    def text(self) -> str:
        role = f" role name {self.role}" if self.role else ""
        line = f"  domain entity {self.target} {self.cardinality}{role}"
        return "\n".join([line, *(f"    {merge}" for merge in self.merges)])


Entities = dict[str, list[Reference]]


def chains(name: str, entities: Entities) -> Iterator[tuple[tuple[Reference, ...], str]]:
    """The references that lead from an entity into its identity, with the entity at their end."""
    yield (), name
    for reference in entities[name]:
        if reference.is_identity:
            yield from (((reference, *further), end) for further, end in chains(reference.target, entities))


def paths_to_entities(name: str, entities: Entities) -> Iterator[tuple[Steps, str]]:
    """Merge paths from an entity, each with the entity at its end."""
    yield from ((tuple(step.full_name for step in chain), end) for chain, end in chains(name, entities))


def paths_to_values(name: str, entities: Entities) -> Iterator[tuple[Steps, str]]:
    """Return the paths to values that no merge removes from the query fields."""
    for steps, end in paths_to_entities(name, entities):
        yield (*steps, value_of(end)), value_of(end)


def value_of(entity: str) -> str:
    """The value in the identity of the entity that no merge removes from the query fields."""
    return UNIQUE_ID if entity == "Apple" else SCHOOL_YEAR


@st.composite
def entities(draw: st.DrawFn, paths: Callable[[str, Entities], Iterator[tuple[Steps, str]]]) -> Entities:
    """Each entity refers to earlier ones, so there is no cycle; merges join paths with the same end."""
    made: Entities = {}
    for name in draw(st.sampled_from([["Apple", "Banana", "Cherry"], ["Apple", "Banana", "Cherry", "Date", "Elder"]])):
        made[name] = []
        for target in draw(st.lists(st.sampled_from([n for n in made if n != name] or [""]), max_size=3)):
            reference = draw(references(target)) if target else None
            if reference and reference.full_name not in {other.full_name for other in made[name]}:
                made[name].append(draw(merged(reference, made[name], made, paths)))
    return made


@st.composite
def references(draw: st.DrawFn, target: str) -> Reference:
    cardinality = draw(st.sampled_from(["is part of identity", "is required", "is optional", "is optional collection"]))
    return Reference(target, draw(st.sampled_from(["", target, "First", "Second"])), cardinality)


@st.composite
def merged(
    draw: st.DrawFn,
    reference: Reference,
    earlier: list[Reference],
    made: Entities,
    paths: Callable[[str, Entities], Iterator[tuple[Steps, str]]],
) -> Reference:
    """The reference with a merge into one of the earlier ones, if possible."""
    possible = [
        f"merge {'.'.join((reference.full_name, *source))} with {'.'.join((other.full_name, *target))}"
        for other in earlier
        if other.is_identity or not (reference.is_collection or other.is_collection)
        for source, end in paths(reference.target, made)
        for target, same_end in paths(other.target, made)
        if end == same_end
    ]
    merges = (draw(st.sampled_from(possible)),) if possible and draw(st.booleans()) else ()
    return Reference(reference.target, reference.role, reference.cardinality, merges)


def project_of(made: Entities, folder: str) -> Path:
    """A core project with these entities."""
    text = "".join("\n".join([*_key_of(name), *(reference.text() for reference in made[name])]) + "\n" for name in made)
    return write_project(Path(folder) / "core", "Ed-Fi", text + SHARED)


def surface_of(made: Entities) -> Surface:
    """The compiled surface of these entities."""
    with TemporaryDirectory() as folder:
        return build_surface(compile_projects([project_of(made, folder)]))


def _key_of(name: str) -> list[str]:
    if name == "Apple":
        return ["Domain Entity Apple", "  shared string UniqueId is part of identity role name Apple"]
    code = f"  string {name}Code is part of identity"
    return [f"Domain Entity {name}", code, "  enumeration SchoolYear is part of identity"]
