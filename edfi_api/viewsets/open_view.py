"""Routes that are open to everyone and only read."""

from edfi_api.viewsets.edfi_view import EdFiView


class OpenView(EdFiView):
    """Asks for no token; everything but GET is refused in the words of the data routes.

    HEAD is a GET without a body, as monitors and load balancers send it; the data routes refuse it (http-api.md §8).
    """

    authentication_classes = []
    permission_classes = []
    http_method_names = ["get", "head"]
    detail = None
