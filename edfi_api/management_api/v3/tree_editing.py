"""POST, PUT and DELETE of resource claims, and the import of a file as `load_claim_sets` reads it."""

from typing import Any

from django.db.models import ProtectedError
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.conf import api_settings
from edfi_api.request_body import BodyIncomplete, BodyTooLong, read_body
from edfi_api.security.actions import action_named
from edfi_api.security.bundled_claims import claims_of_resources
from edfi_api.security.claim_uris import BEGINNING
from edfi_api.security.claims_file import Claims, UnusableClaimsFile, read_claims
from edfi_api.security.claims_store import NotOfTheTenant, UnknownClaims, load, lock_claims
from edfi_api.security.models import DefaultStrategies, ResourceClaim
from edfi_api.security.strategy_faults import unknown_for, unknown_in, views_without_a_way
from edfi_api.startup import current_surface

from .. import problems
from ..bodies import integer, read_values
from ..members import Kind, Member, name
from ..views import ManagementView, base_address
from .hierarchy import MISSING, ResourceClaimsView

_SHAPE = (name("name", 255), Member("parentId", Kind.INTEGER), Member("defaults", Kind.OBJECT))
_TAKEN = problems.invalid_data({"Name": ["A resource claim with this name already exists."]})
_CYCLE = problems.invalid_data({"ParentId": ["The resource claim would contain itself."]})
_REFUSALS = {"security_resourceclaim_name_key": _TAKEN, "resource_claims_form_a_tree": _CYCLE}
_SERVED = "The resource claim is that of a served resource and cannot be deleted."
_IN_USE = "The resource claim is granted by claim sets or contains others, and cannot be deleted."


class ResourceClaimsList(ResourceClaimsView):
    """`resourceClaims`"""

    shape = _SHAPE

    def post(self, request: Request) -> Response:
        values = read_values(request._request, _SHAPE)
        with self.written(_REFUSALS):
            row = _stored(ResourceClaim(), values)
            self.audit("resource claim created", id=row.pk)
        location = f"{base_address(request._request)}/v3/resourceClaims/{row.pk}"
        return Response(status=201, headers={"Location": location})


class ResourceClaimItem(ResourceClaimsView):
    """`resourceClaims/{id}`"""

    shape_of_put = (Member("id", Kind.INTEGER), *_SHAPE)

    def put(self, request: Request, id: str) -> Response:
        number = integer(id)
        values = read_values(request._request, self.shape_of_put, number)
        with self.written(_REFUSALS):
            _stored(self._locked(number), values)
            self.audit("resource claim changed", id=number)
        return Response(status=204)

    def delete(self, request: Request, id: str) -> Response:
        number = integer(id)
        with self.written():
            row = self._locked(number)
            if row.name in claims_of_resources(current_surface()):
                raise problems.dependent_item(_SERVED)
            try:
                row.delete()
            except ProtectedError:
                raise problems.dependent_item(_IN_USE) from None
            self.audit("resource claim removed", id=number)
        return Response(status=204)

    def _locked(self, number: int) -> ResourceClaim:
        """The claim, while no other request changes claims."""
        lock_claims()
        row = ResourceClaim.objects.filter(pk=number).first()
        if row is None:
            raise problems.not_found(MISSING[self.version].format(id=number))
        return row


def _stored(row: ResourceClaim, values: dict[str, Any]) -> ResourceClaim:
    lock_claims()
    parent = values["parentId"] or None
    if parent is not None and not ResourceClaim.objects.filter(pk=parent).exists():
        raise problems.unresolved_reference("Reference 'ParentId' does not exist.")
    defaults = _defaults(values["defaults"])
    row.name, row.parent_id = values["name"].removeprefix(BEGINNING), parent
    row.save()
    row.defaults.all().delete()
    DefaultStrategies.objects.bulk_create(
        DefaultStrategies(resource_claim=row, action=action, strategies=names) for action, names in defaults.items()
    )
    return row


def _defaults(sent: dict[str, Any]) -> dict[str, list[str]]:
    """Strategies by action. Raises a Refusal."""
    found: dict[str, list[str]] = {}
    for name_, strategies in sent.items():
        action = action_named(name_)
        if not isinstance(strategies, list) or not all(isinstance(each, str) for each in strategies):
            raise problems.invalid_json()
        if action is None:
            raise problems.invalid_data({"Defaults": [f"{name_} is not a valid action."]})
        if unknown := unknown_for(action, strategies, current_surface()):
            raise problems.invalid_data({"Defaults": [f"{each} doesn't exist." for each in unknown]})
        if strategies:
            found[action] = strategies
    return found


class ClaimsImportView(ManagementView):
    """`POST resourceClaims/import`: a file as `load_claim_sets` reads it; `?dryRun=true` changes nothing."""

    def post(self, request: Request) -> Response:
        claims = _read(request)
        is_rehearsal = request.query_params.get("dryRun", "").lower() == "true"
        try:
            with self.written():
                change = load(claims, self.by, tenant=self.tenant, is_rehearsal=is_rehearsal)
        except (UnknownClaims, NotOfTheTenant) as error:
            raise problems.invalid_data({"$": [str(error)]}) from None
        return Response({"changes": list(change.lines), "leftOut": list(change.left_out)})


def _read(request: Request) -> Claims:
    try:
        claims = read_claims(read_body(request._request, api_settings.MAX_BODY_BYTES))
    except BodyTooLong:
        raise problems.too_large() from None
    except BodyIncomplete:
        raise problems.invalid_json() from None
    except UnusableClaimsFile as error:
        raise problems.invalid_data({"$": [str(error)]}) from None
    surface = current_surface()
    if wrong := [*unknown_in(claims, surface), *views_without_a_way(claims, surface)]:
        raise problems.invalid_data({"$": [f"There are no such strategies: {each}" for each in wrong]})
    return claims
