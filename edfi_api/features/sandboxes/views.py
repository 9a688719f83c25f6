"""`/submissions/v1/sandbox`: what the client's own sandbox is, and its reset."""

from typing import Any

import orjson
from django.http.response import HttpResponseBase

from edfi_api.core.security.requests.data_stores import data_store_in_address
from edfi_api.features.sandboxes.creating import reset_sandbox
from edfi_api.features.sandboxes.models import Sandbox
from edfi_api.web.problem_details.http_exceptions import ResourceNotFound
from edfi_api.web.viewsets.edfi_view import EdFiRequest, EdFiView
from edfi_api.web.viewsets.responses import EmptyResponse, JsonTextResponse


class SandboxView(EdFiView):
    """404 for a client that has no sandbox."""

    detail = None

    def choose_database(self, request: Any) -> None:
        """Choose none, and refuse an address of another data store: what is shown is in the admin database."""
        data_store_in_address(request.user, request)

    def get(self, request: EdFiRequest) -> HttpResponseBase:
        sandbox = _sandbox_of(request)
        ends = sandbox.client.expires_at
        members = {
            "name": sandbox.name,
            "shape": sandbox.shape,
            "isPopulated": sandbox.is_populated,
            "educationOrganizationIds": sandbox.client.application.education_organization_ids,
            "expiresAt": ends and ends.isoformat(timespec="seconds").replace("+00:00", "Z"),
            "resets": sandbox.generation - 1,
        }
        return JsonTextResponse(orjson.dumps(members))


class ResetView(SandboxView):
    """The tokens of the client end with the reset."""

    def get(self, request: EdFiRequest) -> HttpResponseBase:
        return self.http_method_not_allowed(request)

    def post(self, request: EdFiRequest) -> HttpResponseBase:
        reset_sandbox(_sandbox_of(request).name, by=request.user.key)
        return EmptyResponse(status=204)


def _sandbox_of(request: EdFiRequest) -> Sandbox:
    found = Sandbox.objects.select_related("client__application").filter(client=request.user.row_id).first()
    if found is None:
        raise ResourceNotFound
    return found
