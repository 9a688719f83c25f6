"""Media types of API profiles: `application/vnd.ed-fi.{resource}.{profile}.{readable|writable}+json`.

Profiles are not supported yet, so each of these is refused as unknown: a client that requests a part of a document must
not read or replace the whole document.
"""

import re

from edfi_api.problem_details.http_exceptions import MalformedProfileMediaType, UnknownProfile

_BEGINNING = "application/vnd.ed-fi."
_FORM = re.compile(
    r"application/vnd\.ed-fi\.[a-z][a-z0-9]*\.(?P<profile>[a-z][a-z0-9_-]*)\.(?:readable|writable)\+json",
    re.ASCII | re.IGNORECASE,
)


def names_a_profile(media_type: str) -> bool:
    """Whether a media type, without parameters, starts like that of a profile."""
    return media_type.lower().startswith(_BEGINNING)


def refuse_in_accept(header: str) -> None:
    """Raise UnknownProfile if `Accept` lists the media type of a profile, MalformedProfileMediaType for a malformed one
    and for several different ones."""
    if _BEGINNING not in header.lower():
        return
    media_types = [each.partition(";")[0].strip() for each in header.split(",")]
    of_profiles = {each.lower(): each for each in media_types if names_a_profile(each)}
    if len(of_profiles) > 1:
        raise MalformedProfileMediaType
    for media_type in of_profiles.values():
        refuse(media_type, "Accept")


def refuse(media_type: str, header: str) -> None:
    """Raise UnknownProfile or MalformedProfileMediaType for the media type of a profile in `header`."""
    match = _FORM.fullmatch(media_type)
    if match is None:
        raise MalformedProfileMediaType
    raise UnknownProfile(match["profile"], header)
