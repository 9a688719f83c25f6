"""Why there is no surface, as the text that the user of a command reads."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError

from edfi_api.apischema.errors import ApiSchemaError
from edfi_api.metaed import ModelErrors


@contextmanager
def as_command_errors() -> Iterator[None]:
    """Translate whatever may be wrong with the model or the settings that name it."""
    try:
        yield
    except (ModelErrors, ApiSchemaError, ImproperlyConfigured) as errors:
        raise CommandError(str(errors)) from errors
