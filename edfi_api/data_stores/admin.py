"""What admin pages of rows that belong to tenants have in common."""

from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from edfi_api.conf import api_settings


# Django's classes take no type arguments at run time.
class TenantOwnedAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Shows the tenant of a row, which is chosen when it is made; on a server without tenants nothing about them."""

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        fields = [field for field in super().get_fields(request, obj) if field != "tenant"]
        return ["tenant", *fields] if api_settings.MULTI_TENANCY else fields

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        fields = super().get_readonly_fields(request, obj)
        return fields if obj is None else [*fields, "tenant"]

    def get_list_display(self, request: HttpRequest) -> Any:
        shown = super().get_list_display(request)
        return [*shown, "tenant"] if api_settings.MULTI_TENANCY else shown

    def get_list_filter(self, request: HttpRequest) -> Any:
        filters = super().get_list_filter(request)
        return [*filters, "tenant"] if api_settings.MULTI_TENANCY else filters
