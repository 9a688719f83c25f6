"""The app of identities and references."""

from django.apps import AppConfig


class ReferencesConfig(AppConfig):
    """Aliases and references: what makes natural keys unique and references real."""

    name = "references"
    verbose_name = "References"
