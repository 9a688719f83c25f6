"""Definitions for tests, written as XML."""

from edfi_api.model.profiles.definition import ProfileDefinition
from edfi_api.model.profiles.xml_files import read_xml


def profile_of(resource: str, read: str = "", write: str = "", name: str = "Test-Profile") -> ProfileDefinition:
    """A profile of one resource; `read` and `write` are content types without their outer element's name."""
    (profile,) = read_xml(profile_xml(resource, read, write, name))
    return profile


def profile_xml(resource: str, read: str = "", write: str = "", name: str = "Test-Profile") -> bytes:
    """`read` and `write` as `IncludeOnly: <Property name="x"/>`."""
    parts = _part("ReadContentType", read) + _part("WriteContentType", write)
    return f'<Profile name="{name}"><Resource name="{resource}">{parts}</Resource></Profile>'.encode()


def _part(element: str, text: str) -> str:
    if not text:
        return ""
    selection, _, rules = text.partition(":")
    return f'<{element} memberSelection="{selection}">{rules}</{element}>'
