"""The app configuration of Django's admin with Meadowlark's admin site."""

from django.contrib.admin.apps import AdminConfig


class AdministrationConfig(AdminConfig):
    """Replaces `django.contrib.admin` in INSTALLED_APPS."""

    default_site = "edfi_api.operation.administration.site.AdministrationSite"
