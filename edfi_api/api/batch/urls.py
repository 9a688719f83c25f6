"""The routes of batches; none if they are switched off."""

from django.urls import URLPattern

from edfi_api import addresses
from edfi_api.addresses import fixed_path
from edfi_api.api.batch.envelope import Envelopes
from edfi_api.api.batch.free_order import LoadingOrder
from edfi_api.api.batch.natural_keys import NaturalKeys
from edfi_api.api.batch.singles import OperationViewSets
from edfi_api.api.batch.views import BatchView
from edfi_api.api.viewsets.factory import ServedSurface
from edfi_api.conf import api_settings


def batch_routes(served: ServedSurface) -> list[URLPattern]:
    """The routes for the resources of a surface."""
    if not api_settings.BATCH:
        return []
    natural_keys = NaturalKeys()
    view = BatchView.as_view(
        viewsets=OperationViewSets(served),
        natural_keys=natural_keys,
        loading_order=LoadingOrder(served.surface),
        envelopes=Envelopes(served.surface, natural_keys),
    )
    return [fixed_path(address, view, "batch") for address in (addresses.BATCH, addresses.BATCH_ALIAS)]
