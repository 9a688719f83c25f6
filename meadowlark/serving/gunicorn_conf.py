"""How gunicorn serves Meadowlark; the address is given on its command line."""

import gc
import os
import resource
import shutil
from importlib import import_module

from django.conf import settings
from django.db import connections
from gunicorn.arbiter import Arbiter
from gunicorn.http import wsgi
from gunicorn.workers.base import Worker

from meadowlark.serving import chunked_body, metrics_folder, unreadable_requests, worker_load
from meadowlark.serving.coalesced_response import CoalescedResponse
from meadowlark.serving.keepalive_worker import KeepaliveWorker

# gunicorn's response takes two packets; there are no settings for others.
wsgi.Response = CoalescedResponse
chunked_body.install()
unreadable_requests.install()


def _count(name: str, default: str) -> int:
    text = os.environ.get(name) or default
    if not text.isdecimal() or int(text) == 0:
        raise ValueError(f"{name} is {text!r}; it must be a whole number above 0.")
    return int(text)


def _open_files() -> int:
    """How many files and connections a process may have open; 1024 on most systems, if it does not ask for more."""
    least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4096 if most == resource.RLIM_INFINITY else min(4096, most)
    if wanted > least != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    return wanted


# Processes use the cores; threads wait for PostgreSQL side by side, and each keeps one database connection with its
# prepared statements. How many of each was measured with `make bench`'s requests, 16 connections, on two cores, in
# microseconds of processor time that gunicorn's processes took for one GET by id, and for one POST (quietest of 12 s):
#     2 x 8 threads   388   702        4 x 4 threads   450   792
#     3 x 6 threads   381   708        8 x 2 threads   456   972
# More processes than cores only fight for the caches. Fewer threads cost nothing as long as all requests are quick, but
# then a few slow queries keep everyone waiting. A thread that lingers with its connection saves two changes
# of threads, and the pipe and poller between them: of the time that gunicorn's processes take for a GET by id about a
# tenth (860 instead of 943 microseconds, side by side on a machine full of other work), of a constant answer nothing.
# Neither a longer sys.setswitchinterval nor a lazier garbage collector made a difference that stood out.
#
# There is no pool of connections that threads would share: each thread has its own, so never more are open than
# workers x threads, and no request waits for one or asks a lock for one.
worker_class = KeepaliveWorker
KeepaliveWorker.request_seconds = _count("MEADOWLARK_REQUEST_SECONDS", default="60")
workers = _count("MEADOWLARK_WORKERS", default="2")
threads = _count("MEADOWLARK_THREADS", default="8")
# The surface is compiled once, before the workers are forked, and its memory is shared. So SIGHUP replaces the workers,
# without losing a request, but not the code: that takes a new start. Of the 120 MB of a worker 57 are its own share.
preload_app = True

# No worker is replaced after so many requests: 70,000 GETs by id made one 5 MB larger, the last 14,000 not at all.

# A connection that stays open saves its client a round trip, and us a fifth of the processor time of a GET by id (685
# instead of 540 microseconds; 740 instead of 1,560 requests/s of one client that sends one after the other). While it
# idles it costs 3 kB and no thread: 2,000 of them, as many as are kept, made no difference to the others.
# Whoever closes an idle connection may meet a request that is just coming, which is then lost: behind a proxy that is a
# 502 now and then. So it had better be the proxy, or the client's pool, and we wait longer than they do: nginx and
# Amazon's load balancers give up after 60 seconds, httpx after 5; Google's keep theirs for 600 and ask for more here.
keepalive = _count("MEADOWLARK_KEEPALIVE_SECONDS", default="75")
# Of each worker. Beyond that the connection that has been idle for longest gives way to a new one.
worker_connections = min(1000, _open_files() - 100 - 3 * threads)
graceful_timeout = 20
# A response that holds its headers back for its body cannot hand a file to the system; the application never does.
sendfile = False
# The longest that gunicorn allows to be set: queries name many fields.
limit_request_line = 8190
limit_request_fields = 100
limit_request_field_size = 8190

# No peer may set WSGI variables or the scheme by a header: gunicorn trusts loopback by default, where every local
# process and every proxy that passes unknown headers on is. Behind a proxy Django reads X-Forwarded-* itself, and only
# with MEADOWLARK_BEHIND_PROXY.
forwarded_allow_ips = ""
# Peers of a Unix socket have no address and count as trusted.
forwarder_headers = ""
secure_scheme_headers = {}

loglevel = "warning"
# It would lie in the account's home folder, where two servers would find each other's.
control_socket_disable = True


# Where all workers write what they count; set before the application is loaded, for its metrics look at it then.
_METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
os.environ[_METRICS_FOLDER] = metrics_folder.make()


def on_exit(server: Arbiter) -> None:
    """Counts begin at zero with each start."""
    shutil.rmtree(os.environ[_METRICS_FOLDER], ignore_errors=True)


def when_ready(server: Arbiter) -> None:
    """What the start made stays for good: the collector need not touch it, so its pages stay shared."""
    gc.collect()
    gc.freeze()


def pre_fork(server: Arbiter, worker: Worker) -> None:
    """No worker inherits a database connection: two processes would speak on one line."""
    connections.close_all()
    worker.slot = worker_load.allocate({each.slot for each in server.WORKERS.values()})


def child_exit(server: Arbiter, worker: Worker) -> None:
    """However it ended."""
    worker_load.release(worker.slot)


def post_fork(server: Arbiter, worker: Worker) -> None:
    """Threads do not survive a fork, so the one that sends spans is started here."""
    if settings.TELEMETRY:
        import_module("meadowlark.telemetry").export_spans()
