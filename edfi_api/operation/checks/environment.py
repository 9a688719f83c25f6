"""System check: whether a variable of the environment is a misspelt setting."""

import logging
import os
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from django.core.checks import CheckMessage, Warning, register

from edfi_api.setting import PREFIX
from edfi_api.settings_table import SETTINGS

_log = logging.getLogger(__name__)


def unknown_variables(environment: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each variable that is named as a setting and is none, with the nearest name. Connection strings of
    data stores may be in variables of any name."""
    known = [setting.variable.removeprefix(PREFIX) for setting in SETTINGS.values()]
    for variable, value in sorted(environment.items()):
        name = variable.removeprefix(PREFIX)
        if variable.startswith(PREFIX) and name not in known and "://" not in value:
            nearest = get_close_matches(name, known, n=1)
            yield f"{variable} is not a setting.{f' Is {PREFIX}{nearest[0]} meant?' if nearest else ''}"


def log_unknown_variables() -> None:
    """At the start of a server."""
    for sentence in unknown_variables(os.environ):
        _log.warning(sentence)


@register()
def variables_are_settings(**_: Any) -> list[CheckMessage]:
    return [Warning(sentence, id="edfi_api.W004") for sentence in unknown_variables(os.environ)]
