"""System check: do the MetaEd projects compile? Runs where Django runs its checks, before the first client."""

from typing import Any

from django.core.checks import CheckMessage, Error, register

from edfi_api.metaed import ModelErrors
from edfi_api.startup import current_surface


@register()
def metaed_projects_compile(**_: Any) -> list[CheckMessage]:
    """Each problem of the model text as one error with file, line and column."""
    try:
        current_surface()
    except ModelErrors as errors:
        return [Error(str(problem), id="edfi_api.E001") for problem in errors.problems]
    return []
