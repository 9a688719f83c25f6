"""The view of available change versions."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.api.viewsets.edfi_view import EdFiView
from edfi_api.changes.change_queries.versions import newest_change_version


class AvailableChangeVersionsView(EdFiView):
    """Oldest and newest change version, for any authenticated client
    (meadowlark/docs/reference/contract.md#change-queries)."""

    detail = None

    def get(self, request: Request, **kwargs: Any) -> Response:
        return Response({"oldestChangeVersion": 0, "newestChangeVersion": newest_change_version(self.using)})
