"""The authorization strategies by name: how each is made for a resource, and which actions it can authorize.

A new strategy is a module of this package and a row here; the names allowed in claims, the choices in the admin and the
system checks derive from the table.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from edfi_api.common.ods_compatibility import OdsCompatibility
from edfi_api.core.security.strategies.namespace import NAMESPACE_BASED, NamespaceBased
from edfi_api.core.security.strategies.ownership import OWNERSHIP_BASED, OwnershipBased
from edfi_api.core.security.strategies.reach import REACHES
from edfi_api.core.security.strategies.relationships import Relationship
from edfi_api.core.security.strategies.strategy import Strategy, Subject
from edfi_api.core.security.strategies.views import CustomView, is_custom_view, unusable
from edfi_api.model.surface.resource import Surface

NO_FURTHER_AUTHORIZATION_REQUIRED = "NoFurtherAuthorizationRequired"


@dataclass(frozen=True)
class StrategyRow:
    """`make` returns the strategy for a resource, or None if it sets no condition, and raises StrategyNotApplicable.

    All strategies have to allow. They are asked in the order in which they are configured, those with `is_last` after
    the others. Of the relationships one has to allow; they are asked last of all.
    Create, Read, Update and Delete apply to documents, ReadChanges to the key values kept of deleted ones. With
    `MEADOWLARK_COMPATIBILITY=ods` ReadChanges may also be granted by those `for_changes_of_ods`.
    """

    make: Callable[[str, Subject], Strategy | Relationship | None]
    is_last: bool = False
    for_documents: bool = True
    for_changes: bool = False
    for_changes_of_ods: bool = False


STRATEGIES: Mapping[str, StrategyRow] = {
    NO_FURTHER_AUTHORIZATION_REQUIRED: StrategyRow(lambda *_: None, for_changes=True),
    NAMESPACE_BASED: StrategyRow(NamespaceBased.of, for_changes=True),
    OWNERSHIP_BASED: StrategyRow(OwnershipBased.of, is_last=True),
    **{
        name: StrategyRow(
            Relationship.of,
            for_documents=not reach.includes_past,
            for_changes=reach.includes_past or not reach.is_about_people,
            for_changes_of_ods=True,
        )
        for name, reach in REACHES.items()
    },
}
_CUSTOM_VIEW = StrategyRow(CustomView.of, for_changes=True)


def row(name: str) -> StrategyRow | None:
    """The row of a strategy; None if the name is unknown."""
    return STRATEGIES.get(name) or (_CUSTOM_VIEW if is_custom_view(name) else None)


def unknown_strategies(names: Iterable[str], surface: Surface, *, for_changes: bool, using: str) -> tuple[str, ...]:
    """Return the strategies that do not exist, or not for this use; custom views have to be in the database."""
    named = list(dict.fromkeys(names))
    rows = {name: found for name in named if (found := row(name))}
    usable = {name for name, found in rows.items() if (_is_for_changes(found) if for_changes else found.for_documents)}
    usable.difference_update(unusable(usable.difference(STRATEGIES), surface, using))
    return tuple(name for name in named if name not in usable)


def _is_for_changes(found: StrategyRow) -> bool:
    return found.for_changes or (found.for_changes_of_ods and OdsCompatibility.RELATIONSHIPS_FOR_CHANGES.applies)
