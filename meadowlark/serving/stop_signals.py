"""Signals that stop a worker wait until it handles them.

A worker inherits the handlers of the arbiter, which only note a signal. One that is stopped before it has handlers of
its own would go on until the arbiter kills it, after the graceful timeout.
"""

import os
import signal

_SIGNALS = (signal.SIGTERM, signal.SIGQUIT, signal.SIGINT)


def delay() -> None:
    """In the arbiter, before a fork: this process and the worker receive them after `deliver`."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)


def deliver() -> None:
    """Also those that have arrived since `delay`."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def deliver_after_forks() -> None:
    """Call `deliver` in this process after each fork, also after one that fails."""
    os.register_at_fork(after_in_parent=deliver)
