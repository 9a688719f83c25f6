"""The routes of sandboxes."""

from edfi_api.common import addresses
from edfi_api.common.addresses import fixed_path
from edfi_api.features.sandboxes.views import ResetView, SandboxView

urlpatterns = [
    fixed_path(f"{addresses.SUBMISSIONS}/sandbox", SandboxView.as_view(), "sandbox"),
    fixed_path(f"{addresses.SUBMISSIONS}/sandbox/reset", ResetView.as_view(), "sandbox-reset"),
]
