"""The form of a profile's name, and the members of a body that profiles cannot name."""

import re

# It stands in a media type: application/vnd.ed-fi.{resource}.{profile}.{usage}+json.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
LONGEST_NAME = 500
MOST_BYTES = 10 * 2**20

# Written by the server, outside of every profile.
SERVER_MEMBERS = frozenset({"id", "link", "_etag", "_lastModifiedDate"})


def is_profile_name(name: str) -> bool:
    """Whether a profile can have this name."""
    return len(name) <= LONGEST_NAME and _NAME.fullmatch(name) is not None
