"""The metrics of the exchange with other APIs."""

from collections.abc import Iterator

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily

from edfi_api.features.exchange.models import ConnectionState, Phase


def metrics() -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
    """Yield how far the connections to other APIs are, and what has become of their documents."""
    lag = GaugeMetricFamily(
        "meadowlark_exchange_lag_changes",
        "Change versions that the remote API, or this one, has given behind the position of a connection.",
        labels=["connection", "direction"],
    )
    failed = GaugeMetricFamily(
        "meadowlark_exchange_failed",
        "Whether a connection waits or has failed.",
        labels=["connection", "direction"],
    )
    documents = CounterMetricFamily(
        "meadowlark_exchange_documents",
        "Documents that have passed a connection, or were refused.",
        labels=["connection", "direction", "result"],
    )
    for state in ConnectionState.objects.select_related("connection"):
        labels = [state.connection.name, state.connection.direction]
        if state.position is not None and state.newest is not None:
            lag.add_metric(labels, max(state.newest - state.position, 0))
        failed.add_metric(labels, state.phase in (Phase.WAITING, Phase.FAILED))
        documents.add_metric([*labels, "accepted"], state.accepted)
        documents.add_metric([*labels, "refused"], state.refused)
    yield from (lag, failed, documents)
