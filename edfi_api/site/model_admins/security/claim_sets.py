"""Claim sets and their grants; claim sets are also copied, exported and imported, by forms."""

from typing import Any

import orjson
from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.html import format_html_join
from django.utils.http import content_disposition_header
from django.utils.safestring import SafeString

from edfi_api.common.conf import api_settings
from edfi_api.common.logs.audit import attribute_to
from edfi_api.core.data_stores.models import Tenant
from edfi_api.core.security.claim_names import Action
from edfi_api.core.security.claims.exchange import (
    InvalidResourceClaims,
    MalformedResourceClaims,
    copy_claim_set,
    export_claim_set,
    imported,
    objects,
    replace_grants,
)
from edfi_api.core.security.claims.stored_claims import hold_claims, lock_claims, stored_claims
from edfi_api.core.security.models import ClaimSet, Grant
from edfi_api.core.served import current_surface
from edfi_api.site.model_admins.data_stores import TenantOwnedAdmin
from edfi_api.site.model_admins.security.pages import OverridingStrategiesInline, links
from edfi_api.web.admin_kit.authorship import admin_user
from edfi_api.web.admin_kit.deletion import OneByOneAdmin
from edfi_api.web.admin_kit.kinds import claim_in_words

_NO_EXPORT = "It is not a claim set: a JSON object with claimSetName and resourceClaims, as an export is."
_TAKEN = "There is a claim set of this name. Choose another name, or replace it."


class _OfTenant(forms.Form):
    """Has the choice of a tenant, on servers with tenants."""

    tenant = forms.ModelChoiceField(
        Tenant.objects.all(), required=False, help_text="Whose claim set it becomes. Without one, all tenants share it."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not api_settings.MULTI_TENANCY:
            del self.fields["tenant"]


class CopyForm(_OfTenant, forms.ModelForm):  # type: ignore[type-arg]  # Django's takes no arguments at run time.
    """The name of the copy."""

    class Meta:
        model = ClaimSet
        fields = ["name", "tenant"]

    def store_copy(self, original: ClaimSet, by: str) -> ClaimSet:
        """Needs a transaction, in which claims were locked before the form was checked."""
        copy: ClaimSet = self.instance
        copy.description = original.description
        copy_claim_set(original, copy, by)
        return copy


class ImportForm(_OfTenant):
    """A file of one claim set, as an export is.

    Needs a transaction, in which claims are locked before the form is checked. After the check `claim_set` is the one
    to replace, or a new one, and `found` what the file grants.
    """

    file = forms.FileField(
        help_text="As Export makes it, or claimSets/{id}/export of the management API: a JSON object with claimSetName "
        "and resourceClaims."
    )
    name = forms.CharField(required=False, help_text="In place of the name in the file.")
    replace = forms.BooleanField(
        required=False, help_text="Replace the grants of the claim set of this name, if there is one."
    )

    def __init__(self, *args: Any, may_replace: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not may_replace:
            del self.fields["replace"]

    def clean_file(self) -> dict[str, Any]:
        file = self.cleaned_data["file"]
        if (file.size or 0) > api_settings.MAX_BODY_BYTES:
            raise ValidationError(f"It has more than {api_settings.MAX_BODY_BYTES:,} bytes.")
        try:
            read = orjson.loads(file.read().removeprefix(b"\xef\xbb\xbf"))
        except orjson.JSONDecodeError as error:
            raise ValidationError(f"It is not JSON: {error}.") from None
        if not isinstance(read, dict):
            raise ValidationError(_NO_EXPORT)
        sent = {name.lower(): value for name, value in read.items()}
        name = sent.get("claimsetname", "")
        if "resourceclaims" not in sent or not isinstance(name, str):
            raise ValidationError(_NO_EXPORT)
        # The field refuses NUL, which the database does not take.
        return sent | {"claimsetname": self.fields["name"].clean(name)}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if sent := cleaned.get("file"):
            name, tenant = cleaned.get("name") or sent["claimsetname"], cleaned.get("tenant")
            self.claim_set = self._named(name, tenant)
            self._read(sent, name, tenant)
        return cleaned

    def _named(self, name: str, tenant: Tenant | None) -> ClaimSet:
        row = ClaimSet.objects.filter(tenant=tenant, name__iexact=name).first()
        if row is None:
            row = ClaimSet(tenant=tenant, name=name)
            try:
                row.full_clean()
            except ValidationError as error:
                self.add_error("name", error.messages)
        elif not self.cleaned_data.get("replace"):
            self.add_error("name", _TAKEN)
        return row

    def _read(self, sent: dict[str, Any], name: str, tenant: Tenant | None) -> None:
        try:
            claims = objects(sent, "resourceclaims")
            self.found = imported(name, claims, stored_claims(tenant), current_surface())
        except MalformedResourceClaims as error:
            self.add_error("file", f"Its resource claims cannot be read: {error}.")
        except InvalidResourceClaims as error:
            self.add_error("file", list(error.findings))

    def store(self, by: str) -> ClaimSet:
        """Store what was read."""
        if not self.claim_set.pk:
            self.claim_set.save(force_insert=True)
        replace_grants(self.claim_set, self.found.grants, by)
        return self.claim_set


class GrantForm(forms.ModelForm):  # type: ignore[type-arg]
    """The actions of a grant, as checkboxes."""

    actions = forms.MultipleChoiceField(choices=Action.choices, widget=forms.CheckboxSelectMultiple)


class GrantInline(admin.TabularInline):  # type: ignore[type-arg]
    """The grants of a claim set."""

    model = Grant
    form = GrantForm
    fields = ["resource_claim", "kind", "actions", "in_place_of_defaults"]
    readonly_fields = ["kind", "in_place_of_defaults"]
    autocomplete_fields = ["resource_claim"]
    show_change_link = True
    extra = 0
    verbose_name_plural = (
        "Grants: a domain stands for everything in it. The page of a grant sets strategies in place of the defaults"
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Grant]:
        return super().get_queryset(request).select_related("resource_claim").prefetch_related("overrides")

    @admin.display
    def kind(self, grant: Grant) -> str:
        return (claim_in_words(grant.resource_claim.name) if grant.pk else "") or "-"

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

    def get_urls(self) -> list[URLPattern]:
        return [
            path("import/", self.admin_site.admin_view(self.import_view), name="security_claimset_import"),
            path("<int:pk>/copy/", self.admin_site.admin_view(self.copy_view), name="security_claimset_copy"),
            path("<int:pk>/export/", self.admin_site.admin_view(self.export_view), name="security_claimset_export"),
            *super().get_urls(),
        ]

    def has_make_permission(self, request: HttpRequest) -> bool:
        """Copies and imports make claim sets and their grants."""
        return request.user.has_perms(["security.add_claimset", "security.add_grant"])

    @transaction.atomic
    def export_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """A file that can be imported."""
        hold_claims()
        claim_set = get_object_or_404(ClaimSet, pk=pk)
        if not self.has_view_permission(request, claim_set):
            raise PermissionDenied
        response = HttpResponse(
            orjson.dumps(export_claim_set(claim_set), option=orjson.OPT_INDENT_2), content_type="application/json"
        )
        response.headers["Content-Disposition"] = content_disposition_header(True, f"{claim_set}.json")
        return response

    @transaction.atomic
    def copy_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The form for the name of the copy on GET; makes it on POST."""
        self._begin(request)
        original = get_object_or_404(ClaimSet, pk=pk)
        form = CopyForm(request.POST or None, initial={"tenant": original.tenant_id})
        if not form.is_valid():
            return self._form_page(request, f"Copy {original}", "Copy", form)
        copy = form.store_copy(original, admin_user(request))
        self.log_addition(request, copy, f"Copied from {original}.")
        messages.success(request, f"{copy} grants what {original} grants.")
        return redirect("admin:security_claimset_change", copy.pk)

    @transaction.atomic
    def import_view(self, request: HttpRequest) -> HttpResponse:
        """The form for a file on GET; stores its claim set on POST."""
        self._begin(request)
        may_replace = request.user.has_perms(["security.change_claimset", "security.change_grant"])
        form = ImportForm(request.POST or None, request.FILES or None, may_replace=may_replace)
        if not form.is_valid():
            return self._form_page(request, "Import a claim set", "Import", form)
        is_new = not form.claim_set.pk
        claim_set = form.store(admin_user(request))
        log = self.log_addition if is_new else self.log_change
        log(request, claim_set, "Imported.")
        for claim in form.found.unknown:
            messages.warning(request, f"There is no resource claim {claim}: what is granted on it is left out.")
        for text in form.found.misplaced:
            messages.warning(request, text)
        messages.success(request, f"{claim_set} was imported.")
        return redirect("admin:security_claimset_change", claim_set.pk)

    def _begin(self, request: HttpRequest) -> None:
        """Lock the claims for a POST, which is attributed to its user. Raises PermissionDenied."""
        if not self.has_make_permission(request):
            raise PermissionDenied
        if request.method == "POST":
            attribute_to(admin_user(request))
            lock_claims()

    def _form_page(self, request: HttpRequest, title: str, submit: str, form: forms.BaseForm) -> HttpResponse:
        context = self.admin_site.each_context(request) | {"title": title, "submit": submit, "form": form}
        return TemplateResponse(request, "admin/security/claimset/form.html", context)

    @admin.display(description="applications", ordering="_applications")
    def number_of_applications(self, claim_set: ClaimSet) -> int:
        number: int = claim_set._applications  # type: ignore[attr-defined]  # annotated by `get_queryset`
        return number

    @admin.display(description="used by")
    def used_by(self, claim_set: ClaimSet) -> SafeString:
        return links(claim_set.applications.all() if claim_set.pk else [], "application")


@admin.register(Grant)
class GrantAdmin(OneByOneAdmin):
    """One grant of a claim set; linked from the page of the claim set, absent from the index."""

    form = GrantForm
    list_display = ["resource_claim", "kind", "claim_set", "actions"]
    list_filter = ["claim_set"]
    list_select_related = ["resource_claim", "claim_set"]
    search_fields = ["resource_claim__name", "claim_set__name"]
    autocomplete_fields = ["claim_set", "resource_claim"]
    inlines = [OverridingStrategiesInline]

    @admin.display
    def kind(self, grant: Grant) -> str:
        return claim_in_words(grant.resource_claim.name) or "-"
