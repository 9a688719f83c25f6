"""Claim set, resource, action → authorization strategies, or the refusal. See
meadowlark/docs/design/authorization.md#from-a-claim-set-to-strategies.

A claim set is compiled once per process into plain dictionaries. Each lookup of a token also reads the version of all
claims (`authentication`), and a claim set compiled from an older version is compiled again. A change therefore takes
effect within `TOKEN_CACHE_SECONDS`, like the revocation of a token, without a query per request.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import DEFAULT_DB_ALIAS

from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.claim_names import Action, claim_uri, known_claim_name
from edfi_api.core.security.claims.model import ByAction, Grants, ResourceClaimValue, Strategies, lineage
from edfi_api.core.security.claims.stored_claims import stored_grants, stored_resource_claims
from edfi_api.core.security.exceptions import (
    ActionAccessDenied,
    ClaimSetVanished,
    ResourceAccessDenied,
    StrategiesNotDefined,
)
from edfi_api.core.security.models import ClaimSet, ClaimsVersion
from edfi_api.core.storage.database_state import database_state
from edfi_api.model.surface.resource import Resource

Operations = dict[str, list[Action]]
_ResourceClaims = Mapping[str, ResourceClaimValue]


def strategies(client: AuthenticatedClient, resource: Resource, action: Action) -> Strategies:
    """The strategies that authorize `action` on documents of `resource` for `client`; never empty.

    Raises `ResourceAccessDenied`, `ActionAccessDenied`, `StrategiesNotDefined` or `ClaimSetVanished`.
    """
    name = known_claim_name(resource.project_endpoint, resource.name.resource)
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
    claims = stored_resource_claims()
    return _inherited(lineage(claims, name), claims)


def all_inherited_defaults() -> dict[str, dict[str, tuple[Strategies, str]]]:
    """Return the inherited defaults of every claim, by its name."""
    claims = stored_resource_claims()
    return {name: _inherited(lineage(claims, name), claims) for name in claims}


def all_defaults() -> dict[str, ByAction]:
    """The default strategies in effect for every claim, by claim and action."""
    claims = stored_resource_claims()
    return {
        name: {action: _nearest_default(lineage(claims, name), claims, action) for action in Action.values}
        for name in claims
    }


def granted_strategies(claim_set: ClaimSet) -> dict[str, ByAction]:
    """The strategies that authorize each action a claim set grants, by claim and action, read from the database."""
    return granted_by([claim_set])[claim_set.pk]


def granted_by(claim_sets: Sequence[ClaimSet]) -> dict[int, dict[str, ByAction]]:
    """Return what each of the claim sets grants, by their ids, in as many queries as one claim set takes."""
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
    """The actions that a claim set grants, by claim and action, read from the database in as many queries as others."""
    return _claims_of([claim_set.pk])[claim_set.pk]


@dataclass(frozen=True, slots=True)
class _CompiledClaimSet:
    version: int
    claims: dict[str, _Actions]


# A claim set of all resources takes some hundred kilobytes; tenants may have thousands.
_MOST_COMPILED = 512


def _compiled(_using: str) -> dict[int, _CompiledClaimSet]:
    """Return the compiled claim sets by id, the oldest first. Each access is a single dictionary operation, so threads
    need no lock; two that compile the same one concurrently do no harm.
    """
    return {}


def forget_compiled() -> None:
    """Let this process compile claim sets again."""
    database_state(DEFAULT_DB_ALIAS).drop(_compiled)


def compiled_claim_set(client: AuthenticatedClient) -> object:
    """The client's claim set as it is compiled in this process, another object after each change that has been noticed;
    None if it is not compiled."""
    return database_state(DEFAULT_DB_ALIAS).value(_compiled).get(client.claim_set_id or 0)


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
    claims, grants = stored_resource_claims(), stored_grants(claim_set_ids)
    return {each: _granted_by(grants[each], claims) for each in claim_set_ids}


def _granted_by(grants: Grants, claims: _ResourceClaims) -> dict[str, _Actions]:
    """Return the granted actions by claim, without claims that have none."""
    known: dict[str | None, _Actions | None] = {None: None}
    for claim in claims:
        # The parents come first, since most claims are of resources and share the actions of their parent.
        for name in reversed(lineage(claims, claim)):
            if name not in known:
                has_own = name in grants or bool(_defaults(claims[name]))
                known[name] = _actions(lineage(claims, name), claims, grants) if has_own else known[claims[name].parent]
    return {name: actions for name in claims if (actions := known[name]) is not None}


def _actions(names: list[str], claims: _ResourceClaims, grants: Grants) -> _Actions | None:
    """The actions granted on the first claim of a lineage; None if the claim set has a grant on none of them."""
    if grants.keys().isdisjoint(names):
        return None
    found: _Actions = {}
    for on in names:
        for action, overriding in grants.get(on, {}).items():
            # The grant on the nearest claim prevails over those on its parents.
            if action not in found:
                found[action] = _granted(on, overriding, names, claims, action)
    return found


def _granted(on: str, overriding: Strategies, names: list[str], claims: _ResourceClaims, action: str) -> Granted:
    if overriding:
        return Granted(on, overriding, defined_on=None)
    defined_on = _defining(names, claims, action)
    strategies = () if defined_on is None else _defaults(claims[defined_on])[action]
    return Granted(on, strategies, defined_on)


def _inherited(names: list[str], claims: _ResourceClaims) -> dict[str, tuple[Strategies, str]]:
    defining = {action: _defining(names, claims, action) for action in Action.values}
    return {action: (_defaults(claims[each])[action], each) for action, each in defining.items() if each is not None}


def _nearest_default(names: list[str], claims: _ResourceClaims, action: str) -> Strategies:
    name = _defining(names, claims, action)
    return () if name is None else _defaults(claims[name])[action]


def _defining(names: list[str], claims: _ResourceClaims, action: str) -> str | None:
    """The nearest claim with default strategies for the action."""
    return next((name for name in names if action in _defaults(claims[name])), None)


def _defaults(claim: ResourceClaimValue) -> ByAction:
    return claim.defaults or {}
