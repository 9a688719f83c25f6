"""Vendors with their applications, and these with their clients and profiles; and the page that gives a vendor access
in one step: vendor, application, claim set, organizations by name → key and secret."""

import re
from datetime import timedelta
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.safestring import SafeString

from edfi_api.common.logs.audit import attribute_to
from edfi_api.core.data_stores.models import DataStore, Tenant
from edfi_api.core.security.clients import create_application
from edfi_api.core.security.credentials import Credentials
from edfi_api.core.security.models import ApiClient, Application, ClaimSet, Vendor
from edfi_api.core.security.organizations import data_stores_of, organizations_named
from edfi_api.core.security.profiles.models import Profile
from edfi_api.features.sandboxes.creating import Wanted, create_sandbox
from edfi_api.features.sandboxes.exceptions import SandboxFailed
from edfi_api.features.sandboxes.models import Shape
from edfi_api.site.model_admins.data_stores import TenantOwnedAdmin
from edfi_api.site.model_admins.profiles import ApplicationForm
from edfi_api.site.model_admins.security.api_clients import secret_context
from edfi_api.site.model_admins.security.pages import assign, named_organizations, remark
from edfi_api.web.admin_kit.authorship import admin_user
from edfi_api.web.admin_kit.deletion import CheckedItems, OneByOneAdmin
from edfi_api.web.admin_kit.readable_values import shown_time

_PERMISSIONS = ("security.add_vendor", "security.add_application", "security.add_apiclient")
_SEPARATOR = re.compile(r"[\n;]+")
_LISTED = 5
_TAKEN = "The name is taken."
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


class OnboardingForm(forms.Form):
    """An existing vendor or a new one, and its application with one client."""

    vendor = forms.ModelChoiceField(
        Vendor.objects.all(), required=False, empty_label="a new vendor, named below", label="Vendor"
    )
    vendor_name = forms.CharField(required=False, max_length=256, label="Name of the new vendor")
    contact_name = forms.CharField(required=False, max_length=128, label="Contact")
    contact_email = forms.EmailField(required=False, max_length=320, label="Email of the contact")
    namespace_prefixes = forms.CharField(
        required=False,
        help_text="Beginnings of the namespaces of its descriptors and assessments, separated by blanks: "
        "uri://vendor.example",
    )
    application = forms.CharField(max_length=256, label="Name of the application")
    sandbox = forms.ChoiceField(
        choices=[("", "no, to the data of this server"), *Shape.choices],
        required=False,
        label="Access to a sandbox",
        help_text="A database of its own, with the claim set and the organizations for this kind of client; its name "
        "is that of the application. The first one takes a minute.",
    )
    is_populated = forms.BooleanField(required=False, label="Sandbox with the demo district")
    days = forms.IntegerField(
        required=False, min_value=1, max_value=3650, label="Days until the sandbox ends", help_text="Empty: no end."
    )
    claim_set = forms.ModelChoiceField(
        ClaimSet.objects.all(), required=False, help_text="What it may do; a sandbox has that of its kind."
    )
    organizations = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="One a line: the id of an education organization, its name, or a part of the name. What lies below "
        "it is included.",
    )
    profiles = forms.ModelMultipleChoiceField(Profile.objects.all(), required=False)
    data_stores = forms.ModelMultipleChoiceField(DataStore.objects.all(), required=False)
    tenant = forms.ModelChoiceField(Tenant.objects.all(), required=False)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name in ("profiles", "data_stores", "tenant"):
            if not self.fields[name].queryset.exists():  # type: ignore[attr-defined]  # Of ModelChoiceField.
                del self.fields[name]

    def clean_namespace_prefixes(self) -> list[str]:
        return str(self.cleaned_data["namespace_prefixes"]).replace(",", " ").split()

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not cleaned.get("vendor") and not cleaned.get("vendor_name"):
            self.add_error("vendor_name", "Choose a vendor, or name a new one.")
        if not cleaned.get("sandbox") and not cleaned.get("claim_set") and "claim_set" not in self.errors:
            self.add_error("claim_set", "This field is required.")
        stores = [store.pk for store in cleaned.get("data_stores", ())]
        cleaned["organization_ids"] = self._organization_ids(cleaned.get("organizations", ""), stores)
        return cleaned

    def _organization_ids(self, text: str, stores: list[int]) -> list[int]:
        given = [each.strip() for each in _SEPARATOR.split(text) if each.strip()]
        ids = [int(each) for each in given if each.isdecimal()]
        for name in (each for each in given if not each.isdecimal()):
            found = organizations_named(name, stores)
            if len(found) == 1:
                ids += found
            else:
                self.add_error("organizations", _not_one(name, found))
        return list(dict.fromkeys(ids))


def onboarding_page(request: HttpRequest, site: AdminSite) -> HttpResponse:
    """GET shows the form, POST stores all of it or nothing, and shows the secret. Raises PermissionDenied."""
    if not request.user.has_perms(_PERMISSIONS):
        raise PermissionDenied
    form = OnboardingForm(request.POST or None)
    context = {**site.each_context(request), "title": "Give a vendor access", "form": form}
    if request.method == "POST" and form.is_valid() and (made := _made(request, form)):
        client, credentials = made
        shown = {"title": f"The secret of {client}", "client": client, "credentials": credentials}
        page = context | shown | secret_context(request, client, credentials)
        return TemplateResponse(request, "admin/security/apiclient/secret.html", page)
    return TemplateResponse(request, "admin/security/onboarding.html", context)


def _made(request: HttpRequest, form: OnboardingForm) -> tuple[ApiClient, Credentials] | None:
    """Make what the form describes; return None with errors on the form."""
    if form.cleaned_data["sandbox"]:
        return _made_sandbox(request, form)
    try:
        with transaction.atomic():
            attribute_to(admin_user(request))
            vendor = _create_vendor(form.cleaned_data)
            application = Application(
                vendor=vendor,
                name=form.cleaned_data["application"],
                claim_set=form.cleaned_data["claim_set"],
                education_organization_ids=form.cleaned_data["organization_ids"],
            )
            application.full_clean()
            stores = [store.pk for store in form.cleaned_data.get("data_stores", ())]
            credentials = create_application(application, stores, by=admin_user(request))
            assign(request, application, form.cleaned_data.get("profiles", ()))
    except ValidationError as error:
        for text in error.messages:
            form.add_error(None, text)
        return None
    except IntegrityError:
        form.add_error(None, _TAKEN)
        return None
    remark(request, application)
    return ApiClient.objects.get(client_id=credentials.key), credentials


def _made_sandbox(request: HttpRequest, form: OnboardingForm) -> tuple[ApiClient, Credentials] | None:
    given = form.cleaned_data
    vendor = given["vendor"] or _new_vendor(given)
    wanted = Wanted(
        name=given["application"],
        shape=Shape(given["sandbox"]),
        is_populated=given["is_populated"],
        expires_at=timezone.now() + timedelta(days=given["days"]) if given["days"] else None,
        vendor=vendor,
        tenant=vendor.tenant,
    )
    try:
        made = create_sandbox(wanted, by=admin_user(request))
    except SandboxFailed as error:
        form.add_error(None, str(error))
        return None
    remark(request, made.sandbox.client.application)
    return made.sandbox.client, made.credentials


def _create_vendor(given: dict[str, Any]) -> Vendor:
    if given["vendor"]:
        vendor: Vendor = given["vendor"]
        return vendor
    vendor = _new_vendor(given)
    vendor.full_clean()
    vendor.save()
    return vendor


def _new_vendor(given: dict[str, Any]) -> Vendor:
    return Vendor(
        name=given["vendor_name"],
        contact_name=given["contact_name"],
        contact_email=given["contact_email"],
        namespace_prefixes=given["namespace_prefixes"],
        tenant=given.get("tenant"),
    )


def _not_one(name: str, found: dict[int, str]) -> str:
    if not found:
        return f'No education organization is called "{name}".'
    listed = "; ".join(f"{id_} {each}" for id_, each in list(found.items())[:_LISTED])
    more = " and more" if len(found) > _LISTED else ""
    return f'Several education organizations have "{name}" in their names: {listed}{more}.'
