"""Folders → MetaEd projects with the text of their files, in an order that does not depend on the file system.

A project is a folder whose `package.json` has a `metaEdProject`. All `.metaed` files below it belong to the project,
except those of nested projects.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from edfi_api.model.metaed.encoding import decoded
from edfi_api.model.metaed.errors import Problem, error, warning
from edfi_api.model.metaed.model import Project, SourceLocation
from edfi_api.model.metaed.project_file import FILE_NAME, PROJECT_MEMBER, ProjectFile, read_project_file

SUFFIXES = frozenset({".metaed", ".metaEd", ".MetaEd", ".METAED"})
# The folder of npm for the packages that a project depends on, including data standards.
INSTALLED_PACKAGES = "node_modules"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """`path` is shown in problems; lines end with `\\n`, and a byte order mark is removed."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class SourceProject:
    """A project, its folder and its files, sorted by their path within it."""

    project: Project
    folder: Path
    files: tuple[SourceFile, ...]


@dataclass(frozen=True, slots=True)
class Sources:
    """The projects found, the core first and then by name, and the problems of reading them."""

    projects: tuple[SourceProject, ...]
    problems: tuple[Problem, ...]


def read_sources(paths: Sequence[Path]) -> Sources:
    """Each path is a project, or a folder of projects."""
    problems: list[Problem] = []
    declared = list(_without_doubles(_declared_projects(paths, problems), problems))
    read = {folder.resolve() for folder, _ in declared}
    projects = [SourceProject(project, folder, tuple(_files(folder, read, problems))) for folder, project in declared]
    projects.sort(key=lambda source: (source.project.is_extension, source.project.name))
    return Sources(tuple(projects), tuple(problems))


def _declared_projects(paths: Sequence[Path], problems: list[Problem]) -> Iterator[tuple[Path, Project]]:
    """Each folder once, even if it is named twice or is in another named folder."""
    seen: set[Path] = set()
    for path in paths:
        for folder, project_file in _project_files(path, problems):
            if folder.resolve() in seen:
                continue
            seen.add(folder.resolve())
            problems.extend(project_file.problems)
            if project_file.project is not None:
                yield folder, project_file.project


def _project_files(path: Path, problems: list[Problem]) -> list[tuple[Path, ProjectFile]]:
    """The folder's own project file, otherwise those of the folders directly in it."""
    if not path.is_dir():
        problems.append(error(SourceLocation(str(path), 1, 1), "no such folder"))
        return []
    found = _with_project_files([path]) or _with_project_files(sorted(path.iterdir()))
    if not found:
        message = f"no MetaEd project: no {FILE_NAME} with '{PROJECT_MEMBER}', neither here nor in the folders below"
        problems.append(error(SourceLocation(str(path), 1, 1), message))
    return found


def _with_project_files(folders: Sequence[Path]) -> list[tuple[Path, ProjectFile]]:
    pairs = ((folder, read_project_file(folder)) for folder in folders)
    return [(folder, project_file) for folder, project_file in pairs if project_file is not None]


def _without_doubles(
    declared: Iterable[tuple[Path, Project]], problems: list[Problem]
) -> Iterator[tuple[Path, Project]]:
    """Of two projects with one name the first is used; two names must not give the same namespace, ignoring case."""
    names: dict[str, str] = {}
    for folder, project in declared:
        place = SourceLocation(str(folder / FILE_NAME), 1, 1)
        namespace = project.namespace.casefold()
        if namespace not in names:
            names[namespace] = project.name
            yield folder, project
        elif names[namespace] == project.name:
            problems.append(warning(place, f"a project '{project.name}' was found before this one, which is left out"))
        else:
            message = f"the namespace of '{project.name}' is that of '{names[namespace]}' too, but for its case"
            problems.append(error(place, message))


def _files(folder: Path, read: Set[Path], problems: list[Problem]) -> Iterator[SourceFile]:
    """`read` are the folders of all projects that are read."""
    paths: list[Path] = []
    for place, nested_projects, names in _walk(folder):
        paths.extend(place / name for name in names if Path(name).suffix in SUFFIXES)
        hidden = (nested for nested in nested_projects if nested.resolve() not in read)
        problems.extend(_hides_files(nested) for nested in hidden if _is_of_the_author(nested, folder))
    for path in sorted(paths, key=lambda path: path.relative_to(folder).as_posix()):
        try:
            content = path.read_bytes()
        except OSError as wrong:
            problems.append(error(SourceLocation(str(path), 1, 1), f"cannot be read: {wrong.strerror}"))
            continue
        text, wrong_bytes = decoded(str(path), content)
        problems.extend(wrong_bytes)
        if text.strip():
            yield SourceFile(str(path), text)
        else:
            problems.append(error(SourceLocation(str(path), 1, 1), "the file is empty"))


def _walk(project_folder: Path) -> Iterator[tuple[Path, list[Path], list[str]]]:
    """Each folder of a project with the projects and the names of the files in it.

    Neither those projects nor links to folders are followed: links could form a cycle.
    """
    for name, folders, files in os.walk(project_folder):
        folder = Path(name)
        nested = [child for child in folders if read_project_file(folder / child) is not None]
        folders[:] = [child for child in folders if child not in nested]
        yield folder, [folder / child for child in nested], files


def _is_of_the_author(nested: Path, project_folder: Path) -> bool:
    """Whether a nested project has MetaEd files that the author may have intended for the enclosing project."""
    is_installed = INSTALLED_PACKAGES in nested.relative_to(project_folder).parts
    return not is_installed and any(Path(name).suffix in SUFFIXES for *_, names in os.walk(nested) for name in names)


def _hides_files(nested: Path) -> Problem:
    message = f"the files of {nested} are left out of the project around it: this file makes it a project of its own"
    return warning(SourceLocation(str(nested / FILE_NAME), 1, 1), message)
