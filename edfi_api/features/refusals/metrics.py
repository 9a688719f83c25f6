"""Metrics of the ledger that each process counts."""

from collections.abc import Iterator

from prometheus_client import Counter
from prometheus_client.metrics_core import GaugeMetricFamily

from edfi_api.features.refusals.occurrences import Refusals
from edfi_api.features.refusals.overview import open_by_vendor

REFUSALS = Counter(
    "meadowlark_refusals", "Writes that were refused because of data or permissions.", ["client", "resource", "problem"]
)
DROPPED = Counter("meadowlark_refusals_dropped", "Refused writes that were not recorded, because the queue was full.")

# Each set of labels is a time series in the memory of the process until it ends.
_MOST = 2_000
_OTHER = "other"


class RefusalCounter:
    """Counts refusals of one process, with so many sets of labels at most."""

    def __init__(self) -> None:
        self._known: set[tuple[str, str, str]] = set()

    def count(self, refusals: Refusals) -> None:
        """Unknown resources share a label, since clients choose them."""
        write = refusals.write
        labels = (str(write.client), write.resource if write.validator else _OTHER, refusals.problem)
        if labels not in self._known:
            if len(self._known) >= _MOST:
                labels = (_OTHER, _OTHER, _OTHER)
            self._known.add(labels)
        REFUSALS.labels(*labels).inc(refusals.count)


def open_refusals() -> Iterator[GaugeMetricFamily]:
    """Open entries of the ledger of refusals by vendor."""
    entries = GaugeMetricFamily(
        "meadowlark_open_refusals", "Refused writes that have not succeeded since.", labels=["vendor"]
    )
    for vendor, number in open_by_vendor():
        entries.add_metric([vendor], number)
    yield entries
