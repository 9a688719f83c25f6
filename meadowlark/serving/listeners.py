"""A listening socket for each worker, among which the system distributes new connections (SO_REUSEPORT).

On a shared socket the worker that wakes first accepts all connections that have arrived, often all of a client's pool.

The arbiter keeps the sockets open. So connections that wait in the queue of a worker that ends, by a reload or a crash,
are accepted by its successor; where gunicorn itself opens a socket for each worker (`reuse_port`), they are reset.

When the whole server ends there is no successor. Then no handshake begins any more, the workers accept what is in their
queues, and all close the sockets: from then on connections are refused, and a balancer asks another server.
"""

import os
import signal
import socket
import struct
import time
from array import array
from collections import Counter
from contextlib import suppress

from gunicorn.arbiter import Arbiter
from gunicorn.workers.base import Worker

Socket = socket.socket
Sockets = list[Socket]

# Linux's options of a listening socket for all that share its address; Python has no names for them.
_ATTACH_PROGRAM, _DETACH_PROGRAM = 51, 68
# In seconds: for handshakes under way to complete, and for a worker to accept what waits in its queue.
_QUEUE_SECONDS = 1.0
# As above, when the server ends: for handshakes, and for all queues to be empty.
_LAST_HANDSHAKE_SECONDS = 0.3
_LAST_QUEUE_SECONDS = 5.0
_PAUSE_SECONDS = 0.05
# The connections in the queue of a listening socket, in Linux's struct tcp_info.
_QUEUED = struct.Struct("24xI")
# Classic BPF on TCP segments: the flags; of SYN and ACK; if it is SYN alone, no byte of the segment is taken.
_ATTACH_FILTER = 26
_WITHOUT_NEW_HANDSHAKES = [
    (0x30, 0, 0, 13),
    (0x54, 0, 0, 0x12),
    (0x15, 0, 1, 0x02),
    (0x06, 0, 0, 0),
    (0x06, 0, 0, 2**18),
]

# By slot. A slot has one live worker, and two while one replaces the other. The first has the sockets of gunicorn,
# which closes them itself.
_slots: dict[int, Sockets] = {}


def assign(server: Arbiter, worker: Worker) -> None:
    """Give a worker that is about to be forked the sockets of a slot, preferably one without a worker."""
    if _slots.get(0) is not server.LISTENERS:
        _slots.clear()
        _slots[0] = server.LISTENERS
    users = Counter(each.slot for each in server.WORKERS.values())
    worker.slot = min(range(server.num_workers), key=lambda slot: (users[slot], slot))
    if worker.slot not in _slots:
        _slots[worker.slot] = [_open_another(listener, server.cfg.backlog) for listener in server.LISTENERS]
    worker.sockets = _slots[worker.slot]


def keep_own(worker: Worker) -> None:
    """Close the sockets of other slots, in the worker. The system distributes connections to a socket for as long as
    any process has it open."""
    for slot in _slots.keys() - {0, worker.slot}:
        _close(_slots[slot])


def retire(server: Arbiter, count: int) -> None:
    """Stop the workers of the slots beyond this number of workers. Before that, the others get all new connections, and
    these accept what waits in their queues."""
    leaving = [worker for worker in server.WORKERS.values() if worker.slot >= count]
    if not leaving:
        return
    for listener in server.LISTENERS:
        _distribute(listener, count)
    time.sleep(_QUEUE_SECONDS)
    for worker in leaving:
        os.kill(worker.pid, signal.SIGTERM)
        # gunicorn stops the oldest if there are too many: these again, and no others.
        worker.age = 0


def release(server: Arbiter, worker: Worker) -> None:
    """Close, after the end of a worker, the sockets of its slot if there will be no other worker for it."""
    if 0 < worker.slot >= server.num_workers:
        _close(_slots.pop(worker.slot, []))
    if all(slot < server.num_workers for slot in _slots):
        for listener in server.LISTENERS:
            _distribute(listener, None)


def end(server: Arbiter) -> None:
    """Prepare the end of all workers: begin no handshake, let the workers accept what waits in their queues, and close
    all sockets but those of gunicorn, which closes them next."""
    every = [each for sockets in _slots.values() for each in sockets if each.family != socket.AF_UNIX]
    for each in every:
        _ignore_new(each)
    time.sleep(_LAST_HANDSHAKE_SECONDS)
    last = time.monotonic() + _LAST_QUEUE_SECONDS
    while any(map(_is_awaited, every)) and time.monotonic() < last:
        time.sleep(_PAUSE_SECONDS)
    for slot in _slots.keys() - {0}:
        _close(_slots.pop(slot))


def _ignore_new(listener: Socket) -> None:
    """Ignore new handshakes. A client whose handshake is ignored tries again a second later, and is refused if the
    socket has been closed. Changes nothing on systems that have no such filter."""
    with suppress(OSError):
        program = array("B", b"".join(struct.pack("HBBI", *step) for step in _WITHOUT_NEW_HANDSHAKES))
        start, _ = program.buffer_info()
        filter_ = struct.pack("HP", len(_WITHOUT_NEW_HANDSHAKES), start)
        listener.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, filter_)


def _is_awaited(listener: Socket) -> bool:
    """Return whether connections wait in its queue; unknown, and False, beyond Linux."""
    if not hasattr(socket, "TCP_INFO"):
        return False
    info = listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _QUEUED.size)
    return len(info) == _QUEUED.size and _QUEUED.unpack(info)[0] > 0


def _distribute(listener: Socket, count: int | None) -> None:
    """Let new connections go to so many of the sockets at the address of this one, the first that were opened; or to
    all. Changes nothing where a socket is shared, and on systems that have no such option."""
    with suppress(OSError):
        # First: what cannot be removed again would withhold connections from workers that are added later.
        with suppress(FileNotFoundError):
            listener.setsockopt(socket.SOL_SOCKET, _DETACH_PROGRAM, 0)
        if count:
            # Classic BPF: load a random number, divide it, return the remainder.
            steps = [(0x20, 0xFFFFF038), (0x94, count), (0x16, 0)]
            program = array("B", b"".join(struct.pack("HxxI", *step) for step in steps))
            start, _ = program.buffer_info()
            listener.setsockopt(socket.SOL_SOCKET, _ATTACH_PROGRAM, struct.pack("HP", len(steps), start))


def _open_another(listener: Socket, backlog: int) -> Socket:
    """Open another socket at the same address. The same one again where the system allows no other: Unix sockets, and
    sockets that another account has opened."""
    if listener.family == socket.AF_UNIX:
        return listener.dup()
    another = socket.socket(listener.family, listener.type)
    # As gunicorn's. `dup` of a blocking one would make it blocking for all processes that have it open: the engine of
    # another worker would wait in accept, and its connections with it.
    another.setblocking(False)
    try:
        for each in (listener, another):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        another.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        another.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        another.bind(listener.getsockname())
        another.listen(backlog)
    except OSError:
        another.close()
        return listener.dup()
    return another


def replace_by_silent(listener: int) -> None:
    """Make a file descriptor of a listening socket one of a socket without clients. Connections to the former
    socket wait in its queue, as far as another descriptor keeps it open."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.setblocking(False)
        os.dup2(silent.fileno(), listener, inheritable=False)


def _close(sockets: Sockets) -> None:
    for each in sockets:
        each.close()
