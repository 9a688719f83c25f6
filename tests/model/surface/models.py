"""Small models as text: completes clauses that the surface does not depend on and the tests leave out."""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from edfi_api.model.surface.resource import JsonPath, Resource, Surface

DOCUMENTATION = ' documentation "About it."'
# The clauses that follow documentation.
_AFTER_DOCUMENTATION = re.compile(
    r" (is (part of identity|required|optional|queryable)|renames|role name|allow|min |max |total |merge )|$"
)
_NEEDS_LENGTH = re.compile(r"^\s+string |^Shared String ")
_NEEDS_DIGITS = re.compile(r"^\s+decimal |^Shared Decimal ")
_UNDOCUMENTED = re.compile(r" documentation |^\s+(item|merge) |additions\s*$|^\s*$|allow primary key updates$")
_DOMAIN = re.compile(r"^(Domain|Subdomain|Interchange) (?!Entity)")

SurfaceOf = Callable[..., Surface]


def complete(text: str) -> str:
    """The text with documentation after every declaration without one, and with limits where the language requires
    them."""
    lines = []
    is_in_domain = False
    for line in text.splitlines():
        is_declaration = line[:1].isupper()
        is_in_domain = bool(_DOMAIN.match(line)) if is_declaration else is_in_domain
        is_item = is_in_domain and not is_declaration
        lines.append(line if is_item or _UNDOCUMENTED.search(line) else _with_limits(_documented(line)))
    return "\n".join(lines) + "\n"


def _documented(line: str) -> str:
    position = _AFTER_DOCUMENTATION.search(line).start()
    return line[:position] + DOCUMENTATION + line[position:]


def _with_limits(line: str) -> str:
    if _NEEDS_LENGTH.match(line) and "max length" not in line:
        return line + " max length 60"
    if _NEEDS_DIGITS.match(line) and "total digits" not in line:
        return line + " total digits 5 decimal places 2"
    return line


def write_project(folder: Path, name: str, text: str, version: str = "5.2.0", **metaed_project: object) -> Path:
    """A project folder with the given text as its only file."""
    folder.mkdir(parents=True)
    project = {"projectName": name, "projectVersion": version, **metaed_project}
    (folder / "package.json").write_text(json.dumps({"name": name.lower(), "metaEdProject": project}))
    (folder / "Model.metaed").write_text(complete(text))
    return folder


def named(surface: Surface, resource: str, project: str = "Ed-Fi") -> Resource:
    """The resource with this name."""
    (found,) = (r for r in surface.resources if (r.name.project, r.name.resource) == (project, resource))
    return found


def texts(paths: Iterable[JsonPath]) -> list[str]:
    """Paths as text."""
    return [str(path) for path in paths]
