"""The app of identities and references."""

from django.apps import AppConfig


class ReferencesConfig(AppConfig):
    """Aliases and references, whose constraints keep natural keys unique and references valid."""

    name = "references"
    verbose_name = "References"
