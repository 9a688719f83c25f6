"""The routes of validation."""

from edfi_api.common import addresses
from edfi_api.common.addresses import below, fixed_path
from edfi_api.core.security.profiles.catalog import ProfileCatalogs
from edfi_api.core.served import current_surface
from edfi_api.features.validation.http.results import (
    AvailableVersionsView,
    ResolvedResultsView,
    ResultsView,
    ResultView,
)
from edfi_api.features.validation.http.rules import RulesView, RuleView
from edfi_api.features.validation.http.runs import RunsView, RunView
from edfi_api.web.viewsets.edfi_view import UnknownResourceView

_RESULTS = f"{addresses.VALIDATION}/validationResults"

_surface = current_surface()
_parts = {"surface": _surface, "profiles": ProfileCatalogs(_surface)}

urlpatterns = [
    fixed_path(f"{addresses.VALIDATION}/validationRules", RulesView.as_view(**_parts), "validation-rules"),
    fixed_path(f"{addresses.VALIDATION}/validationRules/<item_id>", RuleView.as_view(**_parts), "validation-rule"),
    fixed_path(f"{addresses.VALIDATION}/validationRuns", RunsView.as_view(**_parts), "validation-runs"),
    fixed_path(f"{addresses.VALIDATION}/validationRuns/<item_id>", RunView.as_view(**_parts), "validation-run"),
    fixed_path(_RESULTS, ResultsView.as_view(**_parts), "validation-results"),
    fixed_path(f"{_RESULTS}/deletes", ResolvedResultsView.as_view(**_parts), "resolved-validation-results"),
    fixed_path(f"{_RESULTS}/<item_id>", ResultView.as_view(**_parts), "validation-result"),
    fixed_path(
        f"{addresses.VALIDATION}/availableChangeVersions",
        AvailableVersionsView.as_view(**_parts),
        "available-validation-versions",
    ),
    below(addresses.VALIDATION, UnknownResourceView.as_view(), "unknown-validation"),
]
