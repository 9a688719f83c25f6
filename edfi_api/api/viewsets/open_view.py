"""The base view of public, read-only routes."""

from edfi_api.api.viewsets.edfi_view import EdFiView


class OpenView(EdFiView):
    """Needs no token; methods other than GET and HEAD are refused as on the data routes."""

    authentication_classes = []
    permission_classes = []
    detail = None
