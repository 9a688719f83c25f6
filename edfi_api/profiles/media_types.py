"""Media types of profiles: `application/vnd.ed-fi.{resource}.{profile}.{readable|writable}+json`."""

import re
from dataclasses import dataclass

from edfi_api.model.profiles.definition import Usage
from edfi_api.profiles.exceptions import MalformedProfileMediaType

_BEGINNING = "application/vnd.ed-fi."
_FORM = re.compile(
    r"application/vnd\.ed-fi\.(?P<resource>[a-z][a-z0-9]*)\.(?P<profile>[a-z][a-z0-9_-]*)"
    r"\.(?P<usage>readable|writable)\+json",
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ProfileMediaType:
    """What a media type says, as the client spelt it."""

    resource: str
    profile: str
    usage: Usage


def media_type(resource: str, profile: str, usage: Usage) -> str:
    """The media type of a profiled resource, in lower case as this server writes it."""
    return f"application/vnd.ed-fi.{resource}.{profile}.{usage.value}+json".lower()


def is_of_a_profile(declared: str) -> bool:
    """Whether a media type begins like those of profiles."""
    return declared.lower().startswith(_BEGINNING)


def in_content_type(header: str) -> ProfileMediaType | None:
    """The media type of a profile in `Content-Type`; None for any other. Raises MalformedProfileMediaType."""
    declared = header.partition(";")[0].strip()
    return _parsed(declared) if is_of_a_profile(declared) else None


def in_accept(header: str) -> ProfileMediaType | None:
    """The media type of a profile in the list of `Accept`; None without one.

    Raises MalformedProfileMediaType, also for several different ones.
    """
    if _BEGINNING not in header.lower():
        return None
    listed = [each.partition(";")[0].strip() for each in header.split(",")]
    found = {each.lower(): each for each in listed if is_of_a_profile(each)}
    if len(found) > 1:
        raise MalformedProfileMediaType
    return next((_parsed(each) for each in found.values()), None)


def _parsed(declared: str) -> ProfileMediaType:
    match = _FORM.fullmatch(declared)
    if match is None:
        raise MalformedProfileMediaType
    return ProfileMediaType(match["resource"], match["profile"], Usage(match["usage"].lower()))
