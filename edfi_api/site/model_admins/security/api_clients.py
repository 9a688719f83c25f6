"""API clients: their creation, the rotation of their secrets, what they may do and why, when they were used, and their
tokens.

A secret is shown once, on the page that follows the creation of a client or the rotation of its secret.
django-oauth-toolkit registers `ApiClientAdmin`, through its setting `APPLICATION_ADMIN_CLASS`.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Max, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.formats import localize
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from oauth2_provider.models import get_access_token_model

from edfi_api.common import addresses
from edfi_api.common.addresses import base_of
from edfi_api.common.conf import api_settings
from edfi_api.common.logs.audit import attribute_to
from edfi_api.core.data_stores.models import DataStore
from edfi_api.core.security.claim_names import DOMAINS, actions_by_value
from edfi_api.core.security.claims.compile import Granted, granted_actions
from edfi_api.core.security.clients import LINK_LIFETIME, disable_client, make_link, rotate_secret, set_new_secret
from edfi_api.core.security.credentials import Credentials
from edfi_api.core.security.issuers import issuers
from edfi_api.core.security.models import ApiClient, ApiClientDataStore, ClaimSet, ExternalIdentity, Vendor
from edfi_api.features.refusals.models import SubmissionHour
from edfi_api.site.model_admins.security.pages import named_organizations, remark
from edfi_api.web.admin_kit.authorship import admin_user
from edfi_api.web.admin_kit.deletion import OneByOneAdmin
from edfi_api.web.admin_kit.kinds import claim_in_words

# Most claims that a line names without being opened.
_NAMED = 4


@dataclass(frozen=True, slots=True)
class Line:
    """Actions that are granted alike on resources or services that have all of their grants in common. `granted` names
    the claim of the grant, and that of the strategies."""

    claims: tuple[str, ...]
    actions: str
    granted: Granted

    @property
    def named(self) -> list[str]:
        """`ed-fi/studentSchoolAssociation (Enrolments)`"""
        kinds = ((name, claim_in_words(name)) for name in self.claims)
        return [f"{name} ({kind})" if kind else name for name, kind in kinds]

    @property
    def is_long(self) -> bool:
        return len(self.claims) > _NAMED


def lines(claim_set: ClaimSet) -> list[Line]:
    """Return the lines by name of the first resource or service; without domains, which only pass grants on."""
    granted = granted_actions(claim_set)
    alike: dict[tuple[tuple[str, Granted], ...], list[str]] = {}
    for name in sorted(granted):
        if not name.startswith(DOMAINS):
            alike.setdefault(tuple(actions_by_value(granted[name])), []).append(name)
    return [Line(tuple(names), actions, why) for found, names in alike.items() for actions, why in found]


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


class DataStoreInline(admin.TabularInline):  # type: ignore[type-arg]
    """The data stores that a client may use."""

    model = ApiClientDataStore
    autocomplete_fields = ["data_store"]
    extra = 0
    verbose_name_plural = "Data stores: the address of a request chooses one of them"


def _issuer_choices() -> list[tuple[str, str]]:
    return [(name, name) for name in issuers()]


class ExternalIdentityForm(forms.ModelForm):  # type: ignore[type-arg]
    """The issuer is one of the settings, or the one that is stored."""

    issuer = forms.ChoiceField(choices=_issuer_choices)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        stored = self.instance.issuer
        if stored and stored not in issuers():
            self.fields["issuer"].choices = [*_issuer_choices(), (stored, f"{stored} (not in the settings)")]  # type: ignore[attr-defined]


class ExternalIdentityInline(admin.StackedInline):  # type: ignore[type-arg]
    """The name of the client at an identity provider. Who may change clients may change it."""

    model = ExternalIdentity
    form = ExternalIdentityForm
    extra = 0
    verbose_name = "identity at an identity provider, whose tokens it may come with"
    verbose_name_plural = "External identity"

    def has_view_permission(self, request: HttpRequest, obj: ApiClient | None = None) -> bool:
        return request.user.has_perm("security.view_apiclient")

    def has_change_permission(self, request: HttpRequest, obj: ApiClient | None = None) -> bool:
        return request.user.has_perm("security.change_apiclient")

    has_delete_permission = has_change_permission

    def has_add_permission(self, request: HttpRequest, obj: ApiClient | None = None) -> bool:
        return self.has_change_permission(request, obj)


def secret_context(request: HttpRequest, client: ApiClient, credentials: Credentials) -> dict[str, Any]:
    """Return what the page of a new secret shows in addition to it. The link is made while the secret is known."""
    root = base_of(request)
    return {
        "link": f"{root}/{addresses.SHOWN_ONCE}#{make_link(client, credentials)}",
        "hours": LINK_LIFETIME // timedelta(hours=1),
        "token_url": f"{root}/{addresses.OAUTH}",
    }


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
    list_select_related = ["application__vendor", "external_identity"]
    list_filter = ["is_active", "application__claim_set", "application__vendor"]
    search_fields = [
        "name",
        "client_id",
        "external_identity__value",
        "application__name",
        "application__vendor__name",
        "application__claim_set_name",
        "application__education_organization_ids",
        "application__vendor__namespace_prefixes",
    ]
    search_help_text = (
        "A name, a key, an external client, an application, a vendor, a claim set, an organization id or a namespace "
        "prefix"
    )
    autocomplete_fields = ["application"]
    fields = ["name", "application", "is_active", "expires_at"]
    readonly_fields = [
        "client_id",
        "vendor",
        "claim_set",
        "named_organizations",
        "prefixes",
        "last_use",
    ]
    actions = ["disable"]
    # The toolkit's pages about applications are not served.
    view_on_site = False

    def get_list_display(self, request: HttpRequest) -> Any:
        return [*self.list_display, "external_client"] if issuers() else self.list_display

    def get_inlines(self, request: HttpRequest, obj: ApiClient | None) -> Any:
        has_identity = obj is not None and hasattr(obj, "external_identity")
        identity = [ExternalIdentityInline] if has_identity or issuers() else []
        return [*identity, *([DataStoreInline] if DataStore.objects.exists() else [])]

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
        """Show what the client may do, and from which claim of the tree; for users who may view claim sets, too."""
        client = get_object_or_404(ApiClient.objects.select_related("application__vendor"), pk=client_pk)
        if not self.has_view_permission(request, client) or not request.user.has_perm("security.view_claimset"):
            raise PermissionDenied
        claim_set = client.application.claim_set
        context = {
            "client": client,
            "organizations": self.named_organizations(client),
            "prefixes": self.prefixes(client),
            "usable": client.is_usable(request),
            "lines": lines(claim_set) if claim_set else [],
        }
        return self._page(request, "permissions", f"What {client} may do", context)

    def save_model(self, request: HttpRequest, obj: ApiClient, form: Any, change: bool) -> None:
        if not change:
            request.new_credentials = set_new_secret(obj)  # type: ignore[attr-defined]  # for `response_add`
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
        with transaction.atomic():
            attribute_to(admin_user(request))
            credentials = rotate_secret(client, by=None)
        self.log_change(request, client, "Rotated the secret.")
        return self._shown_once(request, client, credentials)

    @admin.action(description="Disable selected API clients", permissions=["change"])
    def disable(self, request: HttpRequest, queryset: QuerySet[ApiClient]) -> None:
        with transaction.atomic():
            attribute_to(admin_user(request))
            for client in queryset:
                disable_client(client, by=None)
                self.log_change(request, client, "Disabled.")
        self.message_user(request, "They get no more tokens, and those they have are void.")

    @admin.display(ordering="external_identity__value")
    def external_client(self, client: ApiClient) -> str:
        """Return its name at an identity provider."""
        return str(client.external_identity) if hasattr(client, "external_identity") else "-"

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

    @admin.display(description="education organizations")
    def named_organizations(self, client: ApiClient) -> SafeString:
        stores = list(client.data_stores.order_by().values_list("pk", flat=True))
        return named_organizations(client.application.education_organization_ids, stores)

    @admin.display(description="namespace prefixes")
    def prefixes(self, client: ApiClient) -> str:
        return ", ".join(client.application.vendor.namespace_prefixes) or "-"

    @admin.display(description="last use")
    def last_use(self, client: ApiClient) -> SafeString:
        """Return the last use from what is kept: tokens until they are purged, hours of writes as long as the ledger
        keeps them.
        """
        tokens = get_access_token_model().objects.filter(application=client).aggregate(token=Max("created"))
        writes = SubmissionHour.objects.filter(client=client.pk).aggregate(
            accepted=Max("last_accepted_at"), refused=Max("last_refused_at")
        )
        times = {"Token": tokens["token"], "Accepted write": writes["accepted"], "Refused write": writes["refused"]}
        lines_of_use = ((name, localize(timezone.localtime(at))) for name, at in times.items() if at is not None)
        return format_html_join("", "{}: {}<br>", lines_of_use) or SafeString("none that is kept")

    def _shown_once(self, request: HttpRequest, client: ApiClient, credentials: Credentials) -> HttpResponse:
        context = {"client": client, "credentials": credentials, **secret_context(request, client, credentials)}
        return self._page(request, "secret", f"The secret of {client}", context)

    def _page(self, request: HttpRequest, name: str, title: str, context: dict[str, Any]) -> HttpResponse:
        template = f"admin/security/apiclient/{name}.html"
        return TemplateResponse(request, template, self.admin_site.each_context(request) | {"title": title} | context)
