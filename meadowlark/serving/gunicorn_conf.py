"""gunicorn's settings for Meadowlark, except the address, which is given on its command line."""

import os
import resource
import shutil
from importlib import import_module

from django.conf import settings
from django.db import connections
from gunicorn.arbiter import Arbiter
from gunicorn.workers.base import Worker

from edfi_api.common.settings_table import SETTINGS
from meadowlark.configuration.environment import read
from meadowlark.serving import listeners
from meadowlark.serving.process import (
    delay_stop_signals,
    deliver_stop_signals_after_forks,
    keep_little_freed_memory,
    make_metrics_folder,
)


def _open_files() -> int:
    """Raise the limit of open files and connections, 1024 on most systems, as far as needed; returns the limit."""
    least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4096 if most == resource.RLIM_INFINITY else min(4096, most)
    if wanted > least != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    return wanted


# Processes use the cores; threads wait for PostgreSQL concurrently. More of either did not make requests cheaper
# (meadowlark/docs/design/performance.md). Fewer threads cost nothing while all requests are fast, but then a few slow
# queries block all others.
#
# A request takes a database connection (connection_pool.py), and never waits for one. A batch that goes on
# while its answer is sent does so in a thread of `large_answers.Senders`, and takes one there for each block. So at
# most workers x (threads + the lesser of threads and MEADOWLARK_BATCHES_AT_ONCE) are open to a database; with
# gunicorn's own worker, workers x threads.
worker_class = "gthread"
# Otherwise gunicorn's own worker serves, with threads.
if _IS_OWN_WORKER := read(SETTINGS["WORKER"]) == "granian":
    worker_class = import_module("meadowlark.serving.worker").EngineWorker
    worker_class.request_seconds = read(SETTINGS["REQUEST_SECONDS"])
    deliver_stop_signals_after_forks()
workers = read(SETTINGS["WORKERS"])
threads = read(SETTINGS["THREADS"])
# The surface is compiled once, before the workers are forked, and its memory is shared. So SIGHUP replaces the workers,
# without losing a request, but loads no new code: that takes a restart. Of the 136 MB of a new worker 13 are unshared.
preload_app = True

# No `max_requests`: the memory of a worker does not grow with its requests.

# The side that closes an idle connection may lose a request that is already on its way, which behind a proxy becomes an
# occasional 502. So the proxy, or the client's pool, should be the one to close, and the server waits longer than they
# do: nginx and Amazon's load balancers close after 60 seconds, httpx after 5; Google's keep connections for 600 and
# recommend more for the server.
keepalive = read(SETTINGS["KEEPALIVE_SECONDS"])
# Per worker. Beyond that the connection that has been idle longest is closed in favour of a new one.
worker_connections = min(1000, _open_files() - 100 - 3 * threads)
graceful_timeout = 20
# For gunicorn's own worker alone: its maximum, because queries may name many fields.
limit_request_line = 8190
limit_request_fields = 100
limit_request_field_size = 8190

# No peer may set WSGI variables or the scheme by a header. gunicorn trusts loopback by default, which includes every
# local process and every local proxy that passes unknown headers on. Behind a proxy Django reads X-Forwarded-* itself,
# and only with MEADOWLARK_BEHIND_PROXY.
forwarded_allow_ips = ""
# Peers of a Unix socket have no address and count as trusted.
forwarder_headers = ""
secure_scheme_headers: dict[str, str] = {}

loglevel = "warning"
# Its default path is in the account's home folder, where two servers would conflict.
control_socket_disable = True


# Where all workers write their metrics; set before the application is loaded, because prometheus_client reads it on
# import.
_METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
os.environ[_METRICS_FOLDER] = make_metrics_folder()


def on_exit(server: Arbiter) -> None:
    """Remove the metrics files: counters start at zero with each start."""
    shutil.rmtree(os.environ[_METRICS_FOLDER], ignore_errors=True)


def pre_fork(server: Arbiter, worker: Worker) -> None:
    """Close database connections, which a worker would inherit and two processes would then use."""
    connections.close_all()
    if _IS_OWN_WORKER:
        listeners.assign(server, worker)
        delay_stop_signals()


def when_ready(server: Arbiter) -> None:
    """Called once, at the start. gunicorn has no hook for SIGTERM, for which it calls this method."""
    if not _IS_OWN_WORKER:
        return
    stop = server.handle_term

    def handle_term() -> None:
        listeners.end(server)
        stop()

    server.handle_term = handle_term


def nworkers_changed(server: Arbiter, count: int, before: int | None) -> None:
    """Called at the start and by the signals HUP, TTIN, TTOU and, in a daemon, WINCH, before gunicorn acts on them."""
    if _IS_OWN_WORKER:
        listeners.retire(server, count)


def child_exit(server: Arbiter, worker: Worker) -> None:
    """Called after every exit of a worker, including a crash. Its connections are no longer counted."""
    import_module("prometheus_client.multiprocess").mark_process_dead(worker.pid)
    if _IS_OWN_WORKER:
        listeners.release(server, worker)


def post_fork(server: Arbiter, worker: Worker) -> None:
    """Start the threads that export telemetry: threads do not survive a fork."""
    keep_little_freed_memory()
    if _IS_OWN_WORKER:
        listeners.keep_own(worker)
    if settings.TELEMETRY:
        telemetry = import_module("edfi_api.site.observability.telemetry")
        telemetry.export(settings.TELEMETRY, settings.TELEMETRY_METRICS_SECONDS)
