"""Processes beside this one for work that needs no database. They know Django's models and nothing else of us.

They are started afresh, not forked: no database connection, lock or thread of this process is theirs.
"""

import multiprocessing
import os
import signal
from concurrent.futures import ProcessPoolExecutor
from threading import Thread

import django


def process_pool(count: int) -> ProcessPoolExecutor:
    """A pool of so many processes; they start when they are needed."""
    return ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"), initializer=_begin)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that shuts the pool down.
    Thread(target=_end_with_parent, daemon=True).start()
    django.setup()


def _end_with_parent() -> None:
    """The pool itself would wait for work for ever if the process that owns it were killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
