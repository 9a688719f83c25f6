"""Why changes cannot be handed on: facts for the operator."""

from dataclasses import dataclass


@dataclass
class ConsumerIsBusy(Exception):
    """Another process reads under this name."""

    name: str

    def __str__(self) -> str:
        return f"another process reads the changes as {self.name!r}"


@dataclass
class SinkFailed(Exception):
    """A sink did not take changes; they will be offered again from the same place."""

    reason: str

    def __str__(self) -> str:
        return self.reason


@dataclass
class UnknownHandler(Exception):
    """The settings name no handler of this name any more."""

    name: str

    def __str__(self) -> str:
        return f"there is no handler {self.name!r} in the modules that settings name"


@dataclass
class UnknownSink(Exception):
    """The settings have no sink of this name."""

    name: str
    known: list[str]

    def __str__(self) -> str:
        return f"there is no sink {self.name!r}; settings have: {', '.join(self.known)}"
