"""Worker processes for work that needs no database.

They are forked from a fork server that has only loaded the modules they need (`forked_from`), so further processes
start at almost no cost, and they inherit no database connection, lock or thread of this process.
"""

import gc
import multiprocessing
import os
import signal
from concurrent.futures import ProcessPoolExecutor
from threading import Thread

import django

_FORKED_FROM = "edfi_api.common.forked_from"


def process_pool(count: int) -> ProcessPoolExecutor:
    """A pool of `count` processes, which are started on demand."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([_FORKED_FROM])
    return ProcessPoolExecutor(count, mp_context=context, initializer=_begin)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent, which shuts the pool down.
    Thread(target=_end_with_parent, daemon=True).start()
    django.setup()
    gc.freeze()


def _end_with_parent() -> None:
    """Exit when the parent is gone: if that is killed, the pool's workers would otherwise wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
