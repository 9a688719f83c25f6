"""Applications with their clients and profiles."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest
from django.utils.safestring import SafeString

from edfi_api.model.profiles.checking import ProfileChecker
from edfi_api.operation.administration.recorded import admin_user
from edfi_api.profiles.forms import ApplicationForm
from edfi_api.profiles.loading import assign_profiles, notices
from edfi_api.profiles.models import Profile
from edfi_api.startup import current_surface

from ..claims.remarks import remarks
from ..models import ApiClient, Application
from ..organizations import data_stores_of
from .organizations import named_organizations, unknown_organizations
from .pages import OneByOneAdmin


class ApiClientInline(admin.TabularInline):  # type: ignore[type-arg]
    """The clients of an application, read-only: their own pages create and change them, and handle the secrets."""

    model = ApiClient
    readonly_fields = ("name", "client_id", "is_active", "expires_at")
    fields = readonly_fields
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
            _assign(request, form.instance, form.cleaned_data["api_profiles"])

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
        """For users who may not change the application."""
        return ", ".join(profile.name for profile in application.profiles.all()) or "-"


def _assign(request: HttpRequest, application: Application, profiles: Iterable[Profile]) -> None:
    """Bind the clients of the application by these profiles, with the notices about each as warnings."""
    assigned = assign_profiles(application, [profile.name for profile in profiles], by=admin_user(request))
    checker = ProfileChecker(current_surface())
    for notice in (notice for profile in assigned for notice in notices(profile, checker)):
        messages.warning(request, f"{application}: {notice}")


def remark(request: HttpRequest, application: Application) -> None:
    """Show the remarks about the application's claim set and organizations as warnings on the next page."""
    unknown = unknown_organizations(application.education_organization_ids, data_stores_of(application))
    for text in (*remarks(application), *unknown):
        messages.warning(request, f"{application}: {text}")
