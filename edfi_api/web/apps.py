"""The app of templates and static files that all pages share."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    """Has no models."""

    name = "edfi_api.web"
    label = "edfi_web"
    verbose_name = "Pages"
