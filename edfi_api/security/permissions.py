"""What an authenticated client may do at all: the actions that its claim set grants.

Which documents it may do them with is decided by `authorization.guard`.
"""

from functools import partial

from django.views import View
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from .actions import Action
from .authorization import guard
from .readable import readable
from .tokens import AuthenticatedClient
from .upserts import upsert_guard

# By the names that viewsets give to what they do. See meadowlark/docs/authorization.md#claim-sets-and-actions.
ACTIONS = {
    "list": Action.READ,
    "retrieve": Action.READ,
    "partitions": Action.READ,
    "create": Action.CREATE,
    "update": Action.UPDATE,
    "destroy": Action.DELETE,
    "deletes": Action.READ_CHANGES,
    "key_changes": Action.READ_CHANGES,
}


class ClaimSetPermission(BasePermission):
    """Asks the client's claim set about views of a resource; of all others it wants an authenticated client.

    What it demands of documents becomes the view's `guard`, and whom it lets read what, for names of other documents,
    its `may_read`. The refusals of `claims.strategies` say more than False, and leave as they are.
    """

    def has_permission(self, request: Request, view: View) -> bool:
        client, resource = request.user, getattr(view, "resource", None)
        if resource is not None:
            action = ACTIONS[view.action]
            is_upsert = action is Action.CREATE
            view.guard = (
                upsert_guard(client, resource, view.surface)
                if is_upsert
                else guard(client, resource, action, view.surface)
            )
            view.may_read = partial(readable, client, view.surface)
        return isinstance(client, AuthenticatedClient)
