"""Exceptions of the change stream, with texts for the operator."""

from dataclasses import dataclass


@dataclass
class ConsumerIsBusy(Exception):
    """Another process holds this consumer."""

    name: str

    def __str__(self) -> str:
        return f"another process reads the changes as {self.name!r}"


class ResultHandlerFailed(Exception):
    """A handler of results of validation raised an error, which is in the log."""

    def __str__(self) -> str:
        return "A handler of results failed; its position is before the result."


@dataclass
class SinkFailed(Exception):
    """A sink did not accept changes; they will be sent again."""

    reason: str

    def __str__(self) -> str:
        return self.reason


@dataclass
class UnknownHandler(Exception):
    """The configured modules have no handler with this name."""

    name: str

    def __str__(self) -> str:
        return f"there is no handler {self.name!r} in the modules that settings name"


@dataclass
class UnknownSink(Exception):
    """The settings have no sink with this name."""

    name: str
    known: list[str]

    def __str__(self) -> str:
        return f"there is no sink {self.name!r}; settings have: {', '.join(self.known)}"
