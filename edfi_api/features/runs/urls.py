"""The routes of reports of runs, below the same address as those of the ledger of refusals."""

from edfi_api.common import addresses
from edfi_api.common.addresses import fixed_path
from edfi_api.features.runs.views import ReportView, RunsView

urlpatterns = [
    fixed_path(f"{addresses.SUBMISSIONS}/runs", RunsView.as_view(), "runs"),
    fixed_path(f"{addresses.SUBMISSIONS}/report", ReportView.as_view(), "run-report"),
]
