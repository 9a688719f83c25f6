"""Preloaded by the fork server of `processes`, so that the worker processes share the modules of their work."""

import django

from edfi_api.common.contributions import contributions

django.setup()
list(contributions("work_of_processes"))
