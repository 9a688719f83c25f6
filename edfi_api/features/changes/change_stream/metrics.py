"""The metrics of the change stream."""

from collections.abc import Iterator

from prometheus_client.metrics_core import GaugeMetricFamily

from edfi_api.features.changes.change_stream.log import lags
from edfi_api.features.changes.change_stream.models import DeadLetter


def metrics() -> Iterator[GaugeMetricFamily]:
    """The lag of the change consumers, and the number of dead letters."""
    seconds = GaugeMetricFamily(
        "meadowlark_change_consumer_lag_seconds",
        "Age of the oldest change that a consumer has not seen.",
        labels=["consumer", "log"],
    )
    versions = GaugeMetricFamily(
        "meadowlark_change_consumer_version",
        "Change version up to which a consumer is.",
        labels=["consumer", "log"],
    )
    letters = GaugeMetricFamily(
        "meadowlark_dead_letters", "Changes that a handler could not process.", labels=["handler"]
    )
    for lag in lags():
        seconds.add_metric([lag.consumer, lag.log], lag.seconds)
        versions.add_metric([lag.consumer, lag.log], lag.change_version)
    for handler, count in DeadLetter.numbers().items():
        letters.add_metric([handler], count)
    yield from (seconds, versions, letters)
