"""Admin pages for vendors, applications, API clients, claim sets and access tokens.

A secret is shown once, on the page that follows the creation of a client or the rotation of its secret.
django-oauth-toolkit registers `ApiClientAdmin`, through its setting `APPLICATION_ADMIN_CLASS`.
"""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.postgres.forms import SimpleArrayField
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Max, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.formats import localize
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from oauth2_provider.models import get_access_token_model

from edfi_api.conf import api_settings
from edfi_api.data_stores.admin import TenantOwnedAdmin
from edfi_api.data_stores.models import DataStore
from edfi_api.model.profiles.checking import ProfileChecker
from edfi_api.models import OrganizationClosure
from edfi_api.profiles.assignment_form import ApplicationForm
from edfi_api.profiles.loading import assign_profiles, notices
from edfi_api.profiles.models import Profile
from edfi_api.refusals.models import SubmissionHour
from edfi_api.startup import current_surface

from .actions import Action
from .admin_explanation import lines
from .admin_login import ThrottledLoginForm
from .claims import inherited_defaults
from .clients import Credentials, disable_client, new_secret, rotate_secret
from .models import (
    ApiClient,
    ApiClientDataStore,
    Application,
    ClaimSet,
    DefaultStrategies,
    Grant,
    OverridingStrategies,
    ResourceClaim,
    Vendor,
)
from .policies.table import STRATEGIES
from .remarks import remarks
from .strategy_faults import advice_on_views, unknown_for

admin.site.login_form = ThrottledLoginForm


# Django's classes take no type arguments at run time.
class OneByOneAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """No bulk deletion: each row is deleted on a page that lists its dependent rows, and each deletion is logged."""

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {name: action for name, action in super().get_actions(request).items() if name != "delete_selected"}


def remark(request: HttpRequest, application: Application) -> None:
    """Show the remarks about the application's claim set and organizations as warnings on the next page."""
    for text in (*remarks(application), *_unknown_organizations(application)):
        messages.warning(request, f"{application}: {text}")


def _unknown_organizations(application: Application) -> list[str]:
    """No error, since an application may be made before its organizations. Nothing where documents may be in data
    stores, which have organizations of their own."""
    if DataStore.objects.exists():
        return []
    ids = application.education_organization_ids
    known = OrganizationClosure.objects.filter(descendant_id__in=ids).values_list("descendant_id", flat=True)
    unknown = sorted(set(ids) - set(known))
    return [f"There is no education organization {', '.join(map(str, unknown))} yet."] if unknown else []


class StrategiesField(forms.MultipleChoiceField):
    """Choices are Ed-Fi's strategies and any others that are already stored."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"choices": _strategy_choices, "widget": forms.SelectMultiple(attrs={"size": 6})})


def _strategy_choices() -> list[tuple[str, str]]:
    stored = [
        name
        for model in (DefaultStrategies, OverridingStrategies)
        for names in model.objects.values_list("strategies", flat=True)
        for name in names
    ]
    return [(name, name) for name in dict.fromkeys([*STRATEGIES, *stored])]


class StrategiesForm(forms.ModelForm):  # type: ignore[type-arg]
    """The strategies of one action."""

    strategies = StrategiesField(
        required=False,
        help_text="Several: one of the relationship strategies has to let a document through, and all of the others.",
    )
    custom_views = SimpleArrayField(
        forms.CharField(), required=False, help_text="Further ones, such as StudentWithCTEProgram, separated by commas."
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        names = list(dict.fromkeys([*cleaned.get("strategies", ()), *cleaned.get("custom_views", ())]))
        if not names:
            self.add_error("strategies", "Choose a strategy, or name a custom view.")
        if unknown := unknown_for(cleaned.get("action", ""), names, current_surface()):
            self.add_error(
                "strategies", f"Unknown, or not for this action: {', '.join(unknown)}.{advice_on_views(unknown)}"
            )
        return cleaned | {"strategies": names}


class StrategiesInline(admin.TabularInline):  # type: ignore[type-arg]
    """Strategies by action."""

    form = StrategiesForm
    fields = ["action", "strategies", "custom_views"]
    extra = 0
    max_num = len(Action)


class DefaultStrategiesInline(StrategiesInline):
    """The default strategies of a resource claim."""

    model = DefaultStrategies
    verbose_name_plural = "Default strategies of this claim and of all below it; the nearest to a resource count"


class OverridingStrategiesInline(StrategiesInline):
    """The strategies that a grant uses in place of the defaults."""

    model = OverridingStrategies
    verbose_name_plural = "Strategies in place of the defaults"


class GrantForm(forms.ModelForm):  # type: ignore[type-arg]
    """The actions of a grant, as checkboxes."""

    actions = forms.MultipleChoiceField(choices=Action.choices, widget=forms.CheckboxSelectMultiple)


class GrantInline(admin.TabularInline):  # type: ignore[type-arg]
    """The grants of a claim set."""

    model = Grant
    form = GrantForm
    fields = ["resource_claim", "actions", "in_place_of_defaults"]
    readonly_fields = ["in_place_of_defaults"]
    autocomplete_fields = ["resource_claim"]
    show_change_link = True
    extra = 0
    verbose_name_plural = (
        "Grants: a domain stands for everything in it. The page of a grant sets strategies in place of the defaults"
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Grant]:
        return super().get_queryset(request).select_related("resource_claim").prefetch_related("overrides")

    @admin.display(description="strategies in place of the defaults")
    def in_place_of_defaults(self, grant: Grant) -> SafeString:
        overrides = grant.overrides.all() if grant.pk else []
        return format_html_join("", "{}<br>", ((each,) for each in overrides)) or SafeString("-")


@admin.register(ClaimSet)
class ClaimSetAdmin(TenantOwnedAdmin, OneByOneAdmin):
    """A claim set with its grants and the applications that use it."""

    list_display = ["name", "description", "number_of_applications"]
    ordering = ["name"]
    search_fields = ["name", "description", "grants__resource_claim__name"]
    search_help_text = "A name, or a resource claim that is granted"
    fields = ["name", "description", "used_by"]
    readonly_fields = ["used_by"]
    inlines = [GrantInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ClaimSet]:
        queryset: QuerySet[ClaimSet] = super().get_queryset(request)
        return queryset.annotate(_applications=Count("applications", distinct=True))

    @admin.display(description="applications", ordering="_applications")
    def number_of_applications(self, claim_set: ClaimSet) -> int:
        number: int = claim_set._applications  # type: ignore[attr-defined]  # annotated by `get_queryset`
        return number

    @admin.display(description="used by")
    def used_by(self, claim_set: ClaimSet) -> SafeString:
        return _links(claim_set.applications.all() if claim_set.pk else [], "application")


@admin.register(Grant)
class GrantAdmin(OneByOneAdmin):
    """One grant of a claim set; linked from the page of the claim set, absent from the index."""

    form = GrantForm
    list_display = ["resource_claim", "claim_set", "actions"]
    list_filter = ["claim_set"]
    list_select_related = ["resource_claim", "claim_set"]
    search_fields = ["resource_claim__name", "claim_set__name"]
    autocomplete_fields = ["claim_set", "resource_claim"]
    inlines = [OverridingStrategiesInline]


@admin.register(ResourceClaim)
class ResourceClaimAdmin(OneByOneAdmin):
    """A resource, service or domain with its parent and the default strategies of its actions."""

    list_display = ["name", "parent"]
    list_select_related = ["parent"]
    list_filter = [("parent", admin.RelatedOnlyFieldListFilter)]
    search_fields = ["name", "parent__name"]
    search_help_text = "A name such as student or domains/people, or that of the domain around it"
    fields = ["name", "parent", "what_counts", "children_shown", "granted_to"]
    readonly_fields = ["what_counts", "children_shown", "granted_to"]
    autocomplete_fields = ["parent"]
    inlines = [DefaultStrategiesInline]

    @admin.display(description="defaults that count here")
    def what_counts(self, claim: ResourceClaim) -> SafeString:
        counting = inherited_defaults(claim.name) if claim.pk else {}
        lines = ((action, ", ".join(names), origin) for action, (names, origin) in counting.items())
        return format_html_join("", "{}: {} (from {})<br>", lines) or SafeString("none")

    @admin.display(description="in it")
    def children_shown(self, claim: ResourceClaim) -> SafeString:
        return _links(claim.children.all() if claim.pk else [], "resourceclaim")

    @admin.display(description="granted to")
    def granted_to(self, claim: ResourceClaim) -> SafeString:
        return _links(ClaimSet.objects.filter(grants__resource_claim=claim) if claim.pk else [], "claimset")


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

    @admin.display(description="API profiles")
    def api_profiles(self, application: Application) -> str:
        """For users who may not change the application."""
        return ", ".join(profile.name for profile in application.profiles.all()) or "-"


def _assign(request: HttpRequest, application: Application, profiles: Iterable[Profile]) -> None:
    """Bind the clients of the application by these profiles, with the notices about each as warnings."""
    by = f"admin:{request.user.get_username()}"
    assigned = assign_profiles(application, [profile.name for profile in profiles], by=by)
    checker = ProfileChecker(current_surface())
    for notice in (notice for profile in assigned for notice in notices(profile, checker)):
        messages.warning(request, f"{application}: {notice}")


class DataStoreInline(admin.TabularInline):  # type: ignore[type-arg]
    """The data stores that a client may use."""

    model = ApiClientDataStore
    autocomplete_fields = ["data_store"]
    extra = 0
    verbose_name_plural = "Data stores: the address of a request chooses one of them"


class ApiClientAdmin(OneByOneAdmin):
    """API clients: search by all of their attributes, creation, deactivation and rotation of the secret."""

    list_display = [
        "name",
        "client_id",
        "application",
        "vendor",
        "claim_set",
        "organizations",
        "is_active",
        "expires_at",
    ]
    list_select_related = ["application__vendor"]
    list_filter = ["is_active", "application__claim_set", "application__vendor"]
    search_fields = [
        "name",
        "client_id",
        "application__name",
        "application__vendor__name",
        "application__claim_set_name",
        "application__education_organization_ids",
        "application__vendor__namespace_prefixes",
    ]
    search_help_text = "A name, a key, an application, a vendor, a claim set, an organization id or a namespace prefix"
    autocomplete_fields = ["application"]
    fields = ["name", "application", "is_active", "expires_at"]
    readonly_fields = [
        "client_id",
        "vendor",
        "claim_set",
        "organizations",
        "prefixes",
        "last_use",
        "created",
        "updated",
    ]
    actions = ["disable"]
    # The toolkit's pages about applications are not served.
    view_on_site = False

    def get_inlines(self, request: HttpRequest, obj: ApiClient | None) -> Any:
        return [DataStoreInline] if DataStore.objects.exists() else []

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Refuse lookups by the hash of the secret: a filter would reveal it character by character."""
        return not lookup.startswith("client_secret") and super().lookup_allowed(lookup, value, request)

    def get_fields(self, request: HttpRequest, obj: ApiClient | None = None) -> Any:
        return self.fields if obj is None else [*self.fields, *self.readonly_fields]

    def has_delete_permission(self, request: HttpRequest, obj: ApiClient | None = None) -> bool:
        """Documents keep the id of the client that created them, so clients are made inactive instead of deleted."""
        return False

    def get_urls(self) -> list[URLPattern]:
        rotate = self.admin_site.admin_view(self.rotate_secret)
        ours = path("<int:client_pk>/rotate-secret/", rotate, name="security_apiclient_rotate_secret")
        shown = self.admin_site.admin_view(self.permissions_view)
        why = path("<int:client_pk>/permissions/", shown, name="security_apiclient_permissions")
        return [ours, why, *super().get_urls()]

    def permissions_view(self, request: HttpRequest, client_pk: int) -> HttpResponse:
        """What the client may do, and from which claim of the tree; for users who may view claim sets, too."""
        client = get_object_or_404(ApiClient.objects.select_related("application__vendor"), pk=client_pk)
        if not self.has_view_permission(request, client) or not request.user.has_perm("security.view_claimset"):
            raise PermissionDenied
        claim_set = client.application.claim_set
        context = {
            "client": client,
            "organizations": self.organizations(client),
            "prefixes": self.prefixes(client),
            "usable": client.is_usable(request),
            "lines": lines(claim_set) if claim_set else [],
        }
        return self._page(request, "permissions", f"What {client} may do", context)

    def save_model(self, request: HttpRequest, obj: ApiClient, form: Any, change: bool) -> None:
        if not change:
            request.new_credentials = new_secret(obj)  # type: ignore[attr-defined]  # for `response_add`
            remark(request, obj.application)
        super().save_model(request, obj, form, change)
        if obj.expires_at is not None and obj.expires_at <= timezone.now():
            messages.warning(request, f"{obj} has expired: it gets no token.")

    def response_add(self, request: HttpRequest, obj: ApiClient, post_url_continue: str | None = None) -> HttpResponse:
        return self._shown_once(request, obj, request.new_credentials)  # type: ignore[attr-defined]

    def rotate_secret(self, request: HttpRequest, client_pk: int) -> HttpResponse:
        """Show a confirmation page on GET; rotate the secret on POST."""
        client = get_object_or_404(ApiClient, pk=client_pk)
        if not self.has_change_permission(request, client):
            raise PermissionDenied
        if request.method != "POST":
            context = {"client": client, "cache_seconds": api_settings.TOKEN_CACHE_SECONDS}
            return self._page(request, "rotate_secret", f"Rotate the secret of {client}", context)
        credentials = rotate_secret(client, by=None)
        self.log_change(request, client, "Rotated the secret.")
        return self._shown_once(request, client, credentials)

    @admin.action(description="Disable selected API clients", permissions=["change"])
    def disable(self, request: HttpRequest, queryset: QuerySet[ApiClient]) -> None:
        for client in queryset:
            disable_client(client, by=None)
            self.log_change(request, client, "Disabled.")
        self.message_user(request, "They get no more tokens, and those they have are void.")

    @admin.display(ordering="application__vendor__name")
    def vendor(self, client: ApiClient) -> Vendor:
        vendor: Vendor = client.application.vendor
        return vendor

    @admin.display(description="claim set", ordering="application__claim_set_name")
    def claim_set(self, client: ApiClient) -> str:
        shown: str = client.application.claim_set_shown
        return shown

    @admin.display(description="education organizations")
    def organizations(self, client: ApiClient) -> str:
        return ", ".join(map(str, client.application.education_organization_ids)) or "-"

    @admin.display(description="namespace prefixes")
    def prefixes(self, client: ApiClient) -> str:
        return ", ".join(client.application.vendor.namespace_prefixes) or "-"

    @admin.display(description="last use")
    def last_use(self, client: ApiClient) -> SafeString:
        """From what is kept: tokens until they are purged, hours of writes as long as the ledger keeps them."""
        tokens = get_access_token_model().objects.filter(application=client).aggregate(token=Max("created"))
        writes = SubmissionHour.objects.filter(client=client.pk).aggregate(
            accepted=Max("last_accepted_at"), refused=Max("last_refused_at")
        )
        times = {"Token": tokens["token"], "Accepted write": writes["accepted"], "Refused write": writes["refused"]}
        lines_of_use = ((name, localize(timezone.localtime(at))) for name, at in times.items() if at is not None)
        return format_html_join("", "{}: {}<br>", lines_of_use) or SafeString("none that is kept")

    def _shown_once(self, request: HttpRequest, client: ApiClient, credentials: Credentials) -> HttpResponse:
        context = {"client": client, "credentials": credentials}
        return self._page(request, "secret", f"The secret of {client}", context)

    def _page(self, request: HttpRequest, name: str, title: str, context: dict[str, Any]) -> HttpResponse:
        template = f"admin/security/apiclient/{name}.html"
        return TemplateResponse(request, template, self.admin_site.each_context(request) | {"title": title} | context)


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


def _links(rows: Any, model: str) -> SafeString:
    lines = ((reverse(f"admin:security_{model}_change", args=[row.pk]), row) for row in rows)
    return format_html_join("", '<a href="{}">{}</a><br>', lines) or SafeString("-")
