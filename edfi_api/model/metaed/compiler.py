"""The entry point of the package: folders of MetaEd text → one linked model, or all problems in them."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from edfi_api.model.metaed.builder import build
from edfi_api.model.metaed.errors import ModelErrors, Problem, excerpt
from edfi_api.model.metaed.linker import TARGET_KINDS, link
from edfi_api.model.metaed.model import (
    ADDITIONS_KINDS,
    CORE_NAMESPACE,
    SUBCLASS_KINDS,
    Entity,
    EntityKey,
    Model,
    SourceLocation,
)
from edfi_api.model.metaed.parser import parse
from edfi_api.model.metaed.rules import Rule, check
from edfi_api.model.metaed.source import SourceProject, read_sources


def compile_projects(paths: Sequence[Path]) -> Model:
    """Each path is a project folder, or a folder of projects. Raises ModelErrors with all problems at once."""
    model, problems = check_projects(paths)
    if model is None:
        raise ModelErrors(problems)
    return model


def check_projects(paths: Sequence[Path], *further: Rule) -> tuple[Model | None, tuple[Problem, ...]]:
    """The model, or None if there is an error; and errors and warnings in order of place.

    `further` rules are those of the model's users. They need a model without errors: if there are errors, they run on
    what is valid of it.
    """
    sources = read_sources(paths)
    parsed = [(source.project, parse(file.path, file.text)) for source in sources.projects for file in source.files]
    drafts = [build(file, project.namespace) for project, file in parsed]
    broken_names = frozenset[str]().union(*(file.broken_names for _, file in parsed))
    linked = link([source.project for source in sources.projects], drafts, broken_names)
    problems = [
        *sources.problems,
        *(problem for _, file in parsed for problem in file.problems),
        *(problem for draft in drafts for problem in draft.problems),
        *linked.problems,
        *check(linked.model),
    ]
    errors = [problem for problem in problems if problem.is_error]
    valid = _valid_part(linked.model, errors) if errors else linked.model
    if not errors or _has_whole_core(valid, linked.model):
        problems.extend(problem for rule in further for problem in rule(valid))
    return None if errors else linked.model, _presentable(problems, sources.projects)


def _has_whole_core(part: Model, whole: Model) -> bool:
    """Return whether there is a core, and nothing of it is left out."""
    core = {key for key in whole.entities if key.namespace == CORE_NAMESPACE}
    return bool(core) and core <= part.entities.keys()


def _presentable(problems: Sequence[Problem], projects: Iterable[SourceProject]) -> tuple[Problem, ...]:
    """Each problem once, in order of place, with its source line."""
    affected = {problem.place.file for problem in problems}
    files = (file for source in projects for file in source.files if file.path in affected)
    lines = {file.path: file.text.split("\n") for file in files}
    ordered = sorted(dict.fromkeys(problems), key=_position)
    return tuple(replace(problem, excerpt=_excerpt(problem.place, lines)) for problem in ordered)


def _position(problem: Problem) -> tuple[str, int, int]:
    return problem.place.file, problem.place.line, problem.place.column


def _excerpt(place: SourceLocation, lines: Mapping[str, Sequence[str]]) -> str:
    """Empty for places that are not MetaEd text: `package.json`, folders."""
    return excerpt(lines[place.file][place.line - 1], place) if place.file in lines else ""


def _valid_part(model: Model, errors: Iterable[Problem]) -> Model:
    """The model without the entities in which there are errors, and all that refers to them."""
    invalid = set(_erroneous(model, errors))
    invalid |= {entity.key for entity in model.entities.values() if _has_unknown_target(entity)}
    referrers = defaultdict(set)
    for entity in model.entities.values():
        for target in _targets(entity):
            referrers[target].add(entity.key)
    waiting = list(invalid)
    while waiting:
        further = referrers[waiting.pop()] - invalid
        invalid |= further
        waiting += further
    return replace(
        model,
        entities={key: entity for key, entity in model.entities.items() if key not in invalid},
        domains=tuple(
            replace(each, entities=tuple(key for key in each.entities if key not in invalid)) for each in model.domains
        ),
        interchanges=tuple(
            replace(each, items=tuple(item for item in each.items if item.entity not in invalid))
            for each in model.interchanges
        ),
    )


def _erroneous(model: Model, errors: Iterable[Problem]) -> Iterator[EntityKey]:
    """The entities whose declarations are the last before an error in a file."""
    declared = defaultdict(list)
    for key, entity in model.entities.items():
        declared[entity.place.file].append((entity.place.line, entity.place.column, key))
    for places in declared.values():
        places.sort(key=lambda place: place[:2])
    for problem in errors:
        places = declared[problem.place.file]
        number = bisect_right(places, (problem.place.line, problem.place.column), key=lambda place: place[:2])
        if number:
            yield places[number - 1][2]


def _has_unknown_target(entity: Entity) -> bool:
    if entity.base is None and entity.kind in SUBCLASS_KINDS | ADDITIONS_KINDS:
        return True
    return any(prop.target is None and prop.type in TARGET_KINDS for prop in entity.properties)


def _targets(entity: Entity) -> Iterator[EntityKey]:
    if entity.base is not None:
        yield entity.base
    yield from (prop.target for prop in (*entity.properties, *entity.search_keys) if prop.target is not None)
