"""What can keep views from being created, with a line for each problem."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured

from edfi_api.common.commands import ErrorTexts
from edfi_api.features.sql_views.changes import ViewsNotInstalled
from edfi_api.features.sql_views.tables import UnusableNames
from edfi_api.model.apischema.format import ApiSchemaError
from edfi_api.model.metaed.errors import ModelErrors


def _lines(values: Any) -> str:
    return "\n".join(map(str, values))


ERRORS_OF_SQL_VIEWS: ErrorTexts = {
    ViewsNotInstalled: lambda refused: _lines(refused.args),
    UnusableNames: lambda refused: _lines(refused.args),
    ModelErrors: lambda errors: _lines(errors.problems),
    ApiSchemaError: str,
    ImproperlyConfigured: str,
    LookupError: str,
}
