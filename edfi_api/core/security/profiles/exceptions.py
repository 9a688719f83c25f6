"""Exceptions about profiles in requests. They carry facts; the texts for clients are in `problem_details.catalog`."""

from dataclasses import dataclass, field

from edfi_api.model.profiles.definition import Usage


class MalformedProfileMediaType(Exception):
    """A media type begins like those of profiles but is malformed, or `Accept` lists several different ones."""


@dataclass
class UnknownProfile(Exception):
    """A media type names a profile that does not exist, or no longer fits the standard; `header` is where it stands,
    `usable` are the media types that the client may name instead."""

    profile: str
    header: str
    usable: list[str] = field(default_factory=list)


@dataclass
class ProfileRequired(Exception):
    """The client has to use one of its own profiles, whose `media_types` are listed by name of profile."""

    media_types: list[str]


class NoUsableProfile(Exception):
    """The only profiles assigned to the client for this resource no longer fit the standard."""


@dataclass
class OtherResourceInMediaType(Exception):
    """The media type names another resource, as `sent`, than the URL."""

    sent: str
    resource: str


@dataclass
class WrongProfileUsage(Exception):
    """A media type for reading with a `method` that writes, or the other way round."""

    usage: Usage
    method: str


@dataclass
class ResourceNotInProfile(Exception):
    """The profile does not name the resource of the URL."""

    resource: str
    profile: str


@dataclass
class NoPartForUsage(Exception):
    """The profile has no part of the resource for the usage; `allowed` are the methods that it leaves."""

    resource: str
    profile: str
    usage: Usage
    allowed: list[str]


@dataclass
class CreationPreventedByProfile(Exception):
    """Something new lacks required members that the profile hides."""

    profile: str


@dataclass
class ContradictionPreventedByProfile(Exception):
    """The hidden part of the document does not agree with what was sent."""

    profile: str
