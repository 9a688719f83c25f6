"""The permission class of the API in Django REST framework's terms.

It lets every API client pass. What a client's claim set grants depends on the resource and the action, and is decided
by `authorization.authorize`, which the views call in addition to the permission classes of the settings.
"""

from django.views import View
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from .tokens import AuthenticatedClient


class IsApiClient(BasePermission):
    """Refuses requests without a valid token."""

    def has_permission(self, request: Request, view: View) -> bool:
        return isinstance(request.user, AuthenticatedClient)
