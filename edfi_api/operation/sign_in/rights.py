"""Claims of a person → groups of the admin."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from edfi_api.conf import api_settings
from edfi_api.security.federation.claim_paths import value_at


@dataclass(frozen=True)
class Rights:
    """What a person may do: groups by name, and whether all."""

    groups: frozenset[str] = frozenset()
    is_superuser: bool = False

    def __bool__(self) -> bool:
        return bool(self.groups) or self.is_superuser


def has_claim(claims: Mapping[str, Any]) -> bool:
    return value_at(claims, api_settings.SIGN_IN_GROUPS_CLAIM) is not None


def rights_of(claims: Mapping[str, Any]) -> Rights:
    """By the claim of the settings: an array of text, or one text."""
    found = value_at(claims, api_settings.SIGN_IN_GROUPS_CLAIM)
    values = {each for each in (found if isinstance(found, list) else [found]) if isinstance(each, str)}
    return Rights(
        frozenset(group for value, group in api_settings.SIGN_IN_GROUPS if value in values),
        not values.isdisjoint(api_settings.SIGN_IN_SUPERUSERS),
    )
