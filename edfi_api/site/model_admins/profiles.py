"""The admin's pages of API profiles."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.widgets import AutocompleteSelectMultiple
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from edfi_api.core.data_stores.stores import visible_to
from edfi_api.core.security.models import Application
from edfi_api.core.security.profiles.loading import has_errors, read_definitions, refuses
from edfi_api.core.security.profiles.models import Profile, ProfileAssignment
from edfi_api.core.served import current_surface
from edfi_api.model.profiles.checking import CheckedProfile, ProfileChecker
from edfi_api.model.profiles.definition import Finding, FindingSeverity, ProfileDefinition, UnreadableDefinition
from edfi_api.model.profiles.json_files import canonical_json, read_canonical_json, write_json
from edfi_api.site.model_admins.data_stores import TenantOwnedAdmin
from edfi_api.web.admin_kit.deletion import OneByOneAdmin

_EDITOR = forms.Textarea(attrs={"rows": 30, "class": "vLargeTextField", "spellcheck": "false"})


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg]  # Django's takes no arguments at run time.
    """The definition has the name of the profile; `checked` is what was found about it."""

    definition = forms.CharField(
        widget=_EDITOR, strip=False, help_text="XML or JSON, as load_profiles reads it: one profile, with its name."
    )
    accept_warnings = forms.BooleanField(
        required=False,
        help_text="Store it although it names members that do not exist, or by rules that hide nothing, and so hides "
        "less than it says.",
    )
    checked: CheckedProfile | None = None

    class Meta:
        model = Profile
        fields = ["definition", "note"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["definition"] = _editable(self.instance)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if "definition" in cleaned:
            self._check(cleaned["definition"], accept_warnings=cleaned.get("accept_warnings", False))
        if self.checked is not None:
            self.instance.name = self.checked.definition.name
            cleaned["definition"] = canonical_json(self.checked.definition).decode()
        return cleaned

    def remarks(self) -> list[str]:
        """Return what was found about a definition that is stored."""
        return [] if self.checked is None else _lines(self.checked.findings)

    def _check(self, text: str, *, accept_warnings: bool) -> None:
        try:
            definition = _only(read_definitions(text.encode()))
        except UnreadableDefinition as error:
            self.add_error("definition", _lines(error.findings))
            return
        tenant = self.cleaned_data.get("tenant", self.instance.tenant)
        others = Profile.objects.exclude(pk=self.instance.pk).filter(visible_to(tenant) if tenant else Q())
        if others.filter(name__iexact=definition.name).exists():
            self.add_error("definition", f"There is another profile {definition.name}.")
        checked = ProfileChecker(current_surface()).check(definition)
        if refuses(checked, accept_warnings=accept_warnings):
            self.add_error("definition", _lines(checked.findings))
        else:
            self.checked = checked


def _only(definitions: list[ProfileDefinition]) -> ProfileDefinition:
    if len(definitions) != 1:
        text = f"There are {len(definitions)} profiles; this page is about one."
        raise UnreadableDefinition([Finding(0, FindingSeverity.ERROR, text)])
    return definitions[0]


def _lines(findings: Sequence[Finding]) -> list[str]:
    return [f"{_place(finding)}{finding.severity}: {finding.text}" for finding in findings]


def _place(finding: Finding) -> str:
    return f"Line {finding.line}: " if finding.line else ""


def _editable(profile: Profile) -> str:
    """The definition to edit; the stored text if it cannot be read."""
    try:
        return write_json([read_canonical_json(profile.definition.encode())]).decode()
    except UnreadableDefinition:
        return profile.definition


class ApplicationForm(forms.ModelForm):  # type: ignore[type-arg]  # Django's takes no arguments at run time.
    """An application and the profiles that its clients are bound by; the admin stores these after the application."""

    # The name is not `profiles`: for users who may only view, the admin would look for a field of the model.
    api_profiles = forms.ModelMultipleChoiceField(
        Profile.objects.all(),
        label="API profiles",
        required=False,
        widget=AutocompleteSelectMultiple(ProfileAssignment._meta.get_field("profile"), admin.site),
        help_text="What its clients see and write of the resources that these profiles name. None: everything.",
    )

    class Meta:
        model = Application
        fields = ["name", "vendor", "claim_set", "education_organization_ids"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["api_profiles"] = list(self.instance.profiles.all())

    def clean(self) -> dict[str, Any]:
        """Refuse profiles of another tenant; a trigger enforces this in the database."""
        cleaned = super().clean() or {}
        vendor = cleaned.get("vendor")
        for profile in cleaned.get("api_profiles", ()):
            if vendor is not None and profile.tenant_id not in (None, vendor.tenant_id):
                self.add_error("api_profiles", f"There is no profile {profile.name} for the vendor's tenant.")
        return cleaned


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
