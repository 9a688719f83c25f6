"""`v3/resourceClaims`: the tree, its default strategies, lists of actions and strategies, and changes of the tree."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar

from django.db.models import ProtectedError
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.core.queries.listing.fields import Field
from edfi_api.core.security.claim_names import Action, action_named, claim_uri, short_name
from edfi_api.core.security.claims.file import UnusableClaimsFile, claims_of_resources, read_claims
from edfi_api.core.security.claims.model import Claims
from edfi_api.core.security.claims.spelling import ClaimNames, spelt_in_full
from edfi_api.core.security.claims.stored_claims import NotOfTheTenant, UnknownClaims, load, lock_claims, stored_names
from edfi_api.core.security.claims.strategy_faults import unknown_for, unknown_in, views_without_a_way
from edfi_api.core.security.models import DefaultStrategies, ResourceClaim
from edfi_api.core.security.policies.table import STRATEGIES
from edfi_api.core.startup import current_surface
from edfi_api.features.management_api import problems, texts
from edfi_api.features.management_api.answer_shapes import (
    ClaimActions,
    ClaimStrategies,
    DescribedAnswer,
    ImportedClaims,
    ListedAction,
    ListedStrategy,
    ResourceClaimNode,
)
from edfi_api.features.management_api.bodies import Integer, ManagementBody, Text, integer, name_rule, read, read_text
from edfi_api.features.management_api.listing import ANY_CASE, DEFAULT_LIMITS, NUMBER, Listing, page_of_items
from edfi_api.features.management_api.views import ManagementView, base_address

ACTION_IDS: Mapping[str, int] = {action.value: number for number, action in enumerate(Action, start=1)}
STRATEGY_IDS: Mapping[str, int] = {name: number for number, name in enumerate(STRATEGIES, start=1)}
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_TAKEN = problems.invalid_data({"Name": [texts.CLAIM_TAKEN]})
_CYCLE = problems.invalid_data({"ParentId": [texts.CYCLE]})
_REFUSALS = {"security_resourceclaim_name_key": _TAKEN, "resource_claims_form_a_tree": _CYCLE}


class ResourceClaimBody(ManagementBody, frozen=True, kw_only=True):
    """Of a POST."""

    name: Annotated[Text, name_rule(255)] = None
    parent_id: Integer = None
    defaults: dict[str, list[str]] | None = None


class ResourceClaimChangeBody(ResourceClaimBody, frozen=True, kw_only=True):
    """Of a PUT."""

    id: Integer = None


class _ItemsView(ManagementView):
    """A list of items that are no rows of a table."""

    order: ClassVar[Sequence[str]] = ("id", "name")
    filters: ClassVar[Sequence[Field]] = ()
    default_order: ClassVar[str] = "id"
    # Whether pages are as short as those of collections of the version.
    is_paged: ClassVar[bool] = True

    def listed(self, items: Iterable[dict[str, Any]]) -> Response:
        limit = DEFAULT_LIMITS[self.version] if self.is_paged else None
        listing = Listing({name: name for name in self.order}, self.filters, limit, self.default_order)
        return Response(page_of_items(listing, list(items), self.request.query_params))


class ResourceClaimsView(_ItemsView):
    """`GET resourceClaims` and `GET resourceClaims/{id}`: the tree, or what lies below one claim."""

    answers = {"get": DescribedAnswer(200, list[ResourceClaimNode])}
    order = ("id", "name", "parentId", "parentName")
    filters = (Field("id", "id", NUMBER), Field("name", "name", ANY_CASE))
    default_order = "name"

    def get(self, request: Request, id: str | None = None) -> Response:
        roots, by_id = _tree()
        if id is None:
            return self.listed(roots)
        found = by_id.get(integer(id))
        if found is None:
            raise self.missing(integer(id))
        return Response(found)

    def missing(self, number: int) -> problems.RequestRefused:
        """The refusal of a claim that does not exist."""
        of_version_2 = texts.V2.NOT_FOUND.format(noun="ResourceClaim")
        text = of_version_2 if self.version == "v2" else texts.NOT_FOUND["resourceClaims"]
        return problems.not_found(text.format(id=number))


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


class ResourceClaimActionsView(_ItemsView):
    """`GET resourceClaimActions`: the claims that have default strategies, with their actions."""

    answers = {"get": DescribedAnswer(200, list[ClaimActions])}
    order: ClassVar[Sequence[str]] = ("resourceClaimId", "resourceName")
    filters = (Field("resourceName", "resourceName", ANY_CASE),)
    default_order = "resourceClaimId"

    def get(self, request: Request) -> Response:
        return self.listed(self._items())

    def described(self, by_action: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        return {"actions": [{"name": action} for action in by_action]}

    def _items(self) -> Iterable[dict[str, Any]]:
        found: dict[tuple[int, str], dict[str, Sequence[str]]] = {}
        rows = DefaultStrategies.objects.order_by("resource_claim__name")
        for pk, claim, action, strategies in rows.values_list(
            "resource_claim_id", "resource_claim__name", "action", "strategies"
        ):
            found.setdefault((pk, claim), {})[action] = strategies
        for (pk, claim), by_action in found.items():
            ordered = {action.value: by_action[action] for action in Action if action in by_action}
            head = {"resourceClaimId": pk, "resourceName": short_name(claim), "claimName": claim_uri(claim)}
            yield head | self.described(ordered)


class ResourceClaimActionAuthStrategiesView(ResourceClaimActionsView):
    """`GET resourceClaimActionAuthStrategies`: the same with the strategies."""

    answers = {"get": DescribedAnswer(200, list[ClaimStrategies])}
    order = ("resourceClaimId", "resourceName", "claimName")

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


class ActionsView(_ItemsView):
    """`GET actions`"""

    answers = {"get": DescribedAnswer(200, list[ListedAction])}
    filters = (Field("id", "id", NUMBER), Field("name", "name", ANY_CASE))
    is_paged = False

    def get(self, request: Request) -> Response:
        return self.listed(
            {"id": number, "name": name, "uri": f"uri://ed-fi.org/api/actions/{name[0].lower()}{name[1:]}"}
            for name, number in ACTION_IDS.items()
        )


class AuthorizationStrategiesView(_ItemsView):
    """`GET authorizationStrategies`"""

    answers = {"get": DescribedAnswer(200, list[ListedStrategy])}
    is_paged = False

    def get(self, request: Request) -> Response:
        return self.listed(
            {"id": number, "name": name, "displayName": _WORD.sub(" ", name)} for name, number in STRATEGY_IDS.items()
        )


class ResourceClaimsList(ResourceClaimsView):
    """`resourceClaims`"""

    answers = {"get": DescribedAnswer(200, list[ResourceClaimNode]), "post": DescribedAnswer(201)}

    def post(self, request: Request) -> Response:
        body = read(request._request, ResourceClaimBody)
        with self.write_transaction(_REFUSALS):
            row = _stored(ResourceClaim(), body)
            self.audit("resource claim created", id=row.pk)
        location = f"{base_address(request._request)}/v3/resourceClaims/{row.pk}"
        return Response(status=201, headers={"Location": location})


class ResourceClaimItem(ResourceClaimsView):
    """`resourceClaims/{id}`"""

    def put(self, request: Request, id: str) -> Response:
        number = integer(id)
        body = read(request._request, ResourceClaimChangeBody, number)
        with self.write_transaction(_REFUSALS):
            _stored(self._locked(number), body)
            self.audit("resource claim changed", id=number)
        return Response(status=204)

    def delete(self, request: Request, id: str) -> Response:
        number = integer(id)
        with self.write_transaction():
            row = self._locked(number)
            if row.name in claims_of_resources(current_surface()):
                raise problems.dependent_item(texts.SERVED_CLAIM)
            try:
                row.delete()
            except ProtectedError:
                raise problems.dependent_item(texts.CLAIM_IN_USE) from None
            self.audit("resource claim removed", id=number)
        return Response(status=204)

    def _locked(self, number: int) -> ResourceClaim:
        """The claim, while no other request changes claims. Raises RequestRefused."""
        lock_claims()
        row = ResourceClaim.objects.filter(pk=number).first()
        if row is None:
            raise self.missing(number)
        return row


def _stored(row: ResourceClaim, body: ResourceClaimBody) -> ResourceClaim:
    lock_claims()
    parent = body.parent_id or None
    if parent is not None and not ResourceClaim.objects.filter(pk=parent).exists():
        raise problems.unresolved_reference(texts.NO_REFERENCE.format(name="ParentId"))
    defaults = _defaults(body.defaults or {})
    row.name, row.parent_id = ClaimNames(current_surface()).one_of(body.name or ""), parent
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


class ClaimsImportView(ManagementView):
    """`POST resourceClaims/import`: a file as `load_claim_sets` reads it; `?dryRun=true` changes nothing."""

    answers = {"post": DescribedAnswer(200, ImportedClaims)}

    def post(self, request: Request) -> Response:
        claims = _read(request)
        is_dry_run = request.query_params.get("dryRun", "").lower() == "true"
        try:
            with self.write_transaction():
                change = load(claims, self.by, tenant=self.tenant, is_dry_run=is_dry_run)
        except (UnknownClaims, NotOfTheTenant) as error:
            raise problems.invalid_data({"$": [str(error)]}) from None
        return Response({"changes": list(change.lines), "leftOut": list(change.left_out)})


def _read(request: Request) -> Claims:
    try:
        read = read_claims(read_text(request._request))
    except UnusableClaimsFile as error:
        raise problems.invalid_data({"$": [str(error)]}) from None
    surface = current_surface()
    claims = spelt_in_full(read, ClaimNames(surface, stored_names()))
    if wrong := [*unknown_in(claims, surface), *views_without_a_way(claims, surface)]:
        raise problems.invalid_data({"$": [f"There are no such strategies: {each}" for each in wrong]})
    return claims
