"""System check: whether the model compiles to a surface. Runs with Django's checks, before the server starts."""

from typing import Any

from django.core.checks import CheckMessage, Error, Warning, register
from django.core.exceptions import ImproperlyConfigured

from edfi_api.model.apischema.errors import ApiSchemaError
from edfi_api.model.metaed.errors import ModelErrors
from edfi_api.startup import current_compilation


@register()
def model_makes_a_surface(**_: Any) -> list[CheckMessage]:
    """An error for each problem of MetaEd text, with its location, or for the first problem of an ApiSchema file or the
    settings. A warning for each part of an ApiSchema file that is not served, and for what prevents XML schemas."""
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
    ]
