"""The `EDFI_API` setting over the defaults of `settings_table.py`; unknown names are refused.

Read as `api_settings.MAX_PAGE_SIZE`. Values are read on first access; a change through Django's `settings` fixture
reloads them.
"""

from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed

from edfi_api.common.settings_table import OF_THE_SERVER, SETTINGS

BUNDLED_STANDARDS = Path(__file__).parents[1] / "model" / "data_standards"

# Settings without a variable.
_WITHOUT_VARIABLE: dict[str, Any] = {
    # Logs that `stream_changes` and `run_handlers` read: classes with the members of `Log`, that of documents first.
    "CHANGE_LOGS": (
        "edfi_api.features.changes.change_stream.documents.DocumentLog",
        "edfi_api.features.validation.events.ResultLog",
    ),
    # Sinks of `stream_changes`: name to class and its options.
    "CHANGE_SINKS": {},
    # The class that records refused and accepted writes, see `WriteRecorder`; empty for none.
    "WRITE_RECORDER": "",
    # Attempts to log in to the admin per minute: by address, and by user name from all addresses.
    "LOGINS_PER_MINUTE": 10,
    "LOGINS_PER_USER_AND_MINUTE": 60,
    # Requests to log in by the provider, by address; a login has two.
    "PROVIDER_LOGINS_PER_MINUTE": 60,
}


def _defaults() -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, setting in SETTINGS.items():
        values[name] = setting.default_among(values)
    return {name: value for name, value in values.items() if name not in OF_THE_SERVER} | _WITHOUT_VARIABLE


DEFAULTS = _defaults()


def source_path(named: str) -> Path:
    """The folder of the bundled standard of this name, else the path itself; bundled names take precedence."""
    return BUNDLED_STANDARDS / named if named in bundled_standards() else Path(named)


def bundled_standards() -> list[str]:
    return sorted(path.name for path in BUNDLED_STANDARDS.iterdir() if path.is_dir())


# The other fields of a form with a file, in bytes.
_OTHER_FIELDS = 64 * 1024
# Without it, a thread that reads the settings while they change could keep the former values.
_reading = Lock()


class ApiSettings:
    """Attribute access to `EDFI_API` over `DEFAULTS`."""

    def __getattr__(self, name: str) -> Any:
        """Read all settings and make them attributes, so that Python calls this for the first of them only."""
        if name not in DEFAULTS:
            raise AttributeError(name)
        with _reading:
            values = self._read()
            self.__dict__.update(values)
        return values[name]

    @staticmethod
    def _read() -> dict[str, Any]:
        given = getattr(settings, "EDFI_API", {})
        if unknown := sorted(set(given) - set(DEFAULTS)):
            raise ImproperlyConfigured(f"EDFI_API has unknown names: {', '.join(unknown)}")
        return {**DEFAULTS, **given}

    def reload(self) -> None:
        """Discard the values, so that the next access reads the settings again."""
        with _reading:
            self.__dict__.clear()

    @cached_property
    def has_main_store(self) -> bool:
        """Whether the admin database is used for documents, by clients without data stores."""
        return bool(self.MAIN_STORE and not self.ROUTE_QUALIFIERS and not self.MULTI_TENANCY)

    @cached_property
    def upload_bytes(self) -> int:
        """The longest body of a form with a file: the longest file, and the other fields."""
        return int(max(self.TABLE_BYTES, self.MAX_BODY_BYTES)) + _OTHER_FIELDS

    @property
    def data_standard(self) -> Path:
        """The folder or the file of the standard."""
        named = str(self.DATA_STANDARD)
        path = source_path(named)
        if not named or not path.exists():
            known = ", ".join(bundled_standards())
            raise ImproperlyConfigured(f"unknown data standard {named!r}: no such folder or file; bundled are: {known}")
        return path

    @property
    def model_sources(self) -> tuple[Path, ...]:
        """The paths of all projects, the data standard first."""
        return (self.data_standard, *self.EXTENSIONS)


api_settings = ApiSettings()


def _reload_on_change(*, setting: str, **_: Any) -> None:
    if setting == "EDFI_API":
        api_settings.reload()


setting_changed.connect(_reload_on_change)
