"""The `EDFI_API` setting: defaults, one comment each; unknown names are refused.

Read as `api_settings.MAX_PAGE_SIZE`. Values are taken when first asked for, so tests may override them with
Django's `settings` fixture before that or call `reload()`.
"""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed

BUNDLED_STANDARDS = Path(__file__).parent / "data_standards"

DEFAULTS: dict[str, Any] = {
    # The data standard that is served: the name of a bundled one (a folder in edfi_api/data_standards), or the path of
    # a MetaEd project or of an ApiSchema file.
    "DATA_STANDARD": "5.2",
    # Paths of extension projects, served together with the standard: MetaEd projects or ApiSchema files.
    "EXTENSIONS": (),
    # Where the compiled surface is kept between starts; None compiles at every start.
    "CACHE_DIR": None,
    # A larger request body is refused with 413.
    "MAX_BODY_BYTES": 10 * 1024 * 1024,
    # The largest `limit` a client may ask for.
    "MAX_PAGE_SIZE": 500,
    # The `limit` of a request that names none.
    "DEFAULT_PAGE_SIZE": 25,
    # For so many seconds a client that wrote is answered by the primary; a replica further behind answers nobody.
    "REPLICA_SECONDS": 10,
    # Whether reference objects are served with a link to the document they mean.
    "LINKS": True,
    # Whether query parameters that a resource does not have are left out of account, as older Ed-Fi servers do. A
    # misspelt one then returns everything.
    "IGNORE_UNKNOWN_PARAMETERS": False,
    # Whether the body of a PUT may come without the `id` that stands in its URL, as older Ed-Fi servers allow.
    "PUT_WITHOUT_ID": False,
    # Whether a POST whose document exists is authorized as Update, instead of as Create like in Ed-Fi's own server.
    "UPSERT_ASKS_UPDATE": False,
    # Whether problem details leave out `errors` and `validationErrors` that are empty: some loaders show the first
    # member that is there.
    "OMIT_EMPTY_PROBLEM_MEMBERS": False,
    # Whether /metrics is served, which shows everyone how much which resources are used.
    "METRICS": True,
    # Header with the correlation id: what a request has there stands in logs, problem details and the answer.
    "CORRELATION_HEADER": "correlationid",
    # Whether every request leaves a line in the log; those that were refused or failed always do.
    "LOG_REQUESTS": False,
    # Where `stream_changes` can hand changes on to: by name, the class and its options.
    "CHANGE_SINKS": {"output": {"BACKEND": "edfi_api.change_stream.sinks.standard_output.StandardOutput"}},
    # Modules with functions that are called for changes; see `on_change`.
    "CHANGE_HANDLERS": (),
    # For how many days superseded versions, and the bodies of deleted documents, are kept by `purge_changes`.
    "CHANGE_RETENTION_DAYS": 90,
    # For how long a token that was valid is trusted without looking again: revocation works within this time.
    "TOKEN_CACHE_SECONDS": 10,
    # How many tokens a client may get in a minute, and how often anybody may ask at one address; 0 for any number.
    "TOKENS_PER_MINUTE": 60,
    "TOKEN_REQUESTS_PER_MINUTE": 600,
    # How often an address, and a user name from all addresses, may try to log in to the admin in a minute.
    "LOGINS_PER_MINUTE": 10,
    "LOGINS_PER_USER_AND_MINUTE": 60,
    # Whether a proxy stands in front, whose X-Forwarded-For says who asks.
    "BEHIND_PROXY": False,
}


def source_path(named: str) -> Path:
    """Where a bundled standard of this name is, else the path itself; bundled names win over folders of that name."""
    return BUNDLED_STANDARDS / named if named in bundled_standards() else Path(named)


def bundled_standards() -> list[str]:
    return sorted(path.name for path in BUNDLED_STANDARDS.iterdir() if path.is_dir())


class ApiSettings:
    """Attribute access to `EDFI_API` over `DEFAULTS`."""

    def __getattr__(self, name: str) -> Any:
        """Asked for what is no attribute yet; with the first all values become attributes, which are read at once."""
        if name not in DEFAULTS:
            raise AttributeError(name)
        self.__dict__.update(self._read())
        return self.__dict__[name]

    @staticmethod
    def _read() -> dict[str, Any]:
        given = getattr(settings, "EDFI_API", {})
        if unknown := sorted(set(given) - set(DEFAULTS)):
            raise ImproperlyConfigured(f"EDFI_API has unknown names: {', '.join(unknown)}")
        return {**DEFAULTS, **given}

    def reload(self) -> None:
        """Forget the values read, so that the next access reads the settings again."""
        self.__dict__.clear()

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
        """All that the API is made from, the data standard first."""
        return (self.data_standard, *self.EXTENSIONS)


api_settings = ApiSettings()


def _reload_on_change(*, setting: str, **_: Any) -> None:
    if setting == "EDFI_API":
        api_settings.reload()


setting_changed.connect(_reload_on_change)
