"""The entry point of the package: folders of MetaEd text → one linked model, or all problems in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from edfi_api.model.metaed.builder import build
from edfi_api.model.metaed.errors import ModelErrors, Problem, excerpt
from edfi_api.model.metaed.linker import link
from edfi_api.model.metaed.model import CORE_NAMESPACE, Model, SourceLocation
from edfi_api.model.metaed.parser import parse
from edfi_api.model.metaed.rules import Rule, check
from edfi_api.model.metaed.sound_part import sound_part
from edfi_api.model.metaed.source import SourceProject, read_sources


def compile_projects(paths: Sequence[Path]) -> Model:
    """Each path is a project folder, or a folder of projects. Raises ModelErrors with all problems at once."""
    model, problems = check_projects(paths)
    if model is None:
        raise ModelErrors(problems)
    return model


def check_projects(paths: Sequence[Path], *further: Rule) -> tuple[Model | None, tuple[Problem, ...]]:
    """The model, or None if there is an error; and errors and warnings in order of place.

    `further` rules are those of the model's users. They need a model without errors: beside errors they run on what is
    sound of it.
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
    sound = sound_part(linked.model, errors) if errors else linked.model
    if not errors or _has_whole_core(sound, linked.model):
        problems.extend(problem for rule in further for problem in rule(sound))
    return None if errors else linked.model, _presentable(problems, sources.projects)


def _has_whole_core(part: Model, whole: Model) -> bool:
    """Whether there is a core, and nothing of it is left out."""
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
