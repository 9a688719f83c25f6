"""System checks that need no database: whether a variable of the environment is a misspelt setting, whether the model
compiles to a surface, and whether the rules of writes and the layout of the pages of persons fit it.
"""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

from django.core.checks import CheckMessage, Error, Warning, register
from django.core.exceptions import ImproperlyConfigured

from edfi_api.common.conf import api_settings
from edfi_api.common.logs.printable import counted
from edfi_api.common.settings_table import PREFIX, SETTINGS
from edfi_api.core.served import current_compilation
from edfi_api.core.writes.rules.configured import configured_rules
from edfi_api.model.apischema.format import ApiSchemaError
from edfi_api.model.metaed.errors import ModelErrors
from edfi_api.site.person_pages.layout import InvalidLayout, current_layout
from edfi_api.web.admin_kit.kinds import check_own_words

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
    """Log unknown variables at the start of a server."""
    for sentence in unknown_variables(os.environ):
        _log.warning(sentence)


def warnings_of_the_model() -> Iterator[str]:
    """A sentence that counts the warnings about the MetaEd text of the model, if there are any."""
    if number := current_compilation().text_warnings:
        yield f"The model has {counted(number, 'warning')}; manage.py check_model lists them."


def log_warnings_of_the_model() -> None:
    """Log the warnings of the model at the start of a server."""
    for sentence in warnings_of_the_model():
        _log.warning(sentence)


def problems_of_person_pages() -> list[str]:
    """A line for each problem of the layout of the pages of persons."""
    with suppress(ModelErrors, ApiSchemaError, ImproperlyConfigured):  # `model_makes_a_surface` reports it.
        try:
            current_layout()
        except InvalidLayout as error:
            return str(error).splitlines()
    return []


def log_problems_of_person_pages() -> None:
    """Log them at the start of a server, which serves everything but these pages."""
    for problem in problems_of_person_pages():
        _log.error(problem)


@register()
def variables_are_settings(**_: Any) -> list[CheckMessage]:
    return [Warning(sentence, id="edfi_api.W004") for sentence in unknown_variables(os.environ)]


@register()
def model_makes_a_surface(**_: Any) -> list[CheckMessage]:
    """An error for each problem of MetaEd text, with its location, or for the first problem of an ApiSchema file or the
    settings. A warning for each part of an ApiSchema file that is not served, and for what prevents XML schemas; the
    number of others."""
    try:
        compilation = current_compilation()
    except ModelErrors as errors:
        return [Error(str(problem), id="edfi_api.E001") for problem in errors.problems]
    except ApiSchemaError as error:
        return [Error(str(error), id="edfi_api.E002")]
    except ImproperlyConfigured as error:
        return [Error(str(error), id="edfi_api.E003")]
    return [
        *(Warning(warning, id="edfi_api.W001") for warning in compilation.schema_files.warnings),
        *(Warning(warning, id="edfi_api.W003") for warning in compilation.warnings),
        *(Warning(sentence, id="edfi_api.W009") for sentence in warnings_of_the_model()),
    ]


@register()
def words_of_kinds_can_be_read(**_: Any) -> list[CheckMessage]:
    """An error for a file of words that cannot be used."""
    try:
        check_own_words()
    except ImproperlyConfigured as error:
        return [Error(str(error), id="edfi_api.E012")]
    return []


@register()
def write_rules_fit(**_: Any) -> list[CheckMessage]:
    """An error for each problem of the rules of writes, without which the server does not start."""
    if not api_settings.WRITE_RULES:
        return []
    with suppress(ModelErrors, ApiSchemaError, ImproperlyConfigured):  # `model_makes_a_surface` reports it.
        return [Error(problem, id="edfi_api.E008") for problem in configured_rules().problems]
    return []


@register()
def pages_of_persons_fit(**_: Any) -> list[CheckMessage]:
    """An error for each line about the layout of the pages of persons."""
    return [Error(problem, id="edfi_api.E011") for problem in problems_of_person_pages()]
