#!/usr/bin/env python
"""Django's command line for Meadowlark."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from edfi_api.apischema.errors import ApiSchemaError
from edfi_api.metaed import ModelErrors

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")
    try:
        execute_from_command_line(sys.argv)
    except (ModelErrors, ApiSchemaError, ImproperlyConfigured) as error:
        sys.exit(str(error))  # The URL map needs the model, and so do Django's checks before almost every command.
