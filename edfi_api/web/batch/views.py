"""Many writes in one request: `POST /batch`. See meadowlark/docs/use/batch.md."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext, suppress
from functools import partial
from itertools import chain
from threading import Lock

from django.http.response import HttpResponseBase
from django.urls import URLPattern

from edfi_api.common import addresses
from edfi_api.common.addresses import fixed_path
from edfi_api.common.conf import api_settings
from edfi_api.common.memory import SMALL, process_memory
from edfi_api.core.data_stores.access import DEFAULT_LEASE
from edfi_api.core.security import rate_limits
from edfi_api.core.security.exceptions import TooManyRequests
from edfi_api.core.storage.descriptor_uri_cache import stored_uris
from edfi_api.core.storage.driver.execution import TooMuchContention
from edfi_api.model.surface.resource import Resource
from edfi_api.web.batch.answers import MOST_IN_MEMORY, Answer, SortedAnswer
from edfi_api.web.batch.free_order import DependencyOrder
from edfi_api.web.batch.natural_keys import NaturalKeys
from edfi_api.web.batch.operations import OperationReader, most_bytes, refuse_unreadable
from edfi_api.web.batch.record import BatchFigures
from edfi_api.web.batch.sent_batch import (
    BatchLimits,
    Body,
    Order,
    Parameters,
    answers_in_lines,
    has_lines,
    read_parameters,
    receive_body,
)
from edfi_api.web.batch.singles import Singles, TransactionUris, WritableResources
from edfi_api.web.batch.work import Batch
from edfi_api.web.problem_details.http_exceptions import TooManyBatches
from edfi_api.web.viewsets.edfi_view import EdFiRequest, EdFiView
from edfi_api.web.viewsets.router import ServedSurface

# The attempts of an atomic batch that conflicts with others, before its last one.
_ATTEMPTS = 3
# The bounds of estimated memory: about 250 documents of usual size, and 2,000.
_FEWEST_BYTES, _MOST_BYTES = 2 * 2**20, 16 * 2**20
_RETRY_AFTER_SECONDS = 1


def batch_routes(served: ServedSurface) -> list[URLPattern]:
    """The routes of batches for the resources of a surface; none if they are switched off."""
    if not api_settings.BATCH:
        return []
    natural_keys = NaturalKeys()
    view = BatchView.as_view(
        resources=WritableResources(served),
        natural_keys=natural_keys,
        dependency_order=DependencyOrder(served.surface),
        reader=OperationReader(served.surface, natural_keys),
    )
    return [fixed_path(address, view, "batch") for address in (addresses.BATCH, addresses.BATCH_ALIAS)]


class BatchView(EdFiView):
    """Needs a valid token; each operation is authorized as the single request."""

    detail = None
    # The action of the operation whose permissions are checked.
    action: str | None = None
    resource: Resource | None = None
    # DRF's `as_view` accepts only attributes that the class has.
    resources: WritableResources = None  # type: ignore[assignment]
    natural_keys: NaturalKeys = None  # type: ignore[assignment]
    reader: OperationReader = None  # type: ignore[assignment]
    dependency_order: DependencyOrder = None  # type: ignore[assignment]

    def post(self, request: EdFiRequest) -> HttpResponseBase:
        """Raises what is wrong with the batch as a whole."""
        wanted = read_parameters(request.query_params)
        is_lines = has_lines(request.META.get("CONTENT_TYPE", ""))
        with ExitStack() as until_sent:
            until_sent.enter_context(admit(request.user.row_id))
            body = until_sent.enter_context(closing(receive_body(request._request, is_lines)))
            self._divide(body, wanted)
            memory = until_sent.enter_context(_memory_for(body))
            self._refuse_unreadable(body, wanted)
            limit = api_settings.BATCH_OPERATIONS_PER_MINUTE
            rate_limits.limit(f"batch:{request.user.row_id}", limit, len(body))
            figures = BatchFigures(request._request, wanted, len(body))
            until_sent.callback(figures.end)
            limits = BatchLimits(time.monotonic() + api_settings.BATCH_SECONDS, memory)
            if wanted.is_atomic:
                return self._answer_atomic(request, body, figures, limits)
            return self._answer_independent(request, body, figures, limits, until_sent)

    def check_operation(self, action: str, resource: Resource) -> None:
        """Raise what the permission classes of the settings refuse of the single request with this action."""
        self.action, self.resource = action, resource
        self.check_permissions(self.request)

    def _divide(self, body: Body, wanted: Parameters) -> None:
        is_stream = body.is_lines and not wanted.is_atomic
        setting = "BATCH_STREAM_OPERATIONS" if is_stream else "BATCH_OPERATIONS"
        body.divide(getattr(api_settings, setting), setting)
        body.estimate_costs(most_bytes())

    def _refuse_unreadable(self, body: Body, wanted: Parameters) -> None:
        if not body.is_lines:
            body.refuse_malformed_elements(most_bytes())
        if wanted.is_atomic:
            refuse_unreadable(body)

    def _answer_independent(
        self, request: EdFiRequest, body: Body, figures: BatchFigures, limits: BatchLimits, until_sent: ExitStack
    ) -> HttpResponseBase:
        """Answer the operations one after the other. A long answer is sent while the rest of it is made, after
        `dispatch` has ended."""
        answer = until_sent.enter_context(closing(self._answer(request, body, figures.parameters)))
        blocks = self._batch(request, body, figures, limits).carry_out_independently(answer)
        text = b""
        for block in blocks:
            text += block
            if len(text) > MOST_IN_MEMORY:
                until_sent.callback(self.lease.end)
                self.lease = DEFAULT_LEASE
                return answer.streamed(chain([text], blocks), until_sent.pop_all())
        return answer.finished(text)

    def _answer_atomic(
        self, request: EdFiRequest, body: Body, figures: BatchFigures, limits: BatchLimits
    ) -> HttpResponseBase:
        for number in range(0 if body.is_single else _ATTEMPTS):
            with suppress(TooMuchContention):
                attempt = self._batch(request, body, figures, limits, is_repetition=number > 0, may_be_repeated=True)
                return self._attempt(attempt, self._answer(request, body, figures.parameters))
        last = self._batch(request, body, figures, limits, is_repetition=True)
        return self._attempt(last, self._answer(request, body, figures.parameters))

    def _attempt(self, attempt: Batch, answer: Answer) -> HttpResponseBase:
        """Make one attempt, and return its answer. Raises TooMuchContention if it may be repeated."""
        try:
            attempt.carry_out_atomically(answer)
            return answer.response()
        except BaseException:
            answer.close()
            raise

    def _answer(self, request: EdFiRequest, body: Body, wanted: Parameters) -> Answer:
        kind = Answer if wanted.order is Order.GIVEN else SortedAnswer
        return kind(answers_in_lines(request.META.get("HTTP_ACCEPT", ""), body.is_lines))

    def _batch(
        self, request: EdFiRequest, body: Body, figures: BatchFigures, limits: BatchLimits, **attempt: bool
    ) -> Batch:
        wanted, using = figures.parameters, self.using
        has_transaction = wanted.is_atomic and not body.is_single
        uris = TransactionUris(using) if has_transaction else partial(stored_uris, using=using)
        figures.begin()
        return Batch(
            body,
            wanted,
            self.reader,
            Singles(request, self.resources, using, uris, self.check_operation, is_atomic=wanted.is_atomic),
            self.natural_keys,
            self.dependency_order,
            figures,
            limits,
            **attempt,
        )


def _memory_for(body: Body) -> AbstractContextManager[int]:
    """Return how many bytes the operations may cost that are carried out together: more of them are faster, up to a
    limit, but batches that run at the same time go on with less. Raises MemoryExhausted."""
    total = sum(body.costs)
    if total <= SMALL:
        return nullcontext(total)
    least = max(min(total, _FEWEST_BYTES), *body.costs)
    return process_memory().reserve(least, min(total, _MOST_BYTES))


class _UnderWay:
    """The batches of this process, by client."""

    def __init__(self) -> None:
        self._by_client: Counter[int] = Counter()
        self._lock = Lock()

    def begin(self, client: int) -> None:
        with self._lock:
            if self._by_client.total() >= api_settings.BATCHES_AT_ONCE:
                raise TooManyBatches
            if self._by_client[client] >= api_settings.BATCHES_PER_CLIENT:
                raise TooManyRequests(_RETRY_AFTER_SECONDS)
            self._by_client[client] += 1

    def end(self, client: int) -> None:
        with self._lock:
            self._by_client[client] -= 1
            self._by_client += Counter()  # Drops clients without batches.


_under_way = _UnderWay()


@contextmanager
def admit(client: int) -> Iterator[None]:
    """Count a batch of the client with this row id while it is executed. Raises TooManyBatches, TooManyRequests."""
    _under_way.begin(client)
    try:
        yield
    finally:
        _under_way.end(client)
