"""`management/upload-claims` and related paths: all resource claims and shared claim sets at once.

The document has the form that Ed-Fi's Configuration Service keeps: the hierarchy, in which each claim has its default
strategies and what claim sets grant on it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any
from uuid import NAMESPACE_URL, uuid5

import msgspec
from django.db import transaction
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.conf import api_settings
from edfi_api.security.actions import action_named, actions_in_order
from edfi_api.security.bundled_claims import bundled_claims, reserve
from edfi_api.security.claim_uris import BEGINNING, claim_uri
from edfi_api.security.claims_file import ByAction, Claims, ClaimSetValue, NameText, ResourceClaimValue
from edfi_api.security.claims_store import NotOfTheTenant, hold_claims, load, lock_claims, stored_claims
from edfi_api.security.models import LONGEST_NAME, Application, ClaimSet, ClaimsVersion, Grant, ResourceClaim
from edfi_api.security.names import NAME
from edfi_api.security.strategy_faults import unknown_in
from edfi_api.startup import current_surface

from . import problems
from .bodies import read_object
from .views import ManagementView


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


class ClaimsView(ManagementView):
    """One of the addresses, which exist only with the setting; `what` is its name in the refusal."""

    has_tenants = False
    what = "upload"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if not api_settings.CLAIMS_UPLOAD:
            raise problems.not_found(f"{self.what} endpoint is not available.")
        super().initial(request, *args, **kwargs)

    def replaced(self, claims: Claims, reserved: Iterable[str], event: str) -> Response:
        """Store these claims in the place of all others."""
        with self.written():
            try:
                replace_all(claims, self.by)
            except NotOfTheTenant as error:
                raise problems.invalid_data({"claimSets": [str(error)]}) from None
            reserve(reserved)
            self.audit(event, claim_sets=len(claims.claim_sets))
            return Response({"success": True, "reloadId": _reload_id()})


class UploadView(ClaimsView):
    """`POST management/upload-claims`"""

    what = "Claims upload"

    def post(self, request: Request) -> Response:
        document = _read(request)
        claims = _claims(document)
        if unknown := unknown_in(claims, current_surface()):
            texts = [f"There are no such strategies: {each}" for each in unknown]
            raise problems.invalid_data({"claimsHierarchy": texts})
        reserved = [each.claim_set_name for each in document.claim_sets if each.is_system_reserved]
        return self.replaced(claims, reserved, "claims uploaded")


class ReloadView(ClaimsView):
    """`POST management/reload-claims`: the bundled claims again."""

    what = "Claims reload"

    def post(self, request: Request) -> Response:
        bundled = bundled_claims(current_surface())
        return self.replaced(bundled, bundled.claim_sets, "bundled claims loaded")


class CurrentView(ClaimsView):
    """`GET management/current-claims`: what an upload would have to be like."""

    what = "Current claims"

    @transaction.atomic
    def get(self, request: Request) -> Response:
        hold_claims()
        claims = stored_claims()
        reserved = set(ClaimSet.objects.filter(tenant=None, is_system_reserved=True).values_list("name", flat=True))
        body = {
            "claimSets": [
                {"claimSetName": name, "isSystemReserved": name in reserved} for name in sorted(claims.claim_sets)
            ],
            "claimsHierarchy": _hierarchy(claims, None),
        }
        return Response(body, headers={"X-Reload-Id": _reload_id()})


def replace_all(claims: Claims, by: str) -> None:
    """Store the claims and shared claim sets, and remove all others. Applications go on to name theirs. Needs a
    transaction. Raises NotOfTheTenant."""
    lock_claims()
    gone = ClaimSet.objects.filter(tenant=None).exclude(name__in=claims.claim_sets)
    Application.objects.filter(claim_set__in=gone).update(claim_set=None)
    gone.delete()
    superfluous = ResourceClaim.objects.exclude(name__in=claims.resource_claims)
    Grant.objects.filter(resource_claim__in=superfluous).delete()
    load(claims, by)
    # Their children have other parents by now, or are superfluous themselves.
    ids = list(superfluous.values_list("pk", flat=True))
    ResourceClaim.objects.filter(pk__in=ids).update(parent=None)
    ResourceClaim.objects.filter(pk__in=ids).delete()


def _read(request: Request) -> _Document:
    sent = read_object(request._request)
    found = sent.get("claims")
    if not isinstance(found, dict):
        raise problems.invalid_data({"Claims": ["Claims JSON is required"]})
    required = ("claimSets", "claimsHierarchy")
    missing = {name: [f"Missing required '{name}' property"] for name in required if name not in found}
    if missing:
        raise problems.invalid_data(missing)
    try:
        return msgspec.convert(found, _Document)
    except (msgspec.ValidationError, RecursionError) as error:
        text, _, path = str(error).partition(" - at ")
        raise problems.invalid_data({path.strip("`") or "$": [text]}) from None


def _claims(document: _Document) -> Claims:
    resource_claims: dict[str, ResourceClaimValue] = {}
    claim_sets = {each.claim_set_name: ClaimSetValue("", {}) for each in document.claim_sets}
    if len({name.lower() for name in claim_sets}) < len(document.claim_sets):
        raise problems.invalid_data({"claimSets": ["Names of claim sets are unique in any case."]})
    _collect(document.claims_hierarchy, None, resource_claims, claim_sets)
    return Claims(resource_claims, claim_sets)


def _collect(
    claims: Sequence[_Claim],
    parent: str | None,
    resource_claims: dict[str, ResourceClaimValue],
    claim_sets: Mapping[str, ClaimSetValue],
) -> None:
    for claim in claims:
        name = claim.name.removeprefix(BEGINNING)
        if name in resource_claims:
            raise problems.invalid_data({"claimsHierarchy": [f"More than one claim has the name {claim.name}."]})
        defaults = claim.default_authorization.actions if claim.default_authorization else []
        resource_claims[name] = ResourceClaimValue(
            parent, {_action(each.name): _names(each.authorization_strategies) for each in defaults}
        )
        for granting in claim.claim_sets:
            if granting.name not in claim_sets:
                raise problems.invalid_data({"claimSets": [f"There is no claim set {granting.name}."]})
            claim_sets[granting.name].grants[name] = {
                _action(each.name): _names(each.authorization_strategy_overrides) for each in granting.actions
            }
        _collect(claim.claims, name, resource_claims, claim_sets)


def _action(name: str) -> str:
    found = action_named(name)
    if found is None:
        raise problems.invalid_data({"claimsHierarchy": [f"{name} is not a valid action."]})
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


def _reload_id() -> str:
    """Another one after every change of claims, the same for all processes."""
    version = ClaimsVersion.objects.values_list("version", flat=True).get()
    return str(uuid5(NAMESPACE_URL, f"claims/{version}"))
