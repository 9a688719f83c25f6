"""Claim sets and their grants; claim sets are also copied, exported and imported."""

import orjson
from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.html import format_html_join
from django.utils.http import content_disposition_header
from django.utils.safestring import SafeString

from edfi_api.data_stores.admin import TenantOwnedAdmin
from edfi_api.logs.attribution import attribute_to
from edfi_api.operation.administration.recorded import admin_user

from ..claims.exchange import export_claim_set
from ..claims.model import Action
from ..claims.stored_claims import hold_claims, lock_claims
from ..models import ClaimSet, Grant
from .claim_set_forms import CopyForm, ImportForm
from .pages import OneByOneAdmin, links
from .strategies import OverridingStrategiesInline


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
    list_display = ["resource_claim", "claim_set", "actions"]
    list_filter = ["claim_set"]
    list_select_related = ["resource_claim", "claim_set"]
    search_fields = ["resource_claim__name", "claim_set__name"]
    autocomplete_fields = ["claim_set", "resource_claim"]
    inlines = [OverridingStrategiesInline]
