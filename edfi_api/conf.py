"""The `EDFI_API` setting: defaults, each with a comment; unknown names are refused.

Read as `api_settings.MAX_PAGE_SIZE`. Values are read on first access; a change through Django's `settings` fixture
reloads them.
"""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed

BUNDLED_STANDARDS = Path(__file__).parent / "model" / "data_standards"

DEFAULTS: dict[str, Any] = {
    # The data standard that is served: the name of a bundled one (a folder in edfi_api/model/data_standards), or
    # the path of a MetaEd project or of an ApiSchema file.
    "DATA_STANDARD": "5.2",
    # Paths of extension projects, served together with the standard: MetaEd projects or ApiSchema files.
    "EXTENSIONS": (),
    # The folder that caches the compiled surface between starts; None compiles at every start.
    "CACHE_DIR": None,
    # A larger request body is refused with 413.
    "MAX_BODY_BYTES": 10 * 1024 * 1024,
    # Whether many writes can be sent in one request, and what such a batch may have: operations in an array or in an
    # atomic batch, operations in lines, and bytes.
    "BATCH": True,
    "BATCH_OPERATIONS": 5_000,
    "BATCH_STREAM_OPERATIONS": 100_000,
    "BATCH_BYTES": 64 * 1024 * 1024,
    # For how many seconds a batch is executed.
    "BATCH_SECONDS": 60,
    # How many batches a process executes at once, also of one client, and how many operations a client may send in
    # batches per minute; 0 for no limit.
    "BATCHES_AT_ONCE": 6,
    "BATCHES_PER_CLIENT": 4,
    "BATCH_OPERATIONS_PER_MINUTE": 0,
    # The largest `limit` that a client may request.
    "MAX_PAGE_SIZE": 500,
    # The `limit` of a request without one.
    "DEFAULT_PAGE_SIZE": 25,
    # For so many seconds after a write the primary answers the client; a replica further behind is not used.
    "REPLICA_SECONDS": 10,
    # How long an upsert waits at most for the statement before it, to be written together with others. 0: not at all.
    "GROUP_MILLISECONDS": 2,
    # Whether reference objects are served with a link to the document that they reference.
    "LINKS": True,
    # Whether unknown query parameters are ignored, as by older Ed-Fi servers. A misspelt one then returns everything.
    "IGNORE_UNKNOWN_PARAMETERS": False,
    # Whether unknown members, ambiguous dates and filters by descriptors that do not exist are refused, as for requests
    # with `Prefer: handling=strict`.
    "STRICT": False,
    # Whether the body of a PUT may omit the `id` of its URL, as older Ed-Fi servers allow.
    "PUT_WITHOUT_ID": False,
    # Whether a POST whose document exists is authorized as Update, instead of as Create as in Ed-Fi's own server.
    "UPSERT_ASKS_UPDATE": False,
    # Whether problem details omit `errors` and `validationErrors` that are empty: some loaders show the first of these
    # members that is present.
    "OMIT_EMPTY_PROBLEM_MEMBERS": False,
    # Whether /metrics is served. It needs no token, and shows how much each resource is used.
    "METRICS": True,
    # Header with the correlation id: a request's value is used in logs, problem details and the answer.
    "CORRELATION_HEADER": "correlationid",
    # Whether every request is logged; those that were refused or failed always are.
    "LOG_REQUESTS": False,
    # Sinks of `stream_changes`: name to class and its options.
    "CHANGE_SINKS": {"output": {"BACKEND": "edfi_api.changes.change_stream.sinks.standard_output.StandardOutput"}},
    # Modules with functions that are called for changes; see `on_change`.
    "CHANGE_HANDLERS": (),
    # For how many days `purge_changes` keeps superseded versions and the bodies of deleted documents.
    "CHANGE_RETENTION_DAYS": 90,
    # The class that records refused and accepted writes, see `WriteRecorder`; empty for none.
    "WRITE_RECORDER": "",
    # For how many days after the last occurrence a refusal is kept, and whether natural keys are (`full` or `hashed`).
    "REFUSAL_DAYS": 30,
    "REFUSAL_KEYS": "full",
    # Open entries of a client, and different requests for one cause each second and process; of more refusals only the
    # numbers are recorded.
    "REFUSALS_PER_CLIENT": 100_000,
    "REFUSALS_PER_SECOND": 10,
    # Folders with rules of validation, and whether the bundled ones are run, too.
    "RULES": (),
    "BUNDLED_RULES": True,
    # Role of PostgreSQL under which queries of rules run; none for that of the connection.
    "RULE_ROLE": "",
    # For how many seconds a run begins rules, and for how many days `purge_validation` leaves what is resolved.
    "VALIDATION_SECONDS": 3600,
    "VALIDATION_DAYS": 400,
    # Whether clients may request runs.
    "VALIDATION_REQUESTS": False,
    # Whether rules, runs and results are also served as resources of the extension EdFiXValidations.
    "VALIDATION_EXTENSION": False,
    # For how many seconds a valid token is cached: revocation takes effect within this time.
    "TOKEN_CACHE_SECONDS": 10,
    # Tokens per client and minute, and token requests per address and minute, successful or not; 0 for no limit.
    "TOKENS_PER_MINUTE": 60,
    "TOKEN_REQUESTS_PER_MINUTE": 600,
    # The path of a JSON file with the identity providers whose tokens are accepted; empty for none.
    "OIDC_ISSUERS": "",
    # Attempts to log in to the admin per minute: by address, and by user name from all addresses.
    "LOGINS_PER_MINUTE": 10,
    "LOGINS_PER_USER_AND_MINUTE": 60,
    # Requests to log in by the provider, by address; a login has two.
    "PROVIDER_LOGINS_PER_MINUTE": 60,
    # Whether users of the admin may (`optional`) or must (`required`) give a second factor beside their password.
    "SECOND_FACTOR": "",
    # Whether users of the admin log in by password, and the names of those who always do.
    "PASSWORD_LOGIN": True,
    "BREAK_GLASS_USERS": (),
    # The OpenID provider of the admin: its issuer, this server's client there, its name on the login page, requested
    # scopes, and the claim with the name of a user.
    "SIGN_IN_ISSUER": "",
    "SIGN_IN_CLIENT_ID": "",
    "SIGN_IN_CLIENT_SECRET": "",
    "SIGN_IN_NAME": "single sign-on",
    "SIGN_IN_SCOPES": "openid profile email",
    "SIGN_IN_USERNAME_CLAIM": "preferred_username",
    # The claim with groups, which of its values give which group of the admin, and which make superusers.
    "SIGN_IN_GROUPS_CLAIM": "groups",
    "SIGN_IN_GROUPS": (),
    "SIGN_IN_SUPERUSERS": (),
    # Whether the first segment of addresses is the name of a tenant.
    "MULTI_TENANCY": False,
    # Names of the segments of addresses that choose a data store, in their order, after the one of the tenant.
    "ROUTE_QUALIFIERS": (),
    # Whether clients without any data store use the control database. Only without route qualifiers and tenants.
    "MAIN_STORE": True,
    # Within so many seconds a process notices data stores that were added, changed or removed.
    "STORE_SECONDS": 10,
    # Whether the preparation of the control database migrates the data stores too.
    "MIGRATE_STORES": False,
    # Threads of a process, and the part of them that may wait for one data store.
    "THREADS": 8,
    "STORE_SHARE": 0.5,
    # Connections to data stores that a process keeps; more only while more are in use.
    "STORE_CONNECTIONS": 32,
    # Whether metrics show each data store.
    "STORE_METRICS": True,
    # Secrets from which the keys of connection strings are derived: the first encrypts, all decrypt. Without any, no
    # connection string can be stored.
    "STORE_KEYS": (),
    # Host names and networks that connection strings may lead to, besides the server of the control database.
    "STORE_HOSTS": (),
    # First segments of the addresses of the management API; empty for none. Whether the process has nothing else.
    "MANAGEMENT_PATH": "",
    "MANAGEMENT_ONLY": False,
    # Whether callers can register management clients, and how many requests one of these may send per minute.
    "MANAGEMENT_REGISTRATION": False,
    "MANAGEMENT_REQUESTS_PER_MINUTE": 600,
    # The version that the management API says it has: v3 or v2.
    "MANAGEMENT_VERSION": "v3",
    # Whether applications/{id}/reset-credential exists, and whether all claims can be replaced at once.
    "APPLICATION_RESET": True,
    "CLAIMS_UPLOAD": False,
    # Whether connect/token answers unknown clients and wrong secrets alike.
    "UNIFORM_CLIENT_ERRORS": True,
    # Whether a proxy is in front, whose X-Forwarded-For is the client's address.
    "BEHIND_PROXY": False,
}


def source_path(named: str) -> Path:
    """The folder of the bundled standard of this name, else the path itself; bundled names take precedence."""
    return BUNDLED_STANDARDS / named if named in bundled_standards() else Path(named)


def bundled_standards() -> list[str]:
    return sorted(path.name for path in BUNDLED_STANDARDS.iterdir() if path.is_dir())


class ApiSettings:
    """Attribute access to `EDFI_API` over `DEFAULTS`."""

    def __getattr__(self, name: str) -> Any:
        """Only called before the first read, which makes all values attributes, so that later reads are fast."""
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
        """Discard the values, so that the next access reads the settings again."""
        self.__dict__.clear()

    @property
    def has_main_store(self) -> bool:
        """Whether the control database is used for documents, by clients without data stores."""
        return bool(self.MAIN_STORE and not self.ROUTE_QUALIFIERS and not self.MULTI_TENANCY)

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
