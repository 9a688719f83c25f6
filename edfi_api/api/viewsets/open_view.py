"""The base view of public, read-only routes."""

from typing import Any

from edfi_api.api.viewsets.edfi_view import EdFiView


class OpenView(EdFiView):
    """Needs no token; methods other than GET and HEAD are refused as on the data routes."""

    authentication_classes = []
    permission_classes = []
    detail = None

    def choose_database(self, request: Any) -> None:
        """None: what these routes read is the same for all data stores, or in the control database."""
