"""API profiles in headers: the one that a request names, and those of what is served through one."""

from django.http import HttpRequest

from edfi_api.profiles import media_types
from edfi_api.profiles.catalog import ProfilePart
from edfi_api.profiles.media_types import ProfileMediaType


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
