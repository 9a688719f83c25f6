"""Builds reference objects from the identity values of their targets."""

from typing import Any

from edfi_api.core.documents.paths import as_text
from edfi_api.features.loading.interchange.entities import Entities, identity_value_path
from edfi_api.features.loading.interchange.exceptions import UnreadableDocument
from edfi_api.features.loading.interchange.fragments import Fragment
from edfi_api.model.surface.resource import KeyPair, ResourceName


def reference_object(
    entities: Entities, asked_as: ResourceName, identity: tuple[KeyPair, ...], target: Fragment, line: int
) -> dict[str, Any]:
    """The members of a reference to `target`.

    Where the model merges several values of the target into one member, the XML can repeat the value: a section's
    school is in its course offering and again in the session of that. UnreadableDocument if they differ; missing values
    are left to the validation.
    """
    members: dict[str, Any] = {}
    for pair in identity:
        there = identity_value_path(entities, target.name, asked_as, pair.there)
        value = _value_at(target.body, there.steps)
        if value is not None:
            member = pair.here.steps[-1]
            known = members.setdefault(member, value)
            if known != value and as_text(known) != as_text(value):
                raise UnreadableDocument(
                    line, f"the {asked_as.resource} has two values for {member}: {as_text(known)!r}, {as_text(value)!r}"
                )
    return members


def _value_at(body: Any, steps: tuple[str, ...]) -> Any:
    """The value, or None; paths of identity values contain no arrays."""
    for step in steps:
        body = body.get(step) if isinstance(body, dict) else None
    return body
