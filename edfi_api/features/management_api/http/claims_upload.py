"""`management/upload-claims` and related paths: all resource claims and shared claim sets at once, in the form of
`edfi_api/core/security/claims/upload.py`."""

from collections.abc import Iterable
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from django.db import transaction
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.common.conf import api_settings
from edfi_api.core.security.claims.file import bundled_claims
from edfi_api.core.security.claims.model import Claims
from edfi_api.core.security.claims.spelling import ClaimNames, spelt_in_full
from edfi_api.core.security.claims.stored_claims import (
    NotOfTheTenant,
    hold_claims,
    replace_all,
    reserve,
    stored_claims,
    stored_names,
)
from edfi_api.core.security.claims.strategy_faults import unknown_in
from edfi_api.core.security.claims.upload import InvalidUpload, read_upload, uploadable
from edfi_api.core.security.models import ClaimSet, ClaimsVersion
from edfi_api.core.startup import current_surface
from edfi_api.features.management_api import problems
from edfi_api.features.management_api.answer_shapes import DescribedAnswer, ReplacedClaims
from edfi_api.features.management_api.bodies import read_object
from edfi_api.features.management_api.views import ManagementView


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
        with self.write_transaction():
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
    answers = {"post": DescribedAnswer(200, ReplacedClaims)}

    def post(self, request: Request) -> Response:
        try:
            read, reserved = read_upload(_sent(request))
        except InvalidUpload as error:
            raise problems.invalid_data(error.findings) from None
        claims = spelt_in_full(read, ClaimNames(current_surface(), stored_names()))
        if unknown := unknown_in(claims, current_surface()):
            texts = [f"There are no such strategies: {each}" for each in unknown]
            raise problems.invalid_data({"claimsHierarchy": texts})
        return self.replaced(claims, reserved, "claims uploaded")


class ReloadView(ClaimsView):
    """`POST management/reload-claims`: the bundled claims again."""

    what = "Claims reload"
    answers = {"post": DescribedAnswer(200, ReplacedClaims)}

    def post(self, request: Request) -> Response:
        bundled = bundled_claims(current_surface())
        return self.replaced(bundled, bundled.claim_sets, "bundled claims loaded")


class CurrentView(ClaimsView):
    """`GET management/current-claims`: what an upload would have to be like."""

    what = "Current claims"
    answers = {"get": DescribedAnswer(200, dict[str, Any])}

    @transaction.atomic
    def get(self, request: Request) -> Response:
        hold_claims()
        claims = stored_claims()
        reserved = set(ClaimSet.objects.filter(tenant=None, is_system_reserved=True).values_list("name", flat=True))
        return Response(uploadable(claims, reserved), headers={"X-Reload-Id": _reload_id()})


def _sent(request: Request) -> dict[str, Any]:
    """The member `claims` of the body. Raises a Refusal."""
    found = read_object(request._request).get("claims")
    if not isinstance(found, dict):
        raise problems.invalid_data({"Claims": ["Claims JSON is required"]})
    required = ("claimSets", "claimsHierarchy")
    missing = {name: [f"Missing required '{name}' property"] for name in required if name not in found}
    if missing:
        raise problems.invalid_data(missing)
    return found


def _reload_id() -> str:
    """Another one after every change of claims, the same for all processes."""
    version = ClaimsVersion.objects.values_list("version", flat=True).get()
    return str(uuid5(NAMESPACE_URL, f"claims/{version}"))
