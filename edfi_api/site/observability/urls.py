"""Health and metrics over HTTP: the routes for operators."""

from django.http import HttpResponse
from prometheus_client import CONTENT_TYPE_LATEST
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.common import addresses
from edfi_api.common.addresses import fixed_path
from edfi_api.common.conf import api_settings
from edfi_api.common.logs.remote_address import is_from_this_host
from edfi_api.site.observability.health import CheckResult, data_stores, health_document, is_healthy, readiness
from edfi_api.site.observability.metrics import exposition
from edfi_api.site.observability.middleware import request_counts
from edfi_api.web.viewsets.edfi_view import OpenView


class LivenessView(OpenView):
    """Says that the process answers. Does not check the database, which restarting the server would not repair."""

    def get(self, request: Request) -> Response:
        return Response(health_document([]))


class ReadinessView(OpenView):
    """Says whether the server can handle requests: 503 while it cannot."""

    def results(self) -> list[CheckResult]:
        return readiness()

    def get(self, request: Request) -> Response:
        results = self.results()
        return Response(health_document(results), status=200 if is_healthy(results) else 503)


class HealthView(ReadinessView):
    """The health of the server, and whether data stores answer."""

    def results(self) -> list[CheckResult]:
        found = super().results()
        return [*found, *data_stores()] if is_healthy(found) else found


class MetricsView(OpenView):
    """All metrics, for Prometheus. The keys of clients are half of their credentials, and are shown on this host alone
    unless a setting says otherwise."""

    def get(self, request: Request) -> HttpResponse:
        request_counts.flush()
        has_clients = api_settings.METRICS_CLIENTS or is_from_this_host(request._request)
        return HttpResponse(exposition(has_clients=has_clients), content_type=CONTENT_TYPE_LATEST)


urlpatterns = [
    fixed_path(addresses.HEALTH, HealthView.as_view(), "health"),
    fixed_path(f"{addresses.HEALTH}/ready", ReadinessView.as_view(), "readiness"),
    fixed_path(f"{addresses.HEALTH}/live", LivenessView.as_view(), "liveness"),
]
if api_settings.METRICS:
    urlpatterns.append(fixed_path("metrics", MetricsView.as_view(), "metrics"))
