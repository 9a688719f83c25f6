"""Client, resource, action → the row policy: the combined strategies of the client's claim set."""

from collections.abc import Iterable

from edfi_api.model.surface.resource import Resource, ResourceName, Surface
from edfi_api.storage.database_state import database_state
from edfi_api.storage.row_policy import RowPolicy

from .actions import Action
from .claims import strategies
from .exceptions import UNAUTHORIZABLE, UnknownStrategies
from .policies.combined import ClientPolicy, CombinedStrategies
from .policies.strategy import Subject
from .policies.table import NO_FURTHER_AUTHORIZATION_REQUIRED, unknown_strategies
from .tokens import AuthenticatedClient


def row_policy(
    client: AuthenticatedClient, resource: Resource, action: Action, surface: Surface, using: str
) -> RowPolicy | None:
    """The policy of the client's claim set; None if it sets no condition on rows.

    Raises what `claims.strategies` does, UnknownStrategies and StrategyNotApplicable.
    """
    names = strategies(client, resource, action)
    if names == (NO_FURTHER_AUTHORIZATION_REQUIRED,):
        return None
    combined = _combined(resource, names, action == Action.READ_CHANGES, surface, using)
    return ClientPolicy(combined, client, using) if combined.strategies else None


def unusable_strategies(
    client: AuthenticatedClient, resource: Resource, action: Action, surface: Surface, using: str
) -> tuple[str, ...]:
    """The strategies that cannot be used: custom views that were dropped after their policy was made. Empty if the
    action is not granted."""
    subject = Subject(resource, surface, is_for_changes=action == Action.READ_CHANGES)
    try:
        return _unknown(strategies(client, resource, action), subject, using)
    except UNAUTHORIZABLE:
        return ()


class _Combined:
    """The combined strategies of one database, by resource, names, and whether they are for changes."""

    def __init__(self, using: str) -> None:
        self.by_key: dict[tuple[ResourceName, tuple[str, ...], bool], CombinedStrategies] = {}


def _combined(
    resource: Resource, names: tuple[str, ...], is_for_changes: bool, surface: Surface, using: str
) -> CombinedStrategies:
    kept = database_state(using).value(_Combined).by_key
    key = (resource.name, names, is_for_changes)
    found = kept.get(key)
    # Where there are several surfaces, they have different resources of one name.
    if found is None or found.subject.resource is not resource:
        subject = Subject(resource, surface, is_for_changes)
        if unknown := _unknown(names, subject, using):
            raise UnknownStrategies(unknown)
        found = kept[key] = CombinedStrategies(names, subject)
    return found


def _unknown(names: Iterable[str], subject: Subject, using: str) -> tuple[str, ...]:
    return unknown_strategies(names, subject.surface, for_changes=subject.is_for_changes, using=using)
