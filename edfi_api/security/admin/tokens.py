"""Access tokens, and the models of django-oauth-toolkit that are not used."""

from django.contrib import admin
from django.http import HttpRequest


class AccessTokenAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Issued tokens, read-only; deleting one revokes it."""

    list_display = ["application", "created", "expires"]
    list_display_links = ["created"]
    list_select_related = ["application"]
    search_fields = ["application__name", "application__client_id"]
    search_help_text = "The name or the key of an API client"
    ordering = ["-id"]
    fields = ["application", "created", "expires"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class UnusedAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Hides the toolkit's models for browser-based grants, which this server does not offer."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    has_add_permission = has_change_permission = has_delete_permission = has_view_permission
