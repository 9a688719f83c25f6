"""Granian's HTTP engine on one listening socket. All private names of Granian that Meadowlark uses are in this module.

Granian runs RSGI applications on an asyncio loop. Here the threads of its pool call the handler themselves, and
continue it when a body has arrived; see meadowlark/docs/design/decisions/0005-http-engine.md.
"""

import logging
import socket
from collections.abc import Callable
from importlib import import_module
from threading import Event
from typing import Any

from granian.http import HTTP1Settings

from meadowlark.serving import listeners
from meadowlark.serving.rsgi import HTTPProtocol, Scope

_granian: Any = import_module("granian._granian")  # Without its stubs, which are those of an earlier version.
_log = logging.getLogger("meadowlark.serving")

Handler = Callable[[Scope, HTTPProtocol], None]

# The most that the head of a request may have, in bytes; the engine answers longer ones with 431 or 414.
_HEAD_BYTES = 64 * 1024
# Idle threads are not ended: they cost less than to start them again.
_NEVER = 2**31


class _CallingLoop:
    """A loop in place of that of asyncio: it calls back at once, in the thread that completes or cancels a future."""

    def call_soon(self, callback: Callable[..., None], *arguments: object, context: object = None) -> None:
        _run(callback, *arguments)

    call_soon_threadsafe = call_soon


class Engine:
    """Accepts connections and reads HTTP/1 in a thread without the GIL; calls `handle` in one of `threads` others.

    A connection is closed when the head of its next request is not complete `head_seconds` after the last answer. Up to
    `connections` are open at a time; further ones wait in the listener's queue.
    """

    def __init__(
        self,
        listener: socket.socket,
        handle: Handler,
        *,
        threads: int,
        connections: int,
        head_seconds: int,
        backlog: int,
    ) -> None:
        is_unix = listener.family == socket.AF_UNIX
        self._loop = _CallingLoop()
        self._scheduler = _granian.CallbackScheduler(self._loop, None, None, None, None)
        self._scheduler._schedule_fn = lambda watcher: _run(handle, watcher.scope, watcher.proto)
        self._signal = _granian.WorkerSignal()
        self._stopped = Event()
        self._signal.add_cb(self._stopped.set)
        self._listener = listener.dup().detach()  # The engine closes it.
        worker = _granian.RSGIWorker(
            worker_id=1,
            sock=(None, _granian.SocketHolder(self._listener, is_unix, backlog)),
            ipc=None,
            threads=1,
            py_threads=threads,
            py_threads_idle_timeout=_NEVER,
            backpressure=connections,
            http_mode="1",
            http1_opts=HTTP1Settings(header_read_timeout=1000 * head_seconds, max_buffer_size=_HEAD_BYTES),
        )
        self._serve = worker.serve_mtr_uds if is_unix else worker.serve_mtr

    def start(self) -> None:
        """Returns at once. To be called after the fork, since it starts threads."""
        self._serve(self._scheduler, self._loop, self._signal)

    def stop_accepting(self) -> None:
        """Leave further connections in the queue of the listener; those that are open stay open."""
        listeners.replace_by_silent(self._listener)

    def stop(self) -> None:
        """Close connections that have sent nothing or are idle, and all others after the answer to their request."""
        self._signal.set()

    def has_stopped(self) -> bool:
        """Return whether the last connection has been closed after `stop`."""
        return self._stopped.is_set()


def _run(callback: Callable[..., None], *arguments: object) -> None:
    """The engine ignores exceptions. It answers with 500 when a request is dropped without an answer."""
    try:
        callback(*arguments)
    except Exception:
        _log.exception("A request failed outside of the application.")
