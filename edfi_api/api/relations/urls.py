"""The routes of related documents."""

from edfi_api import addresses
from edfi_api.addresses import below, fixed_path
from edfi_api.api.relations.views import RelationsView
from edfi_api.api.viewsets.edfi_view import UnknownResourceView
from edfi_api.startup import current_surface

urlpatterns = [
    fixed_path(
        f"{addresses.RELATIONS}/<project>/<endpoint>/<document_id>", RelationsView.of(current_surface()), "relations"
    ),
    below(addresses.RELATIONS, UnknownResourceView.as_view(), "unknown-relations"),
]
