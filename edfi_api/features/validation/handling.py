"""Marks functions that `run_handlers` calls for results of validation, in modules of the setting CHANGE_HANDLERS."""

from collections.abc import Callable

from edfi_api.features.changes.change_stream.handlers import Handled, called_for
from edfi_api.features.validation.events import ResultEvent, ResultLog

Handle = Callable[[ResultEvent], object]


def on_validation(*, rule: str = "", severity: str = "") -> Callable[[Handle], Handle]:
    """Call the function for each result that appears, changes or is resolved; with `rule` or `severity`, for those of
    this rule or severity only. Otherwise as `on_change` says of changes."""

    def accepts(event: ResultEvent) -> bool:
        return rule in ("", event.rule_identifier) and severity in ("", event.severity)

    return called_for(Handled(ResultLog.name, accepts))
