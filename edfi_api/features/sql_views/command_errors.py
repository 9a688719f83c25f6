"""What can keep views from being created → CommandError."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError

from edfi_api.features.sql_views.changes import ViewsNotInstalled
from edfi_api.features.sql_views.tables import UnusableNames
from edfi_api.model.apischema.errors import ApiSchemaError
from edfi_api.model.metaed.errors import ModelErrors


@contextmanager
def as_command_errors() -> Iterator[None]:
    """One line for each problem."""
    try:
        yield
    except (ViewsNotInstalled, UnusableNames) as refused:
        raise CommandError("\n".join(map(str, refused.args))) from refused
    except ModelErrors as errors:
        raise CommandError("\n".join(map(str, errors.problems))) from errors
    except (ApiSchemaError, ImproperlyConfigured, LookupError) as error:
        raise CommandError(str(error)) from error
