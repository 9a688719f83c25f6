"""Names in claims: those of actions, and of the resource claims on which they are granted. See
meadowlark/docs/design/authorization.md#claim-sets-and-actions.

A resource claim's name is its URI without the common prefix: `ed-fi/studentSchoolAssociation`, `domains/people`,
`services/identity`.
"""

import re
from collections.abc import Container, Hashable, Mapping
from functools import cache
from typing import TypeVar

from django.db.models import TextChoices

from edfi_api.model.surface.naming import lower_camel
from edfi_api.model.surface.resource import Resource

Value = TypeVar("Value", bound=Hashable)


class Action(TextChoices):
    """Ed-Fi's actions, in the order in which token introspection lists them.

    POST is authorized as Create, also when it updates an existing document, unless `UPSERT_ASKS_UPDATE` is on.
    """

    CREATE = "Create", "Create"
    READ = "Read", "Read"
    UPDATE = "Update", "Update"
    DELETE = "Delete", "Delete"
    READ_CHANGES = "ReadChanges", "ReadChanges"


_BY_LOWER_CASE = {action.value.lower(): action.value for action in Action}


def action_named(name: str) -> str | None:
    """The action of this name, in any case."""
    return _BY_LOWER_CASE.get(name.lower())


def actions_in_order(actions: Container[str]) -> list[str]:
    """Return the actions in the order of `Action`."""
    return [action.value for action in Action if action in actions]


def actions_by_value(by_action: Mapping[str, Value]) -> list[tuple[str, Value]]:
    """Each value with its actions: `Create, Read`."""
    found: dict[Value, list[str]] = {}
    for action in actions_in_order(by_action):
        found.setdefault(by_action[action], []).append(action)
    return [(", ".join(actions), value) for value, actions in found.items()]


BEGINNING = "http://ed-fi.org/identity/claims/"
# The second is that of the ODS/API before 7.0.
_BEGINNINGS = re.compile(r"http://ed-fi\.org/(?:ods/)?identity/claims/", re.IGNORECASE)
DOMAINS = "domains/"
SERVICES = "services/"
# The beginning of the claims of validation, which are no resources with documents.
VALIDATION = "ed-fi-x-validations/"


def claim_name(resource: Resource) -> str:
    """`ed-fi/student` for the resource Student of the core model."""
    return known_claim_name(resource.project_endpoint, resource.name.resource)


@cache
def known_claim_name(project_endpoint: str, name: str) -> str:
    """Return the known name of a claim by the names of project and resource."""
    return f"{project_endpoint}/{lower_camel(name)}"


def claim_uri(name: str) -> str:
    """The URI in full, as messages show it. A claim of another authority, such as 1EdTech, has its URI as its name."""
    return name if "://" in name else BEGINNING + name


def claim_of(uri: str) -> str:
    """The name in a URI, also in one of an earlier ODS/API; names may stand in its place."""
    return _BEGINNINGS.sub("", uri, count=1) if _BEGINNINGS.match(uri) else uri


def short_name(name: str) -> str:
    """`student` of `ed-fi/student`."""
    return name.rpartition("/")[2]
