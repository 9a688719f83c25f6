"""What is recorded of a batch for operators: facts for metrics, a line in the log, denials in the audit log."""

import logging
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from django.http import HttpRequest

from edfi_api.api.batch.operations import Result
from edfi_api.api.batch.parameters import Parameters
from edfi_api.logs import audit, log_lines
from edfi_api.logs.remote_address import remote_address

_DENIALS = frozenset({401, 403, 429})
_MOST_DENIALS = 20
_log = logging.getLogger("meadowlark.requests")


@dataclass
class BatchRecord:
    """Counts of one batch. The middleware that counts requests finds it as `request.batch`."""

    request: HttpRequest
    parameters: Parameters
    operations: int
    # Statements that wrote or deleted many documents, and operations that were carried out as single requests.
    sets: int = 0
    alone: int = 0
    refused: int = 0
    seconds: float = 0
    # By operation, path of the resource, and status.
    results: Counter[tuple[str, str, int]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._began = time.perf_counter()
        self._denied = 0
        # For the audit log, which has those of the last attempt alone.
        self._denials: list[dict[str, object]] = []
        self._when_ended: Callable[[BatchRecord], None] | None = None
        self._has_ended = False
        self.request.batch = self  # type: ignore[attr-defined]

    def when_ended(self, count: Callable[["BatchRecord"], None]) -> None:
        """Calls `count` when the batch has ended: at once, or while its answer is sent."""
        if self._has_ended:
            count(self)
        else:
            self._when_ended = count

    def begin(self) -> None:
        """Begin an attempt: what an earlier one counted was rolled back."""
        self.sets = self.alone = self.refused = self._denied = 0
        self.results.clear()
        self._denials.clear()

    def add(self, result: Result) -> None:
        operation = result.operation
        kind = operation.kind.value if operation.kind else "unknown"
        route = operation.resource.url_path if operation.resource else "unknown"
        self.results[kind, route, result.status] += 1
        self.refused += result.is_refused
        if result.status in _DENIALS:
            self._denied += 1
            if self._denied <= _MOST_DENIALS:
                self._denials.append({"status": result.status, "reason": _reason(result), "index": operation.position})

    def end(self) -> None:
        """Write what is known in the end."""
        self.seconds = time.perf_counter() - self._began
        for denial in self._denials:
            self._audit(**denial)
        if self._denied > _MOST_DENIALS:
            self._audit(reason=f"{self._denied - _MOST_DENIALS} more operations of the batch")
        facts = {
            "event": "batch",
            "client": self._client,
            "mode": self.parameters.mode.value,
            "order": self.parameters.order.value,
            "operations": self.operations,
            "sets": self.sets,
            "alone": self.alone,
            "refused": self.refused,
            "seconds": round(self.seconds, 3),
        }
        log_lines.write(_log, logging.INFO, facts)
        self._has_ended = True
        if self._when_ended is not None:
            self._when_ended(self)

    def _audit(self, **facts: object) -> None:
        address = remote_address(self.request)
        correlation_id = getattr(self.request, "correlation_id", None)
        audit.denied(
            client=self._client, method="POST", path=self.request.path, address=address, batch=correlation_id, **facts
        )

    @property
    def _client(self) -> str | None:
        return getattr(self.request, "client_key", None)


def _reason(result: Result) -> str:
    problem = result.problem or {}
    return str(next(iter(problem.get("errors", ())), problem.get("detail", "")))
