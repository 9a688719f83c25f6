"""Resource claims and their default strategies."""

from django.contrib import admin
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from ..claims import inherited_defaults
from ..models import ClaimSet, ResourceClaim
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
