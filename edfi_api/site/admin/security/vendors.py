"""Vendors with their applications, and these with their clients and profiles."""

import re
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.urls import URLPattern, path
from django.utils.safestring import SafeString

from edfi_api.core.security.models import ApiClient, Application, Vendor
from edfi_api.core.security.organizations import data_stores_of
from edfi_api.site.admin.data_stores import TenantOwnedAdmin
from edfi_api.site.admin.profiles import ApplicationForm
from edfi_api.site.admin.security.onboarding import onboarding_page
from edfi_api.site.admin.security.pages import assign, named_organizations, remark
from edfi_api.web.admin_kit.deletion import CheckedItems, OneByOneAdmin
from edfi_api.web.admin_kit.readable_values import shown_time

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
    fields = ["name", "contact_name", "contact_email", "namespace_prefixes"]
    search_fields = ["name", "namespace_prefixes", "applications__name"]
    search_help_text = "A name, a namespace prefix, or the name of an application"
    inlines = [ApplicationInline]
    change_list_template = "admin/security/vendor/change_list.html"

    def get_urls(self) -> list[URLPattern]:
        page = self.admin_site.admin_view(lambda request: onboarding_page(request, self.admin_site))
        return [path("onboarding/", page, name="security_onboarding"), *super().get_urls()]

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        super().save_formset(request, form, formset, change)
        for application in (*formset.new_objects, *(changed for changed, _ in formset.changed_objects)):
            remark(request, application)


class ApiClientInline(admin.TabularInline):  # type: ignore[type-arg]
    """The clients of an application, read-only: their own pages create and change them, and handle the secrets."""

    model = ApiClient
    readonly_fields: ClassVar[Any] = ("name", "client_id", "is_active", shown_time(ApiClient, "expires_at"))
    fields: ClassVar[Any] = readonly_fields
    show_change_link = True
    extra = 0
    can_delete = False
    # The toolkit's pages about applications are not served.
    view_on_site = False

    def has_add_permission(self, request: HttpRequest, obj: Application | None = None) -> bool:
        return False


@admin.register(Application)
class ApplicationAdmin(OneByOneAdmin):
    """An application of a vendor, with the claim set and organizations of its clients."""

    list_display = ["name", "vendor", "claim_set_shown", "education_organization_ids"]
    list_select_related = ["vendor"]
    list_filter = ["claim_set", "vendor"]
    search_fields = ["name", "vendor__name", "claim_set_name", "education_organization_ids", "api_clients__client_id"]
    search_help_text = "A name, a vendor, a claim set, an education organization id, or the key of a client"
    autocomplete_fields = ["vendor", "claim_set"]
    form = ApplicationForm
    readonly_fields = ["organizations"]
    inlines = [ApiClientInline]

    def save_model(self, request: HttpRequest, obj: Application, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        remark(request, obj)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        if "api_profiles" in form.changed_data:
            assign(request, form.instance, form.cleaned_data["api_profiles"])

    @admin.display(description="claim set", ordering="claim_set_name")
    def claim_set_shown(self, application: Application) -> str:
        return application.claim_set_shown

    @admin.display(description="names of organizations")
    def organizations(self, application: Application) -> SafeString:
        if not application.pk:
            return SafeString("-")
        return named_organizations(application.education_organization_ids, data_stores_of(application))

    @admin.display(description="API profiles")
    def api_profiles(self, application: Application) -> str:
        """Show the profiles to users who may not change the application."""
        return ", ".join(profile.name for profile in application.profiles.all()) or "-"
