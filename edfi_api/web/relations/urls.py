"""The routes of related documents."""

from django.urls import URLPattern

from edfi_api.common import addresses
from edfi_api.common.addresses import below, fixed_path
from edfi_api.core.served import current_surface
from edfi_api.model.surface.resource import Surface
from edfi_api.web.relations.views import RelationsView
from edfi_api.web.viewsets.edfi_view import UnknownResourceView


def relation_routes(surface: Surface) -> list[URLPattern]:
    """The routes of the documents of a surface."""
    related = f"{addresses.RELATIONS}/<project>/<endpoint>/<document_id>"
    return [
        fixed_path(related, RelationsView.of(surface), "relations"),
        below(addresses.RELATIONS, UnknownResourceView.as_view(), "unknown-relations"),
    ]


urlpatterns = relation_routes(current_surface())
