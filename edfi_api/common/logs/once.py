"""A filter for loggers whose messages are hints to the operator, of which one is enough."""

import logging


class OncePerProcess(logging.Filter):
    """Lets each message pass once, whatever its arguments."""

    def __init__(self) -> None:
        super().__init__()
        self._passed: set[object] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        is_first = record.msg not in self._passed
        self._passed.add(record.msg)
        return is_first
