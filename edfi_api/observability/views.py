"""Health and metrics over HTTP."""

from django.http import HttpResponse
from prometheus_client import CONTENT_TYPE_LATEST
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.observability.health import health_document, is_healthy, readiness
from edfi_api.observability.metrics import exposition
from edfi_api.viewsets.open_view import OpenView


class LivenessView(OpenView):
    """That the process answers; the database is not asked, since restarting a server does not mend it."""

    def get(self, request: Request) -> Response:
        return Response(health_document([]))


class ReadinessView(OpenView):
    """Whether requests can be sent here: 503 while they cannot."""

    def get(self, request: Request) -> Response:
        results = readiness()
        return Response(health_document(results), status=200 if is_healthy(results) else 503)


class MetricsView(OpenView):
    """Everything that is counted, for Prometheus."""

    def get(self, request: Request) -> HttpResponse:
        return HttpResponse(exposition(), content_type=CONTENT_TYPE_LATEST)
