"""Handlers of results, for tests."""

from edfi_api.features.validation.events import ResultEvent
from edfi_api.features.validation.handling import on_validation

SEEN: list[tuple[str, str, str | None]] = []
# Natural keys of which the handler raises.
FAILING: set[str] = set()


@on_validation()
def every(event: ResultEvent) -> None:
    if event.natural_key in FAILING:
        raise ValueError("not now")
    SEEN.append(("every", event.operation, event.natural_key))


@on_validation(rule="S-2")
def of_rule(event: ResultEvent) -> None:
    SEEN.append(("of_rule", event.operation, event.natural_key))


@on_validation(severity="major")
def major(event: ResultEvent) -> None:
    SEEN.append(("major", event.operation, event.natural_key))
