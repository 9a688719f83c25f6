"""A system check: whether the file of measures can be used."""

from typing import Any

from django.core.checks import CheckMessage, Warning, register

from edfi_api.common.conf import api_settings
from edfi_api.features.today.measures import UnusableMeasures, current_measures


@register
def measures_can_be_used(**_: Any) -> list[CheckMessage]:
    """A warning for each problem of an operator's file: the server is served without what Today would count."""
    if not api_settings.MEASURES:
        return []
    try:
        current_measures()
    except UnusableMeasures as error:
        return [Warning(f"MEADOWLARK_MEASURES: {line}", id="edfi_api.W010") for line in str(error).splitlines()]
    return []
