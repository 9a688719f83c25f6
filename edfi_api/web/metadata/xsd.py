"""The published XML schemas of the projects: the lists of files, and the files by name.

The files of an extension include those of the core: they refer to each other by file name, so they work when saved in
one folder.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote

from edfi_api.common import addresses
from edfi_api.model.surface.resource import ProjectFacts, Surface
from edfi_api.model.xsd.schema_file import SchemaFile, SchemaFiles
from edfi_api.web.metadata.publication import Addresses


def xsd_projects(surface: Surface, root: str) -> list[dict[str, str]]:
    """The projects, with the URLs of their lists of files."""
    return [
        {
            "description": _description(project),
            "name": _name(project),
            "version": project.version,
            "files": f"{_address(root, _name(project))}/files",
        }
        for project in surface.projects
    ]


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file for `respond`, independent of the URL. Kept compressed, since the files of a standard are a megabyte."""

    file: SchemaFile
    content_type: str = "application/xml"

    def content(self, addresses: Addresses) -> bytes:
        return self.file.content

    def compressed(self, addresses: Addresses) -> bytes:
        return self.file.compressed

    def tag(self, addresses: Addresses) -> str:
        return hashlib.blake2b(self.file.compressed, digest_size=16).hexdigest()


class XsdDocuments:
    """The lists and files of all projects."""

    def __init__(self, surface: Surface, schema_files: SchemaFiles) -> None:
        self._schema_files = schema_files
        self._projects = {_name(project): project for project in surface.projects}

    def lists(self) -> dict[str, Callable[[Surface, str], list[str]]]:
        """Map each project to the document that lists the URLs of its files."""
        return {name: partial(self._list, name) for name in self._projects}

    def file(self, project: str, file_name: str) -> PublishedFile | None:
        """A file of a project; both names are case-insensitive."""
        for file in self._files(project.lower()):
            if file.name.lower() == file_name.lower():
                return PublishedFile(file)
        return None

    def _list(self, name: str, surface: Surface, root: str) -> list[str]:
        return [f"{_address(root, name)}/{file.name}" for file in self._files(name)]

    def _files(self, name: str) -> tuple[SchemaFile, ...]:
        return self._schema_files.of(self._projects[name].name) if name in self._projects else ()


def _name(project: ProjectFacts) -> str:
    return project.name.lower()


def _address(root: str, name: str) -> str:
    """The URL of a project's files. Its name may contain spaces."""
    return f"{root}/{addresses.XSD}/{quote(name)}"


def _description(project: ProjectFacts) -> str:
    if project.is_extension:
        return f"Extension ({project.name}) blended with Core schema files for the data model"
    return "Core schema (Ed-Fi) files for the data model"
