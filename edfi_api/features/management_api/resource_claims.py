"""The hierarchy of resource claims: its tree, default strategies, lists of actions and strategies, changes one by one
and of all claims at once."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar
from uuid import NAMESPACE_URL, uuid5

from django.db import transaction
from django.db.models import ProtectedError
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.stores import visible_to
from edfi_api.core.queries.listing import Field
from edfi_api.core.security.claim_names import Action, action_named, claim_uri, short_name
from edfi_api.core.security.claims.file import UnusableClaimsFile, bundled_claims, claims_of_resources, read_claims
from edfi_api.core.security.claims.model import ClaimNames, Claims, spelt_in_full
from edfi_api.core.security.claims.stored_claims import (
    NotOfTheTenant,
    UnknownClaims,
    hold_claims,
    load,
    lock_claims,
    replace_all,
    reserve,
    stored_claims,
    stored_names,
)
from edfi_api.core.security.claims.upload import InvalidUpload, read_upload, uploadable
from edfi_api.core.security.claims.validation import unknown_for, unknown_in, views_without_a_way
from edfi_api.core.security.models import ClaimSet, ClaimsVersion, DefaultStrategies, ResourceClaim
from edfi_api.core.security.strategies.table import STRATEGIES
from edfi_api.core.served import current_surface
from edfi_api.features.management_api import answers, problems, serializers, texts
from edfi_api.features.management_api.bodies import integer, read_object, read_text
from edfi_api.features.management_api.listing import ANY_CASE, NUMBER, Listing
from edfi_api.features.management_api.views import ManagementViewSet
from edfi_api.web.metadata.claim_sets import authorization_metadata

ACTION_IDS: Mapping[str, int] = {each.value: number for number, each in enumerate(Action, start=1)}
STRATEGY_IDS: Mapping[str, int] = {name: number for number, name in enumerate(STRATEGIES, start=1)}
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_REFUSALS = {
    "security_resourceclaim_name_key": ("Name", texts.CLAIM_TAKEN),
    "resource_claims_form_a_tree": ("ParentId", texts.CYCLE),
}
_BY_NAME = (Field("id", "id", NUMBER), Field("name", "name", ANY_CASE))


class ResourceClaimTreeViewSet(ManagementViewSet):
    """The tree of resource claims, or what lies below one."""

    action_answers: ClassVar[Mapping[str, tuple[int, Any]]] = {
        "list": (200, answers.ResourceClaimNode(many=True)),
        "retrieve": (200, answers.ResourceClaimNode),
    }
    listing = Listing(("id", "name", "parentId", "parentName"), _BY_NAME, default_order="name")

    def list(self, request: Request) -> Response:
        return self.listed(_tree()[0])

    def retrieve(self, request: Request, id: str) -> Response:
        found = _tree()[1].get(integer(id))
        if found is None:
            raise self.missing(integer(id))
        return Response(found)


def _tree() -> tuple[list[dict[str, Any]], dict[int, dict[str, Any]]]:
    """The roots, and all claims by id."""
    rows = list(ResourceClaim.objects.order_by("name").values_list("pk", "name", "parent_id", "parent__name"))
    by_id: dict[int, dict[str, Any]] = {
        pk: {
            "id": pk,
            "name": short_name(name),
            "parentId": parent or 0,
            "parentName": short_name(parent_name) if parent_name else None,
            "children": [],
        }
        for pk, name, parent, parent_name in rows
    }
    for pk, _, parent, _ in rows:
        if parent:
            by_id[parent]["children"].append(by_id[pk])
    return [by_id[pk] for pk, _, parent, _ in rows if not parent], by_id


class ResourceClaimViewSet(ResourceClaimTreeViewSet):
    """Resource claims of version 3, which can be changed."""

    action_serializers = dict.fromkeys(("create", "update"), serializers.ResourceClaimSerializer)
    action_answers = {
        **ResourceClaimTreeViewSet.action_answers,
        "import_": (200, answers.ImportedClaims),
    }

    def create(self, request: Request) -> Response:
        _, values = self.read()
        with self.write_transaction(_REFUSALS):
            row = _store(ResourceClaim(), values)
            self.audit("resource claim created", id=row.pk)
        return self.located(row.pk)

    def update(self, request: Request, id: str) -> Response:
        number = integer(id)
        _, values = self.read()
        with self.write_transaction(_REFUSALS):
            _store(self._lock(number), values)
            self.audit("resource claim changed", id=number)
        return Response(status=204)

    def destroy(self, request: Request, id: str) -> Response:
        number = integer(id)
        with self.write_transaction():
            row = self._lock(number)
            if row.name in claims_of_resources(current_surface()):
                raise problems.refused("dependent item", texts.SERVED_CLAIM)
            try:
                row.delete()
            except ProtectedError:
                raise problems.refused("dependent item", texts.CLAIM_IN_USE) from None
            self.audit("resource claim removed", id=number)
        return Response(status=204)

    @action(detail=False, methods=["post"], url_path="import")
    def import_(self, request: Request) -> Response:
        """Import a file as `load_claim_sets` reads it; `?dryRun=true` changes nothing."""
        claims = _read_file(request)
        is_dry_run = request.query_params.get("dryRun", "").lower() == "true"
        try:
            with self.write_transaction():
                change = load(claims, self.by, tenant=self.tenant, is_dry_run=is_dry_run)
        except (UnknownClaims, NotOfTheTenant) as error:
            raise problems.invalid_data({"$": [str(error)]}) from None
        return Response({"changes": list(change.lines), "leftOut": list(change.left_out)})

    def _lock(self, number: int) -> ResourceClaim:
        """Lock and return the claim: no other request changes claims then. Raises RequestRefused."""
        lock_claims()
        row = ResourceClaim.objects.filter(pk=number).first()
        if row is None:
            raise self.missing(number)
        return row


def _store(row: ResourceClaim, values: Mapping[str, Any]) -> ResourceClaim:
    lock_claims()
    parent = values["parent_id"] or None
    if parent is not None and not ResourceClaim.objects.filter(pk=parent).exists():
        raise problems.unresolved_reference(texts.NO_REFERENCE.format(name="ParentId"))
    defaults = _defaults(values["defaults"] or {})
    row.name, row.parent_id = ClaimNames(current_surface()).one_of(values["name"]), parent
    row.save()
    row.defaults.all().delete()
    DefaultStrategies.objects.bulk_create(
        DefaultStrategies(resource_claim=row, action=action, strategies=names) for action, names in defaults.items()
    )
    return row


def _defaults(sent: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Strategies by action. Raises RequestRefused."""
    found: dict[str, list[str]] = {}
    for name_, strategies in sent.items():
        action = action_named(name_)
        if action is None:
            raise problems.invalid_data({"Defaults": [texts.UNKNOWN_ACTION.format(name=name_)]})
        if unknown := unknown_for(action, strategies, current_surface()):
            found_texts = [texts.NOTHING_OF_THE_NAME.format(name=each) for each in unknown]
            raise problems.invalid_data({"Defaults": found_texts})
        if strategies:
            found[action] = strategies
    return found


def _read_file(request: Request) -> Claims:
    try:
        read = read_claims(read_text(request._request))
    except UnusableClaimsFile as error:
        raise problems.invalid_data({"$": [str(error)]}) from None
    surface = current_surface()
    claims = spelt_in_full(read, ClaimNames(surface, stored_names()))
    if wrong := [*unknown_in(claims, surface), *views_without_a_way(claims, surface)]:
        raise problems.invalid_data({"$": [f"There are no such strategies: {each}" for each in wrong]})
    return claims


class ResourceClaimActionsViewSet(ManagementViewSet):
    """The claims that have default strategies, with their actions."""

    action_answers = {"list": (200, answers.ClaimActions(many=True))}
    listing = Listing(
        ("resourceClaimId", "resourceName"),
        (Field("resourceName", "resourceName", ANY_CASE),),
        default_order="resourceClaimId",
    )

    def list(self, request: Request) -> Response:
        return self.listed(list(self._items()))

    def described(self, by_action: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        return {"actions": [{"name": action} for action in by_action]}

    def _items(self) -> Iterable[dict[str, Any]]:
        found: dict[tuple[int, str], dict[str, Sequence[str]]] = {}
        rows = DefaultStrategies.objects.order_by("resource_claim__name")
        for pk, claim, action_, strategies in rows.values_list(
            "resource_claim_id", "resource_claim__name", "action", "strategies"
        ):
            found.setdefault((pk, claim), {})[action_] = strategies
        for (pk, claim), by_action in found.items():
            ordered = {each.value: by_action[each] for each in Action if each in by_action}
            head = {"resourceClaimId": pk, "resourceName": short_name(claim), "claimName": claim_uri(claim)}
            yield head | self.described(ordered)


class ResourceClaimStrategiesViewSet(ResourceClaimActionsViewSet):
    """Resource claims with their strategies."""

    action_answers = {"list": (200, answers.ClaimStrategies(many=True))}
    listing = Listing(
        ("resourceClaimId", "resourceName", "claimName"),
        ResourceClaimActionsViewSet.listing.filters,
        default_order="resourceClaimId",
    )

    def described(self, by_action: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        return {
            "authorizationStrategiesForActions": [
                {
                    "actionId": ACTION_IDS[action],
                    "actionName": action,
                    "authorizationStrategies": [
                        {"authStrategyId": STRATEGY_IDS.get(name, 0), "authStrategyName": name} for name in strategies
                    ],
                }
                for action, strategies in by_action.items()
            ]
        }


class ActionViewSet(ManagementViewSet):
    """The actions of claims."""

    action_answers = {"list": (200, answers.ListedAction(many=True))}
    listing = Listing(("id", "name"), _BY_NAME, default_order="id", is_paged=False)

    def list(self, request: Request) -> Response:
        return self.listed(
            [
                {"id": number, "name": name, "uri": f"uri://ed-fi.org/api/actions/{name[0].lower()}{name[1:]}"}
                for name, number in ACTION_IDS.items()
            ]
        )


class AuthorizationStrategyViewSet(ManagementViewSet):
    """The authorization strategies."""

    action_answers = {"list": (200, answers.ListedStrategy(many=True))}
    listing = Listing(("id", "name"), default_order="id", is_paged=False)

    def list(self, request: Request) -> Response:
        return self.listed(
            [{"id": number, "name": name, "displayName": _WORD.sub(" ", name)} for name, number in STRATEGY_IDS.items()]
        )


class ClaimsUploadViewSet(ManagementViewSet):
    """All resource claims and shared claim sets at once, in the form of `edfi_api/core/security/claims/upload.py`, at
    addresses that exist only with the setting."""

    has_tenants = False
    action_answers = {
        "upload": (200, answers.ReplacedClaims),
        "reload": (200, answers.ReplacedClaims),
        "current": (200, {"type": "object"}),
    }
    _names: ClassVar[Mapping[str, str]] = {
        "upload": "Claims upload", "reload": "Claims reload", "current": "Current claims",
    }  # fmt: skip

    @classmethod
    def is_served(cls) -> bool:
        return bool(api_settings.CLAIMS_UPLOAD)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if not self.is_served():
            name = self._names[next(iter(self.action_map.values()))]
            raise problems.not_found(f"{name} endpoint is not available.")
        super().initial(request, *args, **kwargs)

    @action(detail=False, methods=["post"], url_path="upload-claims")
    def upload(self, request: Request) -> Response:
        """Replace all claims by those of the body."""
        try:
            read, reserved = read_upload(_sent(request))
        except InvalidUpload as error:
            raise problems.invalid_data(error.findings) from None
        claims = spelt_in_full(read, ClaimNames(current_surface(), stored_names()))
        if unknown := unknown_in(claims, current_surface()):
            found = [f"There are no such strategies: {each}" for each in unknown]
            raise problems.invalid_data({"claimsHierarchy": found})
        return self._replace(claims, reserved, "claims uploaded")

    @action(detail=False, methods=["post"], url_path="reload-claims")
    def reload(self, request: Request) -> Response:
        """Replace all claims by the bundled ones."""
        bundled = bundled_claims(current_surface())
        return self._replace(bundled, bundled.claim_sets, "bundled claims loaded")

    @action(detail=False, methods=["get"], url_path="current-claims")
    @transaction.atomic
    def current(self, request: Request) -> Response:
        """Show what an upload would have to be like."""
        hold_claims()
        claims = stored_claims()
        reserved = set(ClaimSet.objects.filter(tenant=None, is_system_reserved=True).values_list("name", flat=True))
        return Response(uploadable(claims, reserved), headers={"X-Reload-Id": _reload_id()})

    def _replace(self, claims: Claims, reserved: Iterable[str], event: str) -> Response:
        """Store these claims in the place of all others."""
        with self.write_transaction():
            try:
                replace_all(claims, self.by)
            except NotOfTheTenant as error:
                raise problems.invalid_data({"claimSets": [str(error)]}) from None
            reserve(reserved)
            self.audit(event, claim_sets=len(claims.claim_sets))
            return Response({"success": True, "reloadId": _reload_id()})


def _sent(request: Request) -> dict[str, Any]:
    """The member `claims` of the body. Raises RequestRefused."""
    found = read_object(request._request).get("claims")
    if not isinstance(found, dict):
        raise problems.invalid_data({"Claims": ["Claims JSON is required"]})
    required = ("claimSets", "claimsHierarchy")
    missing = {name: [f"Missing required '{name}' property"] for name in required if name not in found}
    if missing:
        raise problems.invalid_data(missing)
    return found


def _reload_id() -> str:
    """Return the id of the state of all claims: another one after every change, the same for all processes."""
    version = ClaimsVersion.objects.values_list("version", flat=True).get()
    return str(uuid5(NAMESPACE_URL, f"claims/{version}"))


class AuthorizationMetadataViewSet(ManagementViewSet):
    """The rights of claim sets on each resource, in effect, for programs that authorize by these claim sets."""

    metadata_actions = frozenset({"list"})
    action_answers = {"list": (200, {"type": "array", "items": {"type": "object"}})}

    def list(self, request: Request) -> Response:
        named = {key.lower(): value for key, value in request.query_params.items()}.get("claimsetname", "")
        rows = ClaimSet.objects.filter(visible_to(self.tenant)).order_by("name")
        if named:
            rows = rows.filter(name__iexact=str(named).replace("\0", "\ufffd"))
        return Response(authorization_metadata(list(rows)))
