"""Many writes in one request: `POST /batch`. See meadowlark/docs/batch.md."""

import time
from contextlib import closing, suppress
from functools import partial

from django.http.response import HttpResponseBase

from edfi_api.api.batch import body as bodies
from edfi_api.api.batch import parameters
from edfi_api.api.batch.admission import admitted
from edfi_api.api.batch.answers import Answer, SortedAnswer
from edfi_api.api.batch.body import Body
from edfi_api.api.batch.causes import Causes
from edfi_api.api.batch.envelope import Envelopes, most_bytes, refuse_unreadable
from edfi_api.api.batch.free_order import LoadingOrder, Sorting
from edfi_api.api.batch.natural_keys import NaturalKeys
from edfi_api.api.batch.parameters import Order, Parameters
from edfi_api.api.batch.record import BatchRecord
from edfi_api.api.batch.singles import OperationViewSets, Singles
from edfi_api.api.batch.stored_uris import TransactionUris
from edfi_api.api.batch.work import Batch
from edfi_api.api.viewsets.edfi_view import EdFiRequest, EdFiView
from edfi_api.conf import api_settings
from edfi_api.security import rate_limits
from edfi_api.storage.descriptor_casing import stored_uris
from edfi_api.storage.exceptions import TooMuchContention

# Of an atomic batch that others are in the way of, before its last one.
_ATTEMPTS = 3


class BatchView(EdFiView):
    """Needs a valid token; each operation is authorized as the single request."""

    detail = None
    # DRF's `as_view` accepts only attributes that the class has.
    viewsets: OperationViewSets = None  # type: ignore[assignment]
    natural_keys: NaturalKeys = None  # type: ignore[assignment]
    envelopes: Envelopes = None  # type: ignore[assignment]
    loading_order: LoadingOrder = None  # type: ignore[assignment]

    def post(self, request: EdFiRequest) -> HttpResponseBase:
        """Raises what is wrong with the batch as a whole."""
        wanted = parameters.read(request.query_params)
        bodies.is_lines(request.META.get("CONTENT_TYPE", ""))
        with admitted(request.user.row_id), closing(bodies.received(request._request)) as body:
            self._divide(body, wanted)
            limit = api_settings.BATCH_OPERATIONS_PER_MINUTE
            rate_limits.limit(f"batch:{request.user.row_id}", limit, len(body))
            return self._answer(request, body, wanted)

    def _divide(self, body: Body, wanted: Parameters) -> None:
        is_stream = body.is_lines and not wanted.is_atomic
        setting = "BATCH_STREAM_OPERATIONS" if is_stream else "BATCH_OPERATIONS"
        body.divide(getattr(api_settings, setting), setting)
        if not body.is_lines:
            body.refuse_malformed_elements(most_bytes())
        if wanted.is_atomic:
            refuse_unreadable(body)

    def _answer(self, request: EdFiRequest, body: Body, wanted: Parameters) -> HttpResponseBase:
        record = BatchRecord(request._request, wanted, len(body))
        end = time.monotonic() + api_settings.BATCH_SECONDS
        try:
            for number in range(_ATTEMPTS if wanted.is_atomic else 0):
                with suppress(TooMuchContention):
                    return self._worked_off(request, body, record, end, is_repetition=number > 0, may_be_repeated=True)
            return self._worked_off(request, body, record, end, is_repetition=wanted.is_atomic)
        finally:
            record.end()

    def _worked_off(
        self, request: EdFiRequest, body: Body, record: BatchRecord, end: float, **attempt: bool
    ) -> HttpResponseBase:
        """The answer of one attempt. Raises TooMuchContention if it may be repeated."""
        wanted, using = record.parameters, self.using
        uris = TransactionUris(using) if wanted.is_atomic else partial(stored_uris, using=using)
        preparers = self.viewsets.served.preparers
        record.begin()
        kind = Answer if wanted.order is Order.GIVEN else SortedAnswer
        answer = kind(bodies.answers_in_lines(request.META.get("HTTP_ACCEPT", ""), body.is_lines))
        try:
            Batch(
                body,
                wanted,
                self.envelopes,
                Singles(request, self.viewsets, using, uris),
                Causes(preparers, self.natural_keys),
                record,
                Sorting(self.loading_order, self.natural_keys, preparers, using),
                end,
                **attempt,
            ).work_off(answer)
            return answer.response()
        except BaseException:
            answer.close()
            raise
