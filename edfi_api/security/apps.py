"""The Django app that knows who may call the API."""

from django.apps import AppConfig


class SecurityConfig(AppConfig):
    """Label `security`, which `OAUTH2_PROVIDER_APPLICATION_MODEL` names."""

    name = "edfi_api.security"
    label = "security"
    verbose_name = "API security"
