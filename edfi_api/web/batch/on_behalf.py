"""Batches that this server carries out on behalf of an API client, such as the rows of a table that a user loads.

An operation is what the same client would send by `POST /batch` with `mode=independent`: with the same rights, checks,
refusals and hints, and recorded in the same way.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import cache, partial
from tempfile import SpooledTemporaryFile

from django.http import HttpRequest

from edfi_api.common import addresses
from edfi_api.common.conf import api_settings
from edfi_api.core.documents.extraction import StoredUris
from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.served import current_surface
from edfi_api.core.storage.descriptor_uri_cache import stored_uris
from edfi_api.web.batch.free_order import DependencyOrder
from edfi_api.web.batch.natural_keys import NaturalKeys
from edfi_api.web.batch.operations import OperationReader, Result, most_bytes
from edfi_api.web.batch.record import BatchFigures
from edfi_api.web.batch.sent_batch import BatchLimits, Body, Mode, Parameters
from edfi_api.web.batch.singles import Singles, TransactionUris, WritableResources
from edfi_api.web.batch.views import BatchView
from edfi_api.web.batch.work import Batch
from edfi_api.web.viewsets.router import ServedSurface

_MOST_IN_MEMORY = 2**20
# The operations of a batch are few, so their memory needs no budget of the process.
_MEMORY = 8 * 2**20


class BatchOnBehalf:
    """Carries out operations of one client in one database; `data_store` is its id, 0 for the admin database."""

    def __init__(
        self,
        client: AuthenticatedClient,
        using: str,
        data_store: int = 0,
        *,
        correlation_id: str = "",
        count: Callable[[BatchFigures], None] | None = None,
    ) -> None:
        """`count` is called with the figures of each batch that was carried out."""
        self._client = client
        self._using = using
        self._data_store = data_store
        self._correlation_id = correlation_id
        self._count = count

    def write(self, operations: Sequence[bytes]) -> list[Result]:
        """The results of operations, each the JSON text that a batch has for it, independently of each other. Those are
        missing for which there was no time."""
        with closing(_body(operations)) as body:
            request = self._request()
            figures = BatchFigures(request, Parameters(Mode.INDEPENDENT), len(body))
            batch = self._batch(request, body, figures, partial(stored_uris, using=self._using))
            results = list(batch.results())
            figures.end()
        if self._count is not None:
            self._count(figures)
        return results

    def tried(self, operations: Sequence[bytes]) -> list[Result]:
        """Return what `write` would return. Nothing is written, and nothing recorded."""
        with closing(_body(operations)) as body:
            request = self._request()
            figures = BatchFigures(request, Parameters(Mode.INDEPENDENT), len(body))
            return self._batch(request, body, figures, TransactionUris(self._using)).try_all()

    def _request(self) -> HttpRequest:
        request = _RequestOfServer()
        request.method, request.path = "POST", f"/{addresses.BATCH}"
        request.client_key = self._client.key
        request.correlation_id = self._correlation_id
        if self._data_store:
            request.data_store = self._data_store
        return request

    def _batch(self, request: HttpRequest, body: Body, figures: BatchFigures, uris: StoredUris) -> Batch:
        served = _served_batches()
        view = BatchView()
        view.request = view.initialize_request(request)
        view.request.user = self._client
        view.using = self._using
        singles = Singles(view.request, served.resources, self._using, uris, view.check_operation, is_atomic=False)
        return Batch(
            body,
            figures.parameters,
            served.reader,
            singles,
            served.natural_keys,
            served.dependency_order,
            figures,
            BatchLimits(time.monotonic() + api_settings.BATCH_SECONDS, _MEMORY),
        )


class _RequestOfServer(HttpRequest):
    """A request that came from nowhere: addresses in its answer are those of this machine."""

    client_key: str
    correlation_id: str
    data_store: int

    def get_host(self) -> str:
        return "localhost"


class _ServedBatches:
    """The objects that batches of the served surface share."""

    def __init__(self) -> None:
        surface = current_surface()
        self.natural_keys = NaturalKeys()
        self.resources = WritableResources(ServedSurface(surface))
        self.reader = OperationReader(surface, self.natural_keys)
        self.dependency_order = DependencyOrder(surface)


@cache
def _served_batches() -> _ServedBatches:
    return _ServedBatches()


def _body(operations: Iterable[bytes]) -> Body:
    file: SpooledTemporaryFile[bytes] = SpooledTemporaryFile(_MOST_IN_MEMORY)  # noqa: SIM115  `Body` closes it.
    count = 0
    for count, text in enumerate(operations, start=1):  # noqa: B007
        file.write(text + b"\n")
    body = Body(file, is_lines=True)
    body.divide(count, "BATCH_OPERATIONS")
    body.estimate_costs(most_bytes())
    return body
