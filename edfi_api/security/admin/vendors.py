"""Vendors with their applications."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from edfi_api.data_stores.admin import TenantOwnedAdmin

from ..models import Application, Vendor
from .applications import remark
from .pages import OneByOneAdmin


class ApplicationInline(admin.TabularInline):  # type: ignore[type-arg]
    """The applications of a vendor."""

    model = Application
    fields = ["name", "claim_set", "education_organization_ids"]
    show_change_link = True
    extra = 0


@admin.register(Vendor)
class VendorAdmin(TenantOwnedAdmin, OneByOneAdmin):
    """A vendor, its namespace prefixes and its applications."""

    list_display = ["name", "namespace_prefixes"]
    fields = ["name", "namespace_prefixes"]
    search_fields = ["name", "namespace_prefixes", "applications__name"]
    search_help_text = "A name, a namespace prefix, or the name of an application"
    inlines = [ApplicationInline]

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        super().save_formset(request, form, formset, change)
        for application in (*formset.new_objects, *(changed for changed, _ in formset.changed_objects)):
            remark(request, application)
