"""The base of views of documents: each action authorizes itself, at the point that the order of checks requires
(meadowlark/docs/reference/contract.md#order-of-checks)."""

from typing import cast

from django.db import ProgrammingError
from rest_framework.response import Response

from edfi_api.api.viewsets.edfi_view import EdFiRequest, EdFiView
from edfi_api.model.surface.resource import Resource, Surface
from edfi_api.security.authorization import ACTIONS, Authorization, authorize, refusal_behind


class AuthorizedView(EdFiView):
    """A view of documents of one resource; `action` is the name of the requested action."""

    action: str
    resource: Resource
    surface: Surface

    def authorize(self, request: EdFiRequest) -> Authorization:
        """What the client may do. Raises what the permission classes of the settings and the claim set refuse."""
        self.check_permissions(request)
        return authorize(request.user, self.resource, ACTIONS[self.action], self.surface, self.using)

    def handle_exception(self, exc: Exception) -> Response:
        """As DRF's; an error in the SQL of a custom view is reported as such."""
        if isinstance(exc, ProgrammingError):
            client = cast(EdFiRequest, self.request).user
            exc = refusal_behind(client, self.resource, ACTIONS[self.action], self.surface, self.using) or exc
        return super().handle_exception(exc)
