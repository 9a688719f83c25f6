"""`package.json` of a folder → the project it declares.

The members that Ed-Fi's own tools read are `description` and, in `metaEdProject`, `projectName`, `projectVersion` and
`projectExtension`.
Two are specific to Meadowlark: `name` is served to clients as the package name, `metaEdProject.publishedDeviations`
lists where the published API of a standard deviates from the derivation rules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edfi_api.model.metaed.errors import Problem, error, warning
from edfi_api.model.metaed.model import CORE_NAMESPACE, Project, PublishedDeviation, SourceLocation

FILE_NAME = "package.json"
PROJECT_MEMBER = "metaEdProject"

JsonObject = Mapping[str, Any]

# Project names are used in headers, in the members of bodies that a project adds, and in SQL.
_PROJECT_NAME = re.compile(r"[A-Za-z0-9_. -]*")
_HEADER_TEXT = re.compile(r"[ -~]*")
# Tags are prefixes of the names of XML types and of files.
_TAG = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_DEFAULT_TAG = "EXTENSION"
_MEMBER_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)?")


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """The project, or None with the problems that prevent it. A project can have problems, too."""

    project: Project | None
    problems: tuple[Problem, ...]


def read_project_file(folder: Path) -> ProjectFile | None:
    """None if the folder is not a MetaEd project."""
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
        has_errors = any(problem.is_error for problem in self.problems)
        return ProjectFile(None if has_errors else project, tuple(self.problems))

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
