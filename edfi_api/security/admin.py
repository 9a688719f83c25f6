"""API clients in the admin: found, read, changed, switched off.

They are made by `manage.py create_api_client`, which shows the secret once; here it is never shown. The toolkit's
admin registers this class, by its setting `APPLICATION_ADMIN_CLASS`.
"""

from django.contrib import admin
from django.http import HttpRequest


class ApiClientAdmin(admin.ModelAdmin):
    """One page a client, one line in the list."""

    list_display = (
        "name",
        "client_id",
        "claim_set_name",
        "education_organization_ids",
        "namespace_prefixes",
        "is_active",
    )
    list_filter = ("is_active", "claim_set_name")
    search_fields = ("name", "client_id", "claim_set_name", "education_organization_ids", "namespace_prefixes")
    fields = (
        "name",
        "client_id",
        "is_active",
        "claim_set_name",
        "education_organization_ids",
        "namespace_prefixes",
        "created",
        "updated",
    )
    readonly_fields = ("client_id", "created", "updated")
    # The toolkit's pages about applications are not served.
    view_on_site = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False
