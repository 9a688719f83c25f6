"""Resource claims and their default strategies; the tree of them, with strategies and grants as lines for people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, F, QuerySet, Window
from django.db.models.functions import RowNumber
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from edfi_api.core.security.claim_names import actions_by_value
from edfi_api.core.security.claims.compile import all_inherited_defaults, inherited_defaults
from edfi_api.core.security.claims.model import ByAction, ClaimNames, Strategies
from edfi_api.core.security.claims.stored_claims import hold_claims
from edfi_api.core.security.models import ClaimSet, Grant, OverridingStrategies, ResourceClaim
from edfi_api.core.served import current_surface
from edfi_api.site.model_admins.security.pages import DefaultStrategiesInline, links
from edfi_api.web.admin_kit.deletion import OneByOneAdmin
from edfi_api.web.admin_kit.kinds import claim_in_words

# On a server with tenants there may be thousands of claim sets.
MOST_GRANTS = 25


@dataclass(slots=True)
class Node:
    """A resource claim. `defaults` and `grants` are lines; `more` grants are not among these."""

    pk: int
    name: str
    defaults: list[str]
    grants: list[str] = field(default_factory=list)
    more: int = 0
    children: list["Node"] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return claim_in_words(self.name)


def roots(grants: QuerySet[Grant]) -> list[Node]:
    """The whole tree with these grants, in five queries."""
    defaults = all_inherited_defaults()
    rows = list(ResourceClaim.objects.order_by("name").values_list("pk", "name", "parent_id"))
    nodes = {pk: Node(pk, name, _lines_of_defaults(name, defaults.get(name, {}))) for pk, name, _ in rows}
    _add_grants(nodes, grants)
    for pk, _, parent in rows:
        if parent in nodes:
            nodes[parent].children.append(nodes[pk])
    return [nodes[pk] for pk, _, parent in rows if parent not in nodes]


def _add_grants(nodes: Mapping[int, Node], grants: QuerySet[Grant]) -> None:
    numbered = grants.annotate(
        number=Window(RowNumber(), partition_by="resource_claim", order_by=[F("claim_set__name"), F("pk")]),
        total=Window(Count("pk"), partition_by="resource_claim"),
    )
    shown = list(
        numbered.filter(number__lte=MOST_GRANTS)
        .order_by("number")
        .values_list("pk", "resource_claim_id", "claim_set__name", "actions", "total")
    )
    overrides = _overrides([pk for pk, *_ in shown])
    for pk, claim, name, actions, total in shown:
        nodes[claim].grants.append(f"{name}: {_granted(actions, overrides.get(pk, {}))}")
        nodes[claim].more = max(0, total - MOST_GRANTS)


def _overrides(grants: Sequence[int]) -> dict[int, ByAction]:
    found: dict[int, ByAction] = {}
    rows = OverridingStrategies.objects.filter(grant__in=grants)
    for grant, action, strategies in rows.values_list("grant_id", "action", "strategies"):
        found.setdefault(grant, {})[action] = tuple(strategies)
    return found


def _granted(actions: Sequence[str], overrides: ByAction) -> str:
    """`Create, Update; Read by NamespaceBased`"""
    alike = actions_by_value({action: overrides.get(action, ()) for action in actions})
    return "; ".join(f"{names} by {', '.join(by)}" if by else names for names, by in alike)


def _lines_of_defaults(claim: str, inherited: Mapping[str, tuple[Strategies, str]]) -> list[str]:
    """`Create, Read: NamespaceBased`, with the claim that they are inherited from."""
    return [
        f"{actions}: {', '.join(strategies)}" + (f" (from {origin})" if origin != claim else "")
        for actions, (strategies, origin) in actions_by_value(inherited)
    ]


class ResourceClaimForm(forms.ModelForm):  # type: ignore[type-arg]
    """The form of a resource claim, which understands its name as the ODS/API spells it, too."""

    def clean_name(self) -> str:
        return ClaimNames(current_surface()).one_of(self.cleaned_data["name"])


@admin.register(ResourceClaim)
class ResourceClaimAdmin(OneByOneAdmin):
    """A resource, service or domain with its parent and the default strategies of its actions."""

    list_display = ["name", "kind", "parent"]
    list_select_related = ["parent"]
    list_filter = [("parent", admin.RelatedOnlyFieldListFilter)]
    search_fields = ["name", "parent__name"]
    search_help_text = "A name such as student or domains/people, or that of the domain around it"
    fields = ["name", "kind", "parent", "what_counts", "children_shown", "granted_to"]
    readonly_fields = ["kind", "what_counts", "children_shown", "granted_to"]
    autocomplete_fields = ["parent"]
    inlines = [DefaultStrategiesInline]
    form = ResourceClaimForm

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

    @admin.display
    def kind(self, claim: ResourceClaim) -> str:
        return claim_in_words(claim.name) or "-"

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
