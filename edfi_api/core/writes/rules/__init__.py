"""The host's own rules for what clients write: functions in Python, and conditions in TOML.

`ruled_write` defines what a rule is given and what it finds, `look_ups` how it reads other documents, within a budget.
`declared` makes rules of TOML files, by `conditions`; `configured` has the rules of the settings by resource, and
`enforcing` runs them on one write. Writes of requests, batches and loads call `enforcing`.
"""

from edfi_api.core.writes.rules.ruled_write import Finding, FindingSeverity, RuledWrite, on_write

__all__ = ["Finding", "FindingSeverity", "RuledWrite", "on_write"]
