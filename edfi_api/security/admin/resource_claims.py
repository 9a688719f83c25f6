"""Resource claims and their default strategies."""

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from ..claims.compile import inherited_defaults
from ..claims.stored_claims import hold_claims
from ..models import ClaimSet, Grant, ResourceClaim
from .claim_tree import roots
from .pages import OneByOneAdmin, links
from .strategies import DefaultStrategiesInline


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

    def get_urls(self) -> list[URLPattern]:
        tree = self.admin_site.admin_view(self.tree_view)
        return [path("tree/", tree, name="security_resourceclaim_tree"), *super().get_urls()]

    @transaction.atomic
    def tree_view(self, request: HttpRequest) -> HttpResponse:
        """The tree; for users who may view claim sets with the grants of all, or of that of `?claim_set=`."""
        chosen = request.GET.get("claim_set", "")
        shows_grants = request.user.has_perm("security.view_claimset")
        if not self.has_view_permission(request) or (chosen and not shows_grants):
            raise PermissionDenied
        hold_claims()
        grants, title = Grant.objects.all() if shows_grants else Grant.objects.none(), "Resource claims"
        if chosen:
            claim_set = get_object_or_404(ClaimSet, pk=int(chosen) if chosen.isdecimal() else None)
            grants, title = claim_set.grants.all(), f"Resource claims, with the grants of {claim_set}"
        context = {"title": title, "roots": roots(grants), "shows_grants": shows_grants}
        return TemplateResponse(
            request, "admin/security/resourceclaim/tree.html", self.admin_site.each_context(request) | context
        )

    @admin.display(description="defaults that count here")
    def what_counts(self, claim: ResourceClaim) -> SafeString:
        counting = inherited_defaults(claim.name) if claim.pk else {}
        lines = ((action, ", ".join(names), origin) for action, (names, origin) in counting.items())
        return format_html_join("", "{}: {} (from {})<br>", lines) or SafeString("none")

    @admin.display(description="in it")
    def children_shown(self, claim: ResourceClaim) -> SafeString:
        return links(claim.children.all() if claim.pk else [], "resourceclaim")

    @admin.display(description="granted to")
    def granted_to(self, claim: ResourceClaim) -> SafeString:
        return links(ClaimSet.objects.filter(grants__resource_claim=claim) if claim.pk else [], "claimset")
