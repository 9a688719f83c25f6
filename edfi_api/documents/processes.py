"""Processes beside this one for work that needs no database. They know Django's models and nothing else of us.

They are forked from a process that has loaded these (`forked_from`) and done nothing else: so the second one costs
next to nothing, and no database connection, lock or thread of this process is theirs.
"""

import gc
import multiprocessing
import os
import signal
from concurrent.futures import ProcessPoolExecutor
from threading import Thread

import django

_FORKED_FROM = "edfi_api.documents.forked_from"


def process_pool(count: int) -> ProcessPoolExecutor:
    """A pool of so many processes; they start when they are needed."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([_FORKED_FROM])
    return ProcessPoolExecutor(count, mp_context=context, initializer=_begin)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that shuts the pool down.
    Thread(target=_end_with_parent, daemon=True).start()
    django.setup()
    gc.freeze()


def _end_with_parent() -> None:
    """The pool itself would wait for work for ever if the process that owns it were killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
