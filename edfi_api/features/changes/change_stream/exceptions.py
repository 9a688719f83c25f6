"""Exceptions of the change stream, with texts for the operator."""

from dataclasses import dataclass


class ChangeStreamError(Exception):
    """The base of all."""


@dataclass
class ConsumerIsBusy(ChangeStreamError):
    """Another process holds this consumer."""

    name: str

    def __str__(self) -> str:
        return f"another process reads the changes as {self.name!r}"


@dataclass
class SinkFailed(ChangeStreamError):
    """A sink did not accept changes; they will be sent again."""

    reason: str

    def __str__(self) -> str:
        return self.reason


@dataclass
class StreamedByItself(ChangeStreamError):
    """The log of this resource has no other resources."""

    resource: str

    def __str__(self) -> str:
        return f"{self.resource} is streamed by itself."


@dataclass
class UnknownHandler(ChangeStreamError):
    """The configured modules have no handler with this name."""

    name: str

    def __str__(self) -> str:
        return f"there is no handler {self.name!r} in the modules that settings name"


@dataclass
class UnknownResource(ChangeStreamError):
    """No resource has this path."""

    path: str

    def __str__(self) -> str:
        return f"there is no resource {self.path!r}; one reads like ed-fi/students"


@dataclass
class UnknownSink(ChangeStreamError):
    """The settings have no sink with this name."""

    name: str
    known: list[str]

    def __str__(self) -> str:
        return f"there is no sink {self.name!r}; settings have: {', '.join(self.known)}"
