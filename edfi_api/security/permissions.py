"""What an authenticated client may do. Until claim sets are there: everything."""

from django.views import View
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from .tokens import AuthenticatedClient


class IsAuthenticatedClient(BasePermission):
    """Any client with a valid token may do anything."""

    def has_permission(self, request: Request, view: View) -> bool:
        return isinstance(request.user, AuthenticatedClient)
