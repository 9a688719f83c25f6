"""The app of descriptors: loading them, and looking at them in the admin."""

from django.apps import AppConfig


class DescriptorsConfig(AppConfig):
    """Descriptors are resources like all others; their documents live in `edfi_api`."""

    name = "descriptors"
    verbose_name = "Descriptors"
