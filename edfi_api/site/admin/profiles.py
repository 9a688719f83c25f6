"""The admin's pages of API profiles."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from edfi_api.core.security.profiles.forms import ProfileForm
from edfi_api.core.security.profiles.loading import has_errors
from edfi_api.core.security.profiles.models import Profile
from edfi_api.core.startup import current_surface
from edfi_api.model.profiles.checking import ProfileChecker
from edfi_api.site.admin.data_stores import TenantOwnedAdmin
from edfi_api.web.admin_kit.one_by_one import OneByOneAdmin


@admin.register(Profile)
class ProfileAdmin(TenantOwnedAdmin, OneByOneAdmin):
    """A profile is as its definition says; one that is assigned to applications cannot be deleted."""

    form = ProfileForm
    list_display = ["name", "note", "number_of_applications", "fits"]
    ordering = ["name"]
    search_fields = ["name", "note", "applications__name"]
    search_help_text = "A name, a note, or the name of an application"
    fields = ["definition", "accept_warnings", "note", "used_by", "created_at", "modified_at"]
    readonly_fields = ["used_by", "created_at", "modified_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Profile]:
        queryset: QuerySet[Profile] = super().get_queryset(request)
        return queryset.annotate(_applications=Count("applications", distinct=True))

    def save_model(self, request: HttpRequest, obj: Profile, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        for remark in form.remarks():
            messages.warning(request, f"{obj}: {remark}")

    @admin.display(description="applications", ordering="_applications")
    def number_of_applications(self, profile: Profile) -> int:
        number: int = profile._applications  # type: ignore[attr-defined]  # annotated by `get_queryset`
        return number

    @admin.display(description="fits the standard", boolean=True)
    def fits(self, profile: Profile) -> bool:
        return not has_errors(profile, ProfileChecker(current_surface()))

    @admin.display(description="used by")
    def used_by(self, profile: Profile) -> SafeString:
        applications = profile.applications.all() if profile.pk else []
        lines = ((reverse("admin:security_application_change", args=[each.pk]), each) for each in applications)
        return format_html_join("", '<a href="{}">{}</a><br>', lines) or SafeString("-")
