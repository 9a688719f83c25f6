"""All resource claims and shared claim sets as Ed-Fi's Configuration Service has them uploaded ↔ claims.

The form is the hierarchy, in which each claim has its default strategies and what claim sets grant on it:

    {"claimSets": [{"claimSetName": "SISVendor", "isSystemReserved": true}],
     "claimsHierarchy": [
       {"name": "http://ed-fi.org/identity/claims/domains/people",
        "defaultAuthorization": {"actions": [
          {"name": "Read", "authorizationStrategies": [{"name": "RelationshipsWithEdOrgsAndPeople"}]}]},
        "claimSets": [{"name": "SISVendor", "actions": [{"name": "Read"}]}],
        "claims": [...]}]}
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any

import msgspec

from edfi_api.common.shape_errors import reason_and_path
from edfi_api.core.security.claim_names import action_named, actions_in_order, claim_of, claim_uri
from edfi_api.core.security.claims.file import NameText
from edfi_api.core.security.claims.model import ByAction, Claims, ClaimSetValue, ResourceClaimValue
from edfi_api.core.security.models import LONGEST_NAME
from edfi_api.core.security.names import NAME


class InvalidUpload(Exception):
    """`findings` are texts by the member that is wrong."""

    def __init__(self, **findings: str) -> None:
        super().__init__(findings)
        self.findings = {member: [text] for member, text in findings.items()}


class _Named(msgspec.Struct):
    name: str


class _DefaultAction(msgspec.Struct, rename="camel"):
    name: str
    authorization_strategies: list[_Named] = []


class _Default(msgspec.Struct):
    actions: list[_DefaultAction] = []


class _GrantedAction(msgspec.Struct, rename="camel"):
    name: str
    authorization_strategy_overrides: list[_Named] = []


class _Granting(msgspec.Struct):
    name: str
    actions: list[_GrantedAction] = []


class _Claim(msgspec.Struct, rename="camel"):
    name: NameText
    default_authorization: _Default | None = None
    claim_sets: list[_Granting] = []
    claims: "list[_Claim]" = []


_ClaimSetName = Annotated[str, msgspec.Meta(pattern=NAME, max_length=LONGEST_NAME)]


class _Set(msgspec.Struct, rename="camel"):
    claim_set_name: _ClaimSetName
    is_system_reserved: bool = False


class _Document(msgspec.Struct, rename="camel"):
    claim_sets: list[_Set]
    claims_hierarchy: list[_Claim]


def read_upload(sent: Mapping[str, Any]) -> tuple[Claims, list[str]]:
    """The claims, and the names of the claim sets that are reserved. Raises InvalidUpload."""
    try:
        document = msgspec.convert(sent, _Document)
    except msgspec.ValidationError as error:
        reason, path = reason_and_path(error)
        raise InvalidUpload(**{path: reason}) from None
    except RecursionError as error:
        raise InvalidUpload(**{"$": str(error)}) from None
    claim_sets = {each.claim_set_name: ClaimSetValue("", {}) for each in document.claim_sets}
    if len({name.lower() for name in claim_sets}) < len(document.claim_sets):
        raise InvalidUpload(claimSets="Names of claim sets are unique in any case.")
    claims = Claims({}, claim_sets)
    _collect(document.claims_hierarchy, None, claims)
    return claims, [each.claim_set_name for each in document.claim_sets if each.is_system_reserved]


def uploadable(claims: Claims, reserved: Collection[str]) -> dict[str, Any]:
    """The document that would upload these claims."""
    return {
        "claimSets": [
            {"claimSetName": name, "isSystemReserved": name in reserved} for name in sorted(claims.claim_sets)
        ],
        "claimsHierarchy": _hierarchy(claims, None),
    }


def _collect(sent: Sequence[_Claim], parent: str | None, claims: Claims) -> None:
    for claim in sent:
        name = claim_of(claim.name)
        if name in claims.resource_claims:
            raise InvalidUpload(claimsHierarchy=f"More than one claim has the name {claim.name}.")
        defaults = claim.default_authorization.actions if claim.default_authorization else []
        claims.resource_claims[name] = ResourceClaimValue(
            parent, {_action(each.name): _names(each.authorization_strategies) for each in defaults}
        )
        for granting in claim.claim_sets:
            if granting.name not in claims.claim_sets:
                raise InvalidUpload(claimSets=f"There is no claim set {granting.name}.")
            claims.claim_sets[granting.name].grants[name] = {
                _action(each.name): _names(each.authorization_strategy_overrides) for each in granting.actions
            }
        _collect(claim.claims, name, claims)


def _action(name: str) -> str:
    found = action_named(name)
    if found is None:
        raise InvalidUpload(claimsHierarchy=f"{name} is not a valid action.")
    return found


def _names(strategies: Sequence[_Named]) -> tuple[str, ...]:
    return tuple(each.name for each in strategies)


def _hierarchy(claims: Claims, parent: str | None) -> list[dict[str, Any]]:
    """The tree as uploads have it, without empty arrays."""
    found = []
    for name in sorted(each for each, value in claims.resource_claims.items() if value.parent == parent):
        defaults = claims.resource_claims[name].defaults or {}
        granted = [
            {"name": claim_set, "actions": _actions(value.grants[name], "authorizationStrategyOverrides")}
            for claim_set, value in sorted(claims.claim_sets.items())
            if name in value.grants
        ]
        members: dict[str, Any] = {
            "defaultAuthorization": {"actions": _actions(defaults, "authorizationStrategies")} if defaults else None,
            "claimSets": granted,
            "claims": _hierarchy(claims, name),
        }
        found.append({"name": claim_uri(name)} | {member: value for member, value in members.items() if value})
    return found


def _actions(by_action: ByAction, member: str) -> list[dict[str, Any]]:
    return [
        {"name": action} | ({member: [{"name": each} for each in by_action[action]]} if by_action[action] else {})
        for action in actions_in_order(by_action)
    ]
