"""Whether a client's claim set grants the action of a request on the resource.

On which documents it may be done is decided by `authorization.row_policy`.
"""

from functools import partial

from django.views import View
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from .actions import Action
from .authorization import row_policy
from .readable import readable
from .tokens import AuthenticatedClient
from .upserts import upsert_policy

# By the viewsets' names of their actions. See meadowlark/docs/authorization.md#claim-sets-and-actions.
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
    """Checks the client's claim set for views of a resource; other views only need an authenticated client.

    Sets the view's `policy` to the policy on rows, and its `may_read` to the function that limits which other documents
    errors may name. The exceptions of `claims.strategies` are more specific than False and propagate.
    """

    def has_permission(self, request: Request, view: View) -> bool:
        client, resource = request.user, getattr(view, "resource", None)
        if resource is not None:
            action = ACTIONS[view.action]
            is_upsert = action is Action.CREATE
            view.policy = (
                upsert_policy(client, resource, view.surface)
                if is_upsert
                else row_policy(client, resource, action, view.surface)
            )
            view.may_read = partial(readable, client, view.surface)
        return isinstance(client, AuthenticatedClient)
