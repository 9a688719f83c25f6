"""Vendors with their applications."""

import re
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from edfi_api.data_stores.admin import TenantOwnedAdmin

from ..models import Application, Vendor
from .applications import remark
from .pages import CheckedItems, OneByOneAdmin

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S*\Z")


class ApplicationInline(CheckedItems, admin.TabularInline):  # type: ignore[type-arg]
    """The applications of a vendor."""

    model = Application
    fields = ["name", "claim_set", "education_organization_ids"]
    show_change_link = True
    extra = 0


class VendorForm(forms.ModelForm):  # type: ignore[type-arg]  # Django's takes no arguments at run time.
    """New namespace prefixes have to be beginnings of URIs; those that are stored may stay."""

    def clean_namespace_prefixes(self) -> list[str]:
        given: list[str] = self.cleaned_data["namespace_prefixes"]
        wrong = [each for each in given if each not in self.instance.namespace_prefixes and not _SCHEME.match(each)]
        if wrong:
            raise ValidationError(f"Not the beginning of a URI, such as uri://ed-fi.org: {', '.join(wrong)}")
        return given


@admin.register(Vendor)
class VendorAdmin(TenantOwnedAdmin, OneByOneAdmin):
    """A vendor, its namespace prefixes and its applications."""

    list_display = ["name", "namespace_prefixes"]
    form = VendorForm
    fields = ["name", "namespace_prefixes"]
    search_fields = ["name", "namespace_prefixes", "applications__name"]
    search_help_text = "A name, a namespace prefix, or the name of an application"
    inlines = [ApplicationInline]

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        super().save_formset(request, form, formset, change)
        for application in (*formset.new_objects, *(changed for changed, _ in formset.changed_objects)):
            remark(request, application)
