"""Metrics for Prometheus: requests, counted by each worker, and the state of the database at the time of the scrape.

Worker processes write their counts to files in PROMETHEUS_MULTIPROC_DIR, which gunicorn's settings create; the worker
that answers a scrape aggregates them. Without that folder the metrics are those of one process.
"""

import os
from collections.abc import Iterator
from contextlib import suppress

from django.db import DatabaseError, InterfaceError, connection
from django.utils import timezone
from oauth2_provider.models import get_access_token_model
from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, generate_latest, values
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric as MetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from edfi_api.common.conf import api_settings
from edfi_api.common.contributions import contributions
from edfi_api.core.data_stores.access import Breaker
from edfi_api.core.data_stores.databases import data_store_of
from edfi_api.core.data_stores.provisioning_state import Pending
from edfi_api.core.data_stores.routing_cache import routing_cache
from edfi_api.core.storage.database_state import known_database_state
from edfi_api.site.schedule.models import CommandOutcome, of_this_schedule

_process_id = os.getpid()


def _remember_process() -> None:
    global _process_id  # noqa: PLW0603
    _process_id = os.getpid()


# By default each of the four counts of a request makes a system call to find out whether the process has forked.
os.register_at_fork(after_in_child=_remember_process)
if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
    values.ValueClass = values.MultiProcessValue(lambda: _process_id)  # type: ignore[no-untyped-call]

REQUESTS = Counter("meadowlark_requests", "Requests answered.", ["method", "route", "status"])
# Times are by view, not by resource, whose buckets would be tens of thousands of time series.
SECONDS = Histogram(
    "meadowlark_request_seconds",
    "How long requests took.",
    ["method", "view"],
    buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
# Problems are counted by type: a URN without its prefix, or a code of OAuth at the token endpoint. Routes would
# multiply them.
PROBLEMS = Counter("meadowlark_problems", "Requests refused or failed, by the type of the problem.", ["problem"])
_OF_CLIENTS = "meadowlark_client_requests"
CLIENT_REQUESTS = Counter(_OF_CLIENTS, "Requests of API clients with a valid token.", ["client", "outcome"])
STORE_REQUESTS = Counter(
    "meadowlark_store_requests",
    "Requests of each data store, by the class of the status.",
    ["data_store", "code_class"],
)
STORE_REFUSED = Counter(
    "meadowlark_store_refused",
    "Requests refused because a data store is offline, does not answer (open) or is too slow (busy).",
    ["data_store", "reason"],
)
STORE_CONNECTIONS = Gauge(
    "meadowlark_store_connections",
    "Connections of the server to the databases of each data store.",
    ["data_store"],
    multiprocess_mode="livesum",
)
BATCH_OPERATIONS = Counter(
    "meadowlark_batch_operations",
    "Operations of batches, by what they would have been answered.",
    ["op", "route", "status"],
)
BATCH_SECONDS = Histogram(
    "meadowlark_batch_seconds",
    "How long batches took.",
    ["mode"],
    buckets=(0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
)
BATCH_SIZE = Histogram(
    "meadowlark_batch_size", "Operations in a batch.", buckets=(1, 10, 50, 100, 500, 1000, 5000, 20_000, 100_000)
)
BATCH_ALONE = Counter("meadowlark_batch_alone", "Operations of batches that were carried out as single requests.")

_CONNECTIONS = """
    SELECT coalesce(state, 'unknown'), count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = current_setting('application_name')
    GROUP BY 1
"""


def count_connections(alias: str, number: int) -> None:
    """Count that so many more connections to this database of a data store are open; or fewer, if negative."""
    if api_settings.STORE_METRICS:
        STORE_CONNECTIONS.labels(data_store_of(alias)).inc(number)


class DatabaseCollector(Collector):
    """Database connections of all servers, and the number of valid tokens."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        connections = GaugeMetricFamily(
            "meadowlark_database_connections", "Connections to the database.", labels=["state"]
        )
        tokens = GaugeMetricFamily("meadowlark_valid_tokens", "Tokens that have not expired.")
        is_up = GaugeMetricFamily("meadowlark_database_up", "Whether the database answers.")
        try:
            for state, count in _connection_states():
                connections.add_metric([state], count)
            tokens.add_metric([], int(get_access_token_model().objects.filter(expires__gt=timezone.now()).count()))
            is_up.add_metric([], 1)
        except (DatabaseError, InterfaceError):
            is_up.add_metric([], 0)
        yield from (is_up, connections, tokens)


class ScheduleCollector(Collector):
    """The last results of the commands of the schedule."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        failed = GaugeMetricFamily(
            "meadowlark_scheduled_command_failed", "Whether a scheduled command failed the last time.", labels=["entry"]
        )
        age = GaugeMetricFamily(
            "meadowlark_scheduled_command_age_seconds",
            "Time since a scheduled command last succeeded; absent before the first time.",
            labels=["entry"],
        )
        with suppress(DatabaseError, InterfaceError):  # `meadowlark_database_up` reports it.
            for row in of_this_schedule():
                failed.add_metric([row.entry], float(row.outcome == CommandOutcome.FAILED))
                if row.succeeded_at:
                    age.add_metric([row.entry], (timezone.now() - row.succeeded_at).total_seconds())
        yield from (failed, age)


class DataStoreCollector(Collector):
    """The data stores that the process which answers has used, as it has seen them last. Connects to none."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        is_up = GaugeMetricFamily("meadowlark_store_up", "Whether a data store answers.", labels=["data_store"])
        pending = GaugeMetricFamily(
            "meadowlark_store_migrations_pending", "Migrations that a data store lacks.", labels=["data_store"]
        )
        with suppress(DatabaseError, InterfaceError):  # `meadowlark_database_up` reports it.
            for store in routing_cache().table().stores.values() if api_settings.STORE_METRICS else ():
                known = known_database_state(store.primary.alias)
                if known is None:
                    continue
                if breaker := known.kept(Breaker):
                    is_up.add_metric([str(store.id)], float(not breaker.is_open))
                missing = known.kept(Pending)
                if missing is not None and missing.number is not None:
                    pending.add_metric([str(store.id)], missing.number)
        yield from (family for family in (is_up, pending) if family.samples)


class ContributedCollector(Collector):
    """The metrics that capabilities contribute about the database."""

    def collect(self) -> Iterator[MetricFamily]:
        for metrics in contributions("metrics"):
            with suppress(DatabaseError, InterfaceError):  # `meadowlark_database_up` reports it.
                yield from metrics()


_DATABASE = CollectorRegistry()
_DATABASE.register(DatabaseCollector())
_DATABASE.register(ContributedCollector())
_DATABASE.register(DataStoreCollector())
_DATABASE.register(ScheduleCollector())


def exposition(*, has_clients: bool = True) -> bytes:
    """All metrics in Prometheus's text format, those of each client, by its key, only if wanted."""
    return generate_latest(_counted(has_clients=has_clients)) + generate_latest(_DATABASE)


def families(*, has_clients: bool) -> Iterator[MetricFamily]:
    """Yield all metrics, those of each client only if wanted."""
    yield from _counted(has_clients=has_clients).collect()
    yield from _DATABASE.collect()


class _WithoutClients(Collector):
    """The metrics of a registry but those of clients."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[MetricFamily]:
        return (family for family in self._registry.collect() if family.name != _OF_CLIENTS)


def _counted(*, has_clients: bool) -> Collector:
    return _requests() if has_clients else _WithoutClients(_requests())


def _requests() -> CollectorRegistry:
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


def _connection_states() -> list[tuple[str, int]]:
    with connection.cursor() as cursor:
        cursor.execute(_CONNECTIONS)
        return list(cursor)
