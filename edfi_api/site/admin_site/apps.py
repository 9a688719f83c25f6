"""The app configuration of Django's admin with Meadowlark's admin site."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.contrib import admin
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core.checks import CheckMessage, Tags, register


class AdministrationConfig(SimpleAdminConfig):
    """Replaces `django.contrib.admin` in INSTALLED_APPS.

    The URL map imports the admin's pages: commands do without them, since they take a tenth of a simple command's time.
    """

    default_site = "edfi_api.site.admin_site.site.AdministrationSite"

    def ready(self) -> None:
        register(check_dependencies, Tags.admin)
        register(_check_pages, Tags.admin)


def _check_pages(app_configs: Sequence[AppConfig] | None, **options: Any) -> list[CheckMessage]:
    """Django's check of registered pages, which may run before the URL map is imported, or without it."""
    admin.autodiscover()
    return check_admin_app(app_configs, **options)
