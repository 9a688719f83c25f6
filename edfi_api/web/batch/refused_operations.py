"""The hints for refused operations of a batch: those of the single requests that do the same."""

from edfi_api.common import addresses
from edfi_api.core.documents.leniency import Reason
from edfi_api.core.storage.exceptions import DocumentNotFound
from edfi_api.model.surface.ods_names import in_served_names
from edfi_api.web.batch.operations import Operation, Result
from edfi_api.web.batch.singles import Singles, attempt_of
from edfi_api.web.problem_details.catalog.served_names import error_in_served_names
from edfi_api.web.problem_details.hints.attempted_request import AttemptedRequest
from edfi_api.web.problem_details.hints.http.refused_requests import hints_if_any
from edfi_api.web.problem_details.http_exceptions import ResourceNotFound

# Each may take some queries. In a batch with more refusals, most have the same reason.
_MOST_HINTED = 10


class HintedOperations:
    """Adds hints to the first refused operations of a batch. `looks_up`: they may name what is stored, which an open
    transaction does not know for certain."""

    def __init__(self, singles: Singles, *, looks_up: bool) -> None:
        self._singles, self._looks_up = singles, looks_up
        self._left = _MOST_HINTED

    def add_hints(self, result: Result, refusal: Exception | None) -> None:
        """Add hints to the problem of a refused operation, which is replaced."""
        operation = result.operation
        if refusal is None or result.problem is None or result.status >= 500 or not self._left:
            return
        if operation.key is not None and isinstance(refusal, DocumentNotFound | ResourceNotFound):
            return  # The hints are about ids.
        self._left -= 1
        served = error_in_served_names(refusal, operation.resource)
        if hints := hints_if_any(served, lambda: self._attempt(result)):
            result.problem = result.problem | {"hints": hints}

    def _attempt(self, result: Result) -> AttemptedRequest:
        operation, singles = result.operation, self._singles
        resource = operation.resource
        is_profiled = singles.has_profiles or bool(operation.profile)
        return AttemptedRequest(
            method=attempt_of(operation).method,
            path=_path(operation),
            meta={"HTTP_IF_MATCH": operation.if_match or "", "HTTP_IF_NONE_MATCH": operation.if_none_match or ""},
            resource=resource,
            schema=None if is_profiled or resource is None else in_served_names(resource).json_schema,
            document=operation.document,
            unknown=tuple(each.path for each in result.tolerated if each.reason is Reason.UNKNOWN_MEMBER),
            surface=singles.surface,
            client=singles.user,
            using=singles.using if self._looks_up else None,
        )


def _path(operation: Operation) -> str:
    """The path of the single request."""
    if operation.resource is None:
        return f"/{addresses.DATA}/{operation.sent_resource.strip('/')}"
    path = f"/{addresses.DATA}{operation.resource.served_path}"
    return path if operation.document_uuid is None else f"{path}/{operation.document_uuid}"
