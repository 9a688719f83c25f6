"""The metrics of `/metrics` for OpenTelemetry: nothing is counted a second time.

The files of a server have the counts of all its workers, so one of them exports, the one that holds a lock. When it
ends, another one takes its place.
"""

import atexit
import fcntl
import logging
import os
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread

from django.db import connections
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricExporter,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from prometheus_client.metrics_core import Metric as MetricFamily
from prometheus_client.samples import Sample

from edfi_api.common.conf import api_settings
from edfi_api.site.observability.metrics import families

_LOCK = "exporting"
# The seconds for which a process that ends waits for its last export.
_LAST_SECONDS = 3.0
_log = logging.getLogger(__name__)


class MetricsExport(Thread):
    """Exports all metrics at intervals, and once more at the end."""

    def __init__(self, exporter: MetricExporter, seconds: float) -> None:
        super().__init__(name="metrics-export", daemon=True)
        self._exporter = exporter
        self._seconds = seconds
        self._ended = Event()
        self._resource = Resource.create()
        self._lock = _open_lock()
        self._began = os.fstat(self._lock).st_mtime_ns if self._lock is not None else time.time_ns()

    def run(self) -> None:
        is_ended = False
        while not is_ended:
            is_ended = self._ended.wait(self._seconds)
            if self._is_ours():
                self._export()

    def end(self) -> None:
        """Export what was counted last, unless that takes too long."""
        self._ended.set()
        self.join(_LAST_SECONDS)
        self._exporter.shutdown()

    def _is_ours(self) -> bool:
        """Return whether no other worker of the server exports. The lock is held until this process ends."""
        if self._lock is None:
            return True
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _export(self) -> None:
        try:
            metrics = list(exported(families(has_clients=api_settings.METRICS_CLIENTS), self._began, time.time_ns()))
            scope = ScopeMetrics(InstrumentationScope(__name__), metrics, "")
            self._exporter.export(MetricsData([ResourceMetrics(self._resource, [scope], "")]))
        except Exception:  # The next export may succeed.
            _log.exception("metrics were not exported")
        finally:
            connections.close_all()


def export_metrics(seconds: float) -> None:
    """Export metrics from a background thread of this process, at intervals of so many seconds."""
    export = MetricsExport(OTLPMetricExporter(), seconds)
    export.start()
    atexit.register(export.end)


def exported(metrics: Iterable[MetricFamily], began: int, now: int) -> Iterator[Metric]:
    """Yield Prometheus's metrics as those of OpenTelemetry, counted from `began` to `now`, in nanoseconds."""
    for family in metrics:
        yield Metric(family.name, family.documentation, family.unit, _data(family, began, now))


def _data(family: MetricFamily, began: int, now: int) -> Sum | Histogram | Gauge:
    match family.type:
        case "counter":
            totals = [each for each in family.samples if each.name.endswith("_total")]
            points = [NumberDataPoint(each.labels, began, now, each.value) for each in totals]
            return Sum(points, AggregationTemporality.CUMULATIVE, is_monotonic=True)
        case "histogram":
            return Histogram(list(_distributions(family.samples, began, now)), AggregationTemporality.CUMULATIVE)
        case _:
            return Gauge([NumberDataPoint(each.labels, None, now, each.value) for each in family.samples])  # type: ignore[arg-type]  # Has no beginning.


def _distributions(samples: Iterable[Sample], began: int, now: int) -> Iterator[HistogramDataPoint]:
    """Yield a point for each set of labels. Prometheus counts in a bucket what is in those below it, too."""
    up_to: defaultdict[tuple[tuple[str, str], ...], dict[float, int]] = defaultdict(dict)
    sums: dict[tuple[tuple[str, str], ...], float] = {}
    for sample in samples:
        labels = tuple((name, value) for name, value in sorted(sample.labels.items()) if name != "le")
        if sample.name.endswith("_bucket"):
            up_to[labels][float(sample.labels["le"])] = int(sample.value)
        elif sample.name.endswith("_sum"):
            sums[labels] = sample.value
    for labels, counts in up_to.items():
        bounds = sorted(counts)
        cumulative = [counts[bound] for bound in bounds]
        yield HistogramDataPoint(
            attributes=dict(labels),
            start_time_unix_nano=began,
            time_unix_nano=now,
            count=cumulative[-1],
            sum=sums[labels],
            bucket_counts=[upper - lower for lower, upper in pairwise([0, *cumulative])],
            explicit_bounds=bounds[:-1],  # The last one is infinite.
            min=None,  # type: ignore[arg-type]  # Prometheus has none.
            max=None,  # type: ignore[arg-type]
        )


def _open_lock() -> int | None:
    """Open the file of the lock; None where the metrics are those of one process. The file is as old as the counts."""
    folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    return os.open(Path(folder) / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600) if folder else None
