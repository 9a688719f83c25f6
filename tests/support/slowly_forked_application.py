"""The constant view in workers that are slow to start: they handle signals a second after the fork."""

import os
import time

from tests.support.constant_application import application

__all__ = ["application"]

os.register_at_fork(after_in_child=lambda: time.sleep(1))
