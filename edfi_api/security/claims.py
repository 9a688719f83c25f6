"""Claim set, resource, action → authorization strategies, or the refusal. See
meadowlark/docs/design/authorization.md#from-a-claim-set-to-strategies.

A claim set is compiled once per process into plain dictionaries. Each lookup of a token also reads the version of all
claims (`tokens`), and a claim set compiled from an older version is compiled again. A change therefore takes effect
within `TOKEN_CACHE_SECONDS`, like the revocation of a token, without a query per request.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db import DEFAULT_DB_ALIAS

from edfi_api.model.surface.resource import Resource
from edfi_api.storage.database_state import database_state

from .actions import Action
from .claim_uris import claim_name, claim_uri
from .exceptions import ActionAccessDenied, ClaimSetVanished, ResourceAccessDenied, StrategiesNotDefined
from .models import ClaimSet, ClaimsVersion, DefaultStrategies, Grant, OverridingStrategies, ResourceClaim
from .tokens import AuthenticatedClient

__all__ = ["Action", "strategies"]

Strategies = tuple[str, ...]
Operations = dict[str, list[Action]]
_ByAction = dict[str, Strategies]


def strategies(client: AuthenticatedClient, resource: Resource, action: Action) -> Strategies:
    """The strategies that authorize `action` on documents of `resource` for `client`; never empty.

    Raises `ResourceAccessDenied`, `ActionAccessDenied`, `StrategiesNotDefined` or `ClaimSetVanished`.
    """
    name = claim_name(resource)
    actions = _granted_to(client).get(name)
    if actions is None:
        raise ResourceAccessDenied(client.claim_set_name, resource.name.resource)
    granted = actions.get(action)
    if granted is None:
        raise ActionAccessDenied(client.claim_set_name, resource.name.resource, action)
    if not granted.strategies:
        raise StrategiesNotDefined(action, claim_uri(name), claim_uri(granted.on))
    return granted.strategies


def operations(client: AuthenticatedClient) -> Operations:
    """The granted actions of every covered claim, by the claim's name, in the order of `Action`."""
    return {name: [action for action in Action if action in actions] for name, actions in _granted_to(client).items()}


def inherited_defaults(name: str) -> dict[str, tuple[Strategies, str]]:
    """The default strategies in effect for a claim, by action, each with the claim that defines them."""
    return _inherited(list(_Tree.read().lineage(name)), _read_defaults())


def all_inherited_defaults() -> dict[str, dict[str, tuple[Strategies, str]]]:
    """The same for every claim, by its name."""
    tree, defaults = _Tree.read(), _read_defaults()
    return {name: _inherited(list(tree.lineage(name)), defaults) for name in tree.parents}


def all_defaults() -> dict[str, _ByAction]:
    """The default strategies in effect for every claim, by claim and action."""
    tree, defaults = _Tree.read(), _read_defaults()
    return {
        name: {action: _nearest_default(list(tree.lineage(name)), defaults, action) for action in Action.values}
        for name in tree.parents
    }


def granted_strategies(claim_set: ClaimSet) -> dict[str, _ByAction]:
    """The strategies that authorize each action a claim set grants, by claim and action, read from the database."""
    return granted_by([claim_set])[claim_set.pk]


def granted_by(claim_sets: Sequence[ClaimSet]) -> dict[int, dict[str, _ByAction]]:
    """The same for several claim sets, by their ids, in as many queries."""
    return {
        claim_set_id: {
            name: {action: granted.strategies for action, granted in actions.items()}
            for name, actions in claims.items()
        }
        for claim_set_id, claims in _claims_of([each.pk for each in claim_sets]).items()
    }


@dataclass(frozen=True, slots=True)
class Granted:
    """An action granted on the claim `on`, with its strategies; empty if none are defined. They are the defaults of the
    claim `defined_on`; None if the grant overrides them, or there are none."""

    on: str
    strategies: Strategies
    defined_on: str | None


_Actions = dict[str, Granted]


def granted_actions(claim_set: ClaimSet) -> dict[str, dict[str, Granted]]:
    """What a claim set grants, by claim and action, read from the database in as many queries as of any other."""
    return _claims_of([claim_set.pk])[claim_set.pk]


@dataclass(frozen=True, slots=True)
class _CompiledClaimSet:
    version: int
    claims: dict[str, _Actions]


# A claim set of all resources takes some hundred kilobytes; tenants may have thousands.
_MOST_COMPILED = 512


def _compiled(_using: str) -> dict[int, _CompiledClaimSet]:
    """By claim set, the oldest first. Each access is a single dictionary operation, so threads need no lock; two that
    compile the same one concurrently do no harm."""
    return {}


def forget_compiled() -> None:
    """Let this process compile claim sets again."""
    database_state(DEFAULT_DB_ALIAS).drop(_compiled)


def _granted_to(client: AuthenticatedClient) -> dict[str, _Actions]:
    if client.claim_set_id is None:
        raise ClaimSetVanished(client.claim_set_name)
    compiled = database_state(DEFAULT_DB_ALIAS).value(_compiled)
    known = compiled.get(client.claim_set_id)
    if known is None or known.version < client.claims_version:
        known = _compile(client.claim_set_id, client.claim_set_name)
        compiled.pop(client.claim_set_id, None)
        for oldest in list(compiled)[: max(0, len(compiled) + 1 - _MOST_COMPILED)]:
            compiled.pop(oldest, None)
        compiled[client.claim_set_id] = known
    return known.claims


def _compile(claim_set_id: int, claim_set_name: str) -> _CompiledClaimSet:
    # Read the version first: a change after this read leads to another compilation, never to a missed change.
    version = ClaimsVersion.objects.values_list("version", flat=True).get()
    if not ClaimSet.objects.filter(pk=claim_set_id).exists():
        raise ClaimSetVanished(claim_set_name)
    return _CompiledClaimSet(version, _claims_of([claim_set_id])[claim_set_id])


def _claims_of(claim_set_ids: Sequence[int]) -> dict[int, dict[str, _Actions]]:
    tree, defaults, grants = _Tree.read(), _read_defaults(), _read_grants(claim_set_ids)
    lineages = {name: list(tree.lineage(name)) for name in tree.parents}
    return {
        each: {
            name: actions
            for name, lineage in lineages.items()
            if (actions := _actions(lineage, defaults, grants[each])) is not None
        }
        for each in claim_set_ids
    }


@dataclass(frozen=True, slots=True)
class _Tree:
    """The name of every claim, with that of its parent."""

    parents: dict[str, str | None]

    @classmethod
    def read(cls) -> "_Tree":
        return cls(dict(ResourceClaim.objects.order_by().values_list("name", "parent__name")))

    def lineage(self, name: str) -> Iterator[str]:
        """The claim itself, then its ancestors, the nearest first."""
        step: str | None = name
        while step is not None:
            yield step
            step = self.parents[step]


def _read_defaults() -> dict[str, _ByAction]:
    found: dict[str, _ByAction] = {}
    rows = DefaultStrategies.objects.order_by().values_list("resource_claim__name", "action", "strategies")
    for name, action, names in rows:
        found.setdefault(name, {})[action] = tuple(names)
    return found


def _read_grants(claim_set_ids: Sequence[int]) -> dict[int, dict[str, _ByAction]]:
    """By claim set: granted actions by claim, each with its overriding strategies."""
    found: dict[int, dict[str, _ByAction]] = {each: {} for each in claim_set_ids}
    grants = Grant.objects.order_by().filter(claim_set_id__in=claim_set_ids)
    for each, name, actions in grants.values_list("claim_set_id", "resource_claim__name", "actions"):
        found[each][name] = dict.fromkeys(actions, ())
    overrides = OverridingStrategies.objects.order_by().filter(grant__claim_set_id__in=claim_set_ids)
    for each, name, action, names in overrides.values_list(
        "grant__claim_set_id", "grant__resource_claim__name", "action", "strategies"
    ):
        if action in found[each].get(name, ()):
            found[each][name][action] = tuple(names)
    return found


def _actions(lineage: list[str], defaults: dict[str, _ByAction], grants: dict[str, _ByAction]) -> _Actions | None:
    """The actions granted on the first claim of `lineage`; None if the claim set has a grant on none of them."""
    if not any(name in grants for name in lineage):
        return None
    granting = {
        action: next(name for name in lineage if action in grants.get(name, ()))
        for action in {action for name in lineage for action in grants.get(name, ())}
    }
    return {
        action: _granted(name, grants[name][action], lineage, defaults, action) for action, name in granting.items()
    }


def _granted(
    on: str, overriding: Strategies, lineage: list[str], defaults: dict[str, _ByAction], action: str
) -> Granted:
    if overriding:
        return Granted(on, overriding, None)
    return Granted(on, _nearest_default(lineage, defaults, action), _defining(lineage, defaults, action))


def _inherited(lineage: list[str], defaults: dict[str, _ByAction]) -> dict[str, tuple[Strategies, str]]:
    defining = {action: _defining(lineage, defaults, action) for action in Action.values}
    return {action: (defaults[each][action], each) for action, each in defining.items() if each is not None}


def _nearest_default(lineage: list[str], defaults: dict[str, _ByAction], action: str) -> Strategies:
    name = _defining(lineage, defaults, action)
    return () if name is None else defaults[name][action]


def _defining(lineage: list[str], defaults: dict[str, _ByAction], action: str) -> str | None:
    """The nearest claim with default strategies for the action."""
    return next((name for name in lineage if action in defaults.get(name, ())), None)
