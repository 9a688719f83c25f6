"""Folders → MetaEd projects with the text of their files, in an order that does not depend on the file system.

A project is a folder whose `package.json` has a `metaEdProject`. All `.metaed` files below it belong to the project,
except those of nested projects. The members of `package.json` that Ed-Fi's own tools read are `description` and, in
`metaEdProject`, `projectName`, `projectVersion` and `projectExtension`. Three are specific to Meadowlark: `name` is
served to clients as the package name, `metaEdProject.publishedDeviations` lists where the published API of a standard
deviates from the derivation rules, and `metaEdProject.formerNames` how entities were called in earlier versions.

Files are UTF-8. The documentation in published projects contains some Windows-1252 (curly quotes, dashes) from word
processors. A wrong character is harmless there, so it is read as Windows-1252 with a warning; elsewhere it is an
error.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edfi_api.model.metaed.errors import Problem, error, warning
from edfi_api.model.metaed.model import CORE_NAMESPACE, Project, PublishedDeviation, SourceLocation

# Comments and texts are matched whole, so that nothing inside them is taken for documentation.
_COMMENT_OR_TEXT = re.compile(
    r"""
    //[^\n]*
    | (?P<documentation>(?<![A-Za-z0-9_])documentation(?:[ \t\r\n]|//[^\n]*\n)*)?
      (?P<text>"[^"]*(?:""[^"]*)*"(?!"))
    """,
    re.VERBOSE,
)
# A byte that is not UTF-8, as the error handler `surrogateescape` keeps it.
_STRAY_BYTE = re.compile("[\udc80-\udcff]")
_REPLACEMENT = "\ufffd"
FILE_NAME = "package.json"
PROJECT_MEMBER = "metaEdProject"
JsonObject = Mapping[str, Any]
# Project names are used in headers, in the members of bodies that a project adds, and in SQL.
_PROJECT_NAME = re.compile(r"[A-Za-z0-9_. -]*")
_HEADER_TEXT = re.compile(r"[ -~]*")
# Tags are prefixes of the names of XML types and of files.
_TAG = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_DEFAULT_TAG = "EXTENSION"
_LEAST = json.dumps({PROJECT_MEMBER: {"projectName": "State", "projectVersion": "1.0.0"}})
_MEMBER_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)?")
SUFFIXES = frozenset({".metaed", ".metaEd", ".MetaEd", ".METAED"})
# The folder of npm for the packages that a project depends on, including data standards.
INSTALLED_PACKAGES = "node_modules"


def decoded(file: str, content: bytes) -> tuple[str, tuple[Problem, ...]]:
    """The text without a byte order mark, its lines ending in `\\n`, and a problem for each byte that is not UTF-8.

    A byte that cannot be read becomes a replacement character, so that the rest of the file can still be checked.
    """
    try:
        return _with_plain_line_ends(content.decode("utf-8-sig")), ()
    except UnicodeDecodeError:
        escaped = _with_plain_line_ends(content.decode("utf-8-sig", errors="surrogateescape"))
        readable = _COMMENT_OR_TEXT.sub(_readable, escaped)
        return _STRAY_BYTE.sub(_REPLACEMENT, readable), tuple(_problems(file, escaped, readable))


def _with_plain_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n")


def _readable(match: re.Match[str]) -> str:
    """Keeps the number of characters, so that places do not change."""
    if match["documentation"] is None:
        return match[0]
    return match["documentation"] + _STRAY_BYTE.sub(_as_windows_1252, match["text"])


def _as_windows_1252(stray: re.Match[str]) -> str:
    """Five bytes have no character in Windows-1252 either; they remain undecoded."""
    return _byte(stray).decode("windows-1252", errors="surrogateescape")


def _byte(stray: re.Match[str]) -> bytes:
    return stray[0].encode("ascii", errors="surrogateescape")


def _problems(file: str, escaped: str, readable: str) -> Iterator[Problem]:
    for number, (escaped_line, line) in enumerate(zip(escaped.split("\n"), readable.split("\n"), strict=True), 1):
        for stray in _STRAY_BYTE.finditer(escaped_line):
            place = SourceLocation(file, number, stray.start() + 1)
            message, character = f"not UTF-8: byte {_byte(stray)[0]:#04x}", line[stray.start()]
            if _STRAY_BYTE.match(character):
                yield error(place, message)
            else:
                yield warning(place, f"{message} is read as Windows-1252 '{character}'; save the file as UTF-8")


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """The project, or None with the problems that prevent it. Its files are checked all the same."""

    project: Project | None
    problems: tuple[Problem, ...]


def read_project_file(folder: Path) -> ProjectFile | None:
    """Return the project file of a folder, or None if the folder is not a MetaEd project."""
    path = folder / FILE_NAME
    if not path.is_file():
        return None
    try:
        package = json.loads(path.read_text(encoding="utf-8-sig"))
    except json.JSONDecodeError as wrong:
        place = SourceLocation(str(path), wrong.lineno, wrong.colno)
        return ProjectFile(None, (error(place, f"not JSON: {wrong.msg}"),))
    except (OSError, UnicodeDecodeError, RecursionError) as wrong:
        return ProjectFile(None, (error(SourceLocation(str(path), 1, 1), f"cannot be read: {wrong}"),))
    if not isinstance(package, dict) or PROJECT_MEMBER not in package:
        return None
    return _PackageReader(SourceLocation(str(path), 1, 1)).read(package)


class _PackageReader:
    """Reads the members and collects their problems."""

    def __init__(self, place: SourceLocation) -> None:
        self.place = place
        self.problems: list[Problem] = []

    def read(self, package: JsonObject) -> ProjectFile:
        project = self._project(package, self._object(package[PROJECT_MEMBER]))
        return ProjectFile(project if project.namespace else None, tuple(self.problems))

    def _project(self, package: JsonObject, declared: JsonObject) -> Project:
        name = self._text(declared, "projectName", None, _PROJECT_NAME)
        namespace = self._namespace(name)
        return Project(
            name=name,
            version=self._text(declared, "projectVersion", None, _HEADER_TEXT),
            namespace=namespace,
            tag=self._tag(declared) if namespace != CORE_NAMESPACE else "",
            description=self._text(package, "description", ""),
            package_name=self._text(package, "name", "", _HEADER_TEXT),
            is_extension=namespace != CORE_NAMESPACE,
            published_deviations=tuple(
                self._deviation(self._object(item)) for item in self._list(declared, "publishedDeviations")
            ),
            former_names=self._texts(declared, "formerNames"),
        )

    def _namespace(self, project_name: str) -> str:
        """The name without punctuation. Before 2019 it could be in lower case."""
        namespace = re.sub(r"[^A-Za-z0-9]", "", project_name)
        if namespace.casefold() == CORE_NAMESPACE.casefold():
            return CORE_NAMESPACE
        if namespace[:1].islower():
            upper = namespace[0].upper() + namespace[1:]
            message = f"the project name '{project_name}' should begin in upper case; its namespace is '{upper}'"
            self.problems.append(warning(self.place, message))
            return upper
        if project_name and not namespace[:1].isupper():
            self._refuse(f"the project name '{project_name}' gives no namespace: it must begin with a letter")
        return namespace

    def _tag(self, declared: JsonObject) -> str:
        """The default, with a warning, for an invalid tag: only the XML schemas depend on it."""
        tag = declared.get("projectExtension") or _DEFAULT_TAG
        if isinstance(tag, str) and _TAG.fullmatch(tag):
            return tag
        message = f"'projectExtension' cannot begin the name of an XML type: {tag!r}; {_DEFAULT_TAG} is used"
        self.problems.append(warning(self.place, message))
        return _DEFAULT_TAG

    def _deviation(self, declared: JsonObject) -> PublishedDeviation:
        published_name = self._text(declared, "publishedName", "", _MEMBER_NAME) or None
        required = declared.get("required")
        if not isinstance(required, bool | None):
            self._refuse("'required' must be true or false")
        if (published_name is None) == (required is None):
            self._refuse("a published deviation has either 'publishedName' or 'required'")
        return PublishedDeviation(
            resource=self._text(declared, "resource"),
            path=self._text(declared, "path"),
            reason=self._text(declared, "reason"),
            published_name=published_name,
            is_required=required,
            place=self.place,
        )

    def _text(
        self, holder: JsonObject, member: str, default: str | None = None, form: re.Pattern[str] | None = None
    ) -> str:
        """A member that must be a text of this form; without a default it is required and not blank."""
        value = holder.get(member, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            self._refuse(f"'{member}' must be a text" if member in holder else f"'{member}' is missing")
            return ""
        if form and not form.fullmatch(value):
            self._refuse(f"'{member}' has characters that it must not have: {value!r}")
        return value

    def _texts(self, holder: JsonObject, member: str) -> Mapping[str, str]:
        value = holder.get(member, {})
        if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
            self._refuse(f"'{member}' must be an object of texts")
            return {}
        return value

    def _list(self, holder: JsonObject, member: str) -> list[Any]:
        value = holder.get(member, [])
        if not isinstance(value, list):
            self._refuse(f"'{member}' must be a list")
            return []
        return value

    def _object(self, value: object) -> JsonObject:
        if not isinstance(value, dict):
            self._refuse(f"'{PROJECT_MEMBER}' and each of its 'publishedDeviations' must be an object")
            return {}
        return value

    def _refuse(self, message: str) -> None:
        self.problems.append(error(self.place, message))


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
        message = (
            f"no MetaEd project: no {FILE_NAME} with '{PROJECT_MEMBER}', neither here nor in the folders below; "
            f"the least that it has is {_LEAST}"
        )
        problems.append(error(SourceLocation(str(path), 1, 1), message))
    return found


def _with_project_files(folders: Sequence[Path]) -> list[tuple[Path, ProjectFile]]:
    pairs = ((folder, read_project_file(folder)) for folder in folders)
    return [(folder, project_file) for folder, project_file in pairs if project_file is not None]


def _without_doubles(
    declared: Iterable[tuple[Path, Project]], problems: list[Problem]
) -> Iterator[tuple[Path, Project]]:
    """Yield the projects that do not repeat another. Two projects must have neither one name nor names that give the
    same namespace, ignoring case; the first is kept for further problems.
    """
    first: dict[str, tuple[Path, Project]] = {}
    for folder, project in declared:
        place = SourceLocation(str(folder / FILE_NAME), 1, 1)
        known, earlier = first.setdefault(project.namespace.casefold(), (folder, project))
        if earlier is project:
            yield folder, project
        elif earlier.name == project.name:
            message = (
                f"there are two projects '{project.name}', in {known} and in {folder}: leave one out, or rename it"
            )
            problems.append(error(place, message))
        else:
            message = f"the namespace of '{project.name}' is that of '{earlier.name}' in {known} too, but for its case"
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
    """Return whether a nested project has MetaEd files that the author may have intended for the enclosing project."""
    is_installed = INSTALLED_PACKAGES in nested.relative_to(project_folder).parts
    return not is_installed and any(Path(name).suffix in SUFFIXES for *_, names in os.walk(nested) for name in names)


def _hides_files(nested: Path) -> Problem:
    message = f"the files of {nested} are left out of the project around it: this file makes it a project of its own"
    return warning(SourceLocation(str(nested / FILE_NAME), 1, 1), message)
