"""The Django app of descriptors: loading them, and their admin pages."""

from django.apps import AppConfig


class DescriptorsConfig(AppConfig):
    """Has no tables of its own: descriptors are documents, stored by `edfi_api`."""

    name = "descriptors"
    verbose_name = "Descriptors"
