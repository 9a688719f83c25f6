"""Routes that are open to everyone and only read."""

from edfi_api.viewsets.edfi_view import EdFiView


class OpenView(EdFiView):
    """Asks for no token; everything but GET and HEAD is refused in the words of the data routes."""

    authentication_classes = []
    permission_classes = []
    detail = None
