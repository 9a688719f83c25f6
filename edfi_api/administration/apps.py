"""Django's admin, with our front page."""

from django.contrib.admin.apps import AdminConfig


class AdministrationConfig(AdminConfig):
    """Stands in INSTALLED_APPS where Django's own would."""

    default_site = "edfi_api.administration.site.AdministrationSite"
