"""The operations of an atomic batch that failed, as far as they are named in the problem."""

from edfi_api.api.batch.operations import Result

_MOST_NAMED = 100


class Failures:
    """Collects the failed results of a batch; keeps as many as are named."""

    def __init__(self) -> None:
        self.count = 0
        self.are_temporary = True
        self._own: list[Result] = []
        self._consequences: list[Result] = []

    def add(self, result: Result) -> None:
        self.count += 1
        self.are_temporary = self.are_temporary and result.is_temporary
        kept = self._own if result.caused_by is None else self._consequences
        kept.append(result)
        if len(kept) > 2 * _MOST_NAMED:
            kept[:] = _first(kept)

    def named(self) -> list[Result]:
        """Those that fail by themselves, by position, then those that fail because others did."""
        return [*_first(self._own), *_first(self._consequences)][:_MOST_NAMED]


def _first(results: list[Result]) -> list[Result]:
    return sorted(results, key=lambda result: result.operation.position)[:_MOST_NAMED]
