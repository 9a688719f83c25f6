"""How gunicorn serves Meadowlark; the address is given on its command line."""

import gc
import os

from django.db import connections
from gunicorn.arbiter import Arbiter
from gunicorn.workers.base import Worker

# Threads wait for PostgreSQL side by side; processes use the cores. Each thread keeps one database connection.
worker_class = "gthread"
workers = int(os.environ.get("MEADOWLARK_WORKERS") or 2)
threads = int(os.environ.get("MEADOWLARK_THREADS") or 4)
# The surface is compiled once, before the workers are forked, and its memory is shared.
preload_app = True

keepalive = 30
graceful_timeout = 20
# The longest that gunicorn allows to be set: queries name many fields.
limit_request_line = 8190
limit_request_fields = 100
limit_request_field_size = 8190

loglevel = "warning"
# It would lie in the account's home folder, where two servers would find each other's.
control_socket_disable = True


def when_ready(server: Arbiter) -> None:
    """What the start made stays for good: the collector need not touch it, so its pages stay shared."""
    gc.collect()
    gc.freeze()


def pre_fork(server: Arbiter, worker: Worker) -> None:
    """No worker inherits a database connection: two processes would speak on one line."""
    connections.close_all()
