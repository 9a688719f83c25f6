"""The routes for operators: health and metrics."""

from edfi_api import addresses
from edfi_api.addresses import fixed_path
from edfi_api.conf import api_settings
from edfi_api.operation.observability.views import HealthView, LivenessView, MetricsView, ReadinessView

urlpatterns = [
    fixed_path(addresses.HEALTH, HealthView.as_view(), "health"),
    fixed_path(f"{addresses.HEALTH}/ready", ReadinessView.as_view(), "readiness"),
    fixed_path(f"{addresses.HEALTH}/live", LivenessView.as_view(), "liveness"),
]
if api_settings.METRICS:
    urlpatterns.append(fixed_path("metrics", MetricsView.as_view(), "metrics"))
