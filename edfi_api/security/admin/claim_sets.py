"""Claim sets and their grants."""

from django import forms
from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from edfi_api.data_stores.admin import TenantOwnedAdmin

from ..actions import Action
from ..models import ClaimSet, Grant
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
