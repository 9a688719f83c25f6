"""Claims of a person → groups of the admin."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from edfi_api.conf import api_settings

# A name, or a name in double quotes, which may have dots.
_STEP = re.compile(r'"([^"]+)"|([^."]+)')


@dataclass(frozen=True)
class Rights:
    """What a person may do: groups by name, and whether all."""

    groups: frozenset[str] = frozenset()
    is_superuser: bool = False

    def __bool__(self) -> bool:
        return bool(self.groups) or self.is_superuser


def has_claim(claims: Mapping[str, Any]) -> bool:
    return _at(claims, api_settings.SIGN_IN_GROUPS_CLAIM) is not None


def rights_of(claims: Mapping[str, Any]) -> Rights:
    """By the claim of the settings: an array of text, or one text."""
    found = _at(claims, api_settings.SIGN_IN_GROUPS_CLAIM)
    values = {each for each in (found if isinstance(found, list) else [found]) if isinstance(each, str)}
    return Rights(
        frozenset(group for value, group in api_settings.SIGN_IN_GROUPS if value in values),
        not values.isdisjoint(api_settings.SIGN_IN_SUPERUSERS),
    )


def _at(claims: Any, path: str) -> Any:
    """The value at a path such as `realm_access.roles`; None if there is none."""
    for quoted, plain in _STEP.findall(path):
        claims = claims.get(quoted or plain) if isinstance(claims, Mapping) else None
    return claims
