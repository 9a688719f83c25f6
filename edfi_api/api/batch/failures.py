"""The operations of an atomic batch that failed, as far as they are named in the problem."""

from typing import Any, NamedTuple

import orjson

from edfi_api.api.batch.operations import Result
from edfi_api.documents import json_text

_MOST_NAMED = 100


class _Failure(NamedTuple):
    """The JSON text of a result, a tenth of its members in memory."""

    position: int
    text: bytes


class Failures:
    """Collects the failed results of a batch; keeps as many as are named."""

    def __init__(self) -> None:
        self.count = 0
        self.are_temporary = True
        self._own: list[_Failure] = []
        self._consequences: list[_Failure] = []

    def add(self, result: Result) -> None:
        self.count += 1
        self.are_temporary = self.are_temporary and result.is_temporary
        kept = self._own if result.caused_by is None else self._consequences
        kept.append(_Failure(result.operation.position, orjson.dumps(result.members(), default=json_text.exact_number)))
        if len(kept) > 2 * _MOST_NAMED:
            kept[:] = _first(kept)

    def named(self) -> list[dict[str, Any]]:
        """The results of those that fail by themselves, by position, then of those that fail because others did."""
        named = [*_first(self._own), *_first(self._consequences)][:_MOST_NAMED]
        return [orjson.loads(failure.text) for failure in named]


def _first(failures: list[_Failure]) -> list[_Failure]:
    return sorted(failures)[:_MOST_NAMED]
