"""Vendors, applications and API clients that the search finds by name."""

from collections.abc import Iterator
from typing import Any

from django.urls import reverse

from edfi_api.core.security.models import ApiClient, Application, Vendor
from edfi_api.site.admin_site.navigation import SEES_CLIENTS
from edfi_api.web.admin_kit.client_names import rows_named
from edfi_api.web.admin_kit.search import Group, Item, Order, Search

_MOST = 10


def clients(search: Search) -> Iterator[Group]:
    """Yield those that the user may view."""
    models = [
        model for model, each in zip((Vendor, Application, ApiClient), SEES_CLIENTS, strict=True) if search.may(each)
    ]
    items = [item for model in models for item in _items(model, search)]
    yield Group("clients", "Vendors, applications and clients", Order.CLIENTS, items)


def _items(model: Any, search: Search) -> Iterator[Item]:
    for row in model.objects.filter(pk__in=rows_named(model, search.words, _MOST)).order_by("name", "pk"):
        address = reverse(f"admin:security_{model._meta.model_name}_change", args=[row.pk])
        yield Item(model._meta.verbose_name, row.name, address)
