"""API profiles in requests and answers: the one that a request names, and what they leave of what is served."""

import re
from dataclasses import replace

from django.http import HttpRequest

from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath
from edfi_api.profiles import media_types
from edfi_api.profiles.catalog import ProfilePart
from edfi_api.profiles.media_types import ProfileMediaType
from edfi_api.profiles.visibility import Visibility
from edfi_api.storage.exceptions import KeyChangeContradicts

_INDEX = re.compile(r"\[\d+\]")


def requested_profile(request: HttpRequest) -> ProfileMediaType | None:
    """The media type of a profile in `Accept` of a GET, or in `Content-Type` of a POST or PUT.

    Raises MalformedProfileMediaType.
    """
    if request.method in ("POST", "PUT"):
        return media_types.in_content_type(request.META.get("CONTENT_TYPE", ""))
    return media_types.in_accept(request.META.get("HTTP_ACCEPT", ""))


def profiled_headers(part: ProfilePart | None) -> dict[str, str]:
    """`Content-Type` of documents that are served through a profile; without one nothing differs."""
    return {} if part is None else {"Content-Type": part.media_type}


def profile_tag(part: ProfilePart | None) -> str:
    """What distinguishes the entity tags of what is read through the profile."""
    return "" if part is None else part.tag


def without_hidden(refusal: KeyChangeContradicts, visibility: Visibility) -> KeyChangeContradicts:
    """The refusal without its violations if one is at a hidden place of the referrer: each contains the values of all
    places that have to agree."""
    places = [JsonPath.parse(_INDEX.sub(ALL_ITEMS, violation.path)) for violation in refusal.violations]
    if all(visibility.shows(refusal.resource, place) for place in places):
        return refusal
    return replace(refusal, violations=[])
