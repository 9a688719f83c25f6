"""Invariants of the surface of any model: random entities that refer to each other, with roles and merges.

Apple is a person with a unique id; each of the others has a school year in its identity.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edfi_api.model.metaed.compiler import check_projects, compile_projects
from edfi_api.model.surface.builder import build_surface
from edfi_api.model.surface.naming import joined_without_overlap, lower_camel
from edfi_api.model.surface.resource import Surface
from tests.surface.models import named, write_project
from tests.surface.test_bundled_surfaces import exists, identity_of, paths_of

Steps = tuple[str, ...]

PROPOSAL = re.compile(r"^ambiguous: .*'(merge \S+ with \S+)'")
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
    """The same for values that no merge removes from the query fields."""
    for steps, end in paths_to_entities(name, entities):
        yield (*steps, value_of(end)), value_of(end)


def value_of(entity: str) -> str:
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
    text = "".join("\n".join([*key_of(name), *(reference.text() for reference in made[name])]) + "\n" for name in made)
    return write_project(Path(folder) / "core", "Ed-Fi", text + SHARED)


def surface_of(made: Entities) -> Surface:
    with TemporaryDirectory() as folder:
        return build_surface(compile_projects([project_of(made, folder)]))


def proposed_merges(made: Entities) -> list[tuple[str, str]]:
    """The merges that warnings about ambiguous paths propose, each with the entity that needs it."""
    with TemporaryDirectory() as folder:
        project = project_of(made, folder)
        lines = (project / "Model.metaed").read_text().splitlines()
        _, problems = check_projects([project])
    assert [problem for problem in problems if not PROPOSAL.search(problem.message)] == []
    headers = [[line for line in lines[: problem.place.line] if line[0].isupper()] for problem in problems]
    return [
        (above[-1].split()[2], PROPOSAL.search(problem.message)[1])
        for problem, above in zip(problems, headers, strict=True)
    ]


def key_of(name: str) -> list[str]:
    if name == "Apple":
        return ["Domain Entity Apple", "  shared string UniqueId is part of identity role name Apple"]
    code = f"  string {name}Code is part of identity"
    return [f"Domain Entity {name}", code, "  enumeration SchoolYear is part of identity"]


@given(entities(paths_to_entities) | entities(paths_to_values))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_path_exists_and_every_reference_can_be_followed(made: Entities) -> None:
    surface = surface_of(made)

    for resource in surface.resources:
        assert [str(path) for path in paths_of(resource) if not exists(path, resource.json_schema)] == []
        for reference in resource.references:
            assert {pair.there for pair in reference.identity} == identity_of(surface, reference.target)


@given(entities(paths_to_values))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_merged_school_years_and_unique_ids_stay_query_fields(made: Entities) -> None:
    surface = surface_of(made)

    for name in made:
        expected = {
            lower_camel(joined_without_overlap((*(step.role for step in (reference, *chain)), value_of(end))))
            for reference in made[name]
            if not reference.is_collection
            for chain, end in chains(reference.target, made)
        }
        assert expected <= {field.name for field in named(surface, name).query_fields}


@given(entities(paths_to_values))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_proposed_merge_is_valid_and_resolves_the_ambiguity(made: Entities) -> None:
    while proposals := proposed_merges(made):
        name, merge = proposals[0]
        carrier = merge.split()[1].partition(".")[0]
        made[name] = [
            replace(reference, merges=(*reference.merges, merge)) if reference.full_name == carrier else reference
            for reference in made[name]
        ]
        assert proposals[0] not in proposed_merges(made)
