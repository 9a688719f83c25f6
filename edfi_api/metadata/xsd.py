"""Which XML schemas belong to the projects. There are none to hand out, so every list of files is empty."""

from edfi_api import addresses
from edfi_api.surface.resource import ProjectFacts, Surface


def xsd_projects(surface: Surface, root: str) -> list[dict[str, str]]:
    """The projects, by the names that their files are listed under. Source: http-api.md §3.3."""
    return [
        {
            "description": _description(project),
            "name": _name(project),
            "version": project.version,
            "files": f"{root}/{addresses.XSD}/{_name(project)}/files",
        }
        for project in surface.projects
    ]


def xsd_names(surface: Surface) -> frozenset[str]:
    """The names of the projects in addresses."""
    return frozenset(_name(project) for project in surface.projects)


def xsd_files(surface: Surface, root: str) -> list[str]:
    """The files of any project."""
    return []


def _name(project: ProjectFacts) -> str:
    return project.name.lower()


def _description(project: ProjectFacts) -> str:
    if project.is_extension:
        return f"Extension ({project.name}) blended with Core schema files for the data model"
    return "Core schema (Ed-Fi) files for the data model"
