"""The names of resources in the stream: `ed-fi/studentSchoolAssociations`."""

from dataclasses import dataclass

from edfi_api.model.surface.resource import Resource, Surface


@dataclass
class UnknownResource(Exception):
    """No resource has this path."""

    path: str

    def __str__(self) -> str:
        return f"there is no resource {self.path!r}; one reads like ed-fi/students"


def resource_at(path: str, surface: Surface) -> Resource:
    """The resource with this path, case-insensitively. Raises UnknownResource."""
    resource = surface.resource_at(path)
    if resource is None:
        raise UnknownResource(path)
    return resource
