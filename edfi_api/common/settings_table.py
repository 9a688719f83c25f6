"""All settings that an operator gives in the environment: type, name, default and meaning. Those that have no variable
are in `conf.py`.

From this table the environment is read and checked (`meadowlark/configuration/environment.py`), `EDFI_API` has its
defaults (`conf.py`), unknown names in the environment are recognized, and `meadowlark/docs/reference/settings.md` is
written (`make docs`). Names are those of the variables, without `MEADOWLARK_`, unless `variable` is another one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

PREFIX = "MEADOWLARK_"


class SettingKind(StrEnum):
    """The kind of a variable, by which it is read and checked (`configuration/environment.py`), with its name on the
    reference page."""

    TEXT = "text"
    TEXTS = "texts, separated by commas"
    PATH = "path"
    PATHS = "paths, separated by commas"
    ROUTE = "path of an address"
    NUMBER = "integer"
    COUNT = "integer above 0"
    DECIMAL = "number"
    FRACTION = "number above 0, up to 1"
    BOOLEAN = "`true` or `false`"
    CHOICE = "one of the values"
    HEADER = "name of a header"
    PATH_PREFIX = "path before addresses"
    QUALIFIERS = "names, separated by commas"
    PAIRS = "`VALUE=GROUP`, separated by commas"
    DATABASE = "URL of a database"
    LOGIN = "URL of a login"
    MAIL_SERVER = "URL of a mail server"
    SCHEDULE = "`WHEN COMMAND`, separated by semicolons"
    TIME_ZONE = "name of a time zone"


@dataclass(frozen=True)
class Setting:
    """`default` may be computed from the values of the settings before this one; then `shown` describes it."""

    kind: SettingKind
    name: str
    default: Any
    meaning: str
    shown: str = ""
    choices: tuple[str, ...] = ()
    variable: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "variable", self.variable or f"{PREFIX}{self.name}")

    def default_among(self, values: Mapping[str, Any]) -> Any:
        """The default, where the settings before this one have these values."""
        return self.default(values) if isinstance(self.default, Callable) else self.default  # type: ignore[arg-type]


text = partial(Setting, SettingKind.TEXT)
texts = partial(Setting, SettingKind.TEXTS)
path = partial(Setting, SettingKind.PATH)
paths = partial(Setting, SettingKind.PATHS)
route = partial(Setting, SettingKind.ROUTE)
number = partial(Setting, SettingKind.NUMBER)
count = partial(Setting, SettingKind.COUNT)
decimal = partial(Setting, SettingKind.DECIMAL)
fraction = partial(Setting, SettingKind.FRACTION)
boolean = partial(Setting, SettingKind.BOOLEAN)
choice = partial(Setting, SettingKind.CHOICE)
header = partial(Setting, SettingKind.HEADER)
path_prefix = partial(Setting, SettingKind.PATH_PREFIX)
qualifiers = partial(Setting, SettingKind.QUALIFIERS)
pairs = partial(Setting, SettingKind.PAIRS)
database = partial(Setting, SettingKind.DATABASE)
login = partial(Setting, SettingKind.LOGIN)
mail_server = partial(Setting, SettingKind.MAIL_SERVER)
schedule = partial(Setting, SettingKind.SCHEDULE)
time_zone = partial(Setting, SettingKind.TIME_ZONE)

_HOME = Path(__file__).parents[2] / ".home"


def _is_like_ods(values: Any) -> bool:
    return bool(values["COMPATIBILITY"] == "ods")


GROUPS: dict[str, tuple[Setting, ...]] = {
    "The server": (
        path("HOME", _HOME, "where the embedded database and the compiled model are kept", shown="`.home`"),
        number("PORT", 8000, "port of `make run`"),
        choice(
            "WORKER",
            "granian",
            "the HTTP server: Granian's engine, or `gthread`, gunicorn's own worker with threads",
            choices=("granian", "gthread"),
        ),
        count("WORKERS", 2, "gunicorn's processes"),
        count(
            "THREADS",
            8,
            "threads in each of them; each uses at most one connection to a database, and so does each batch that "
            "goes on while its answer is sent",
        ),
        count(
            "REQUEST_SECONDS",
            60,
            "seconds for the body of a request to arrive (408), and for a client to take some of its answer, until "
            "its connection is closed; a large answer may take as long and one second for each 64 kB",
        ),
        count(
            "KEEPALIVE_SECONDS",
            75,
            "seconds from an answer to the end of the next request's head, until the connection is closed; longer "
            "than a proxy before it keeps its own",
        ),
        schedule(
            "SCHEDULE",
            "24h housekeeping",
            "[commands that are started](meadowlark/docs/operate/schedule.md) every so often, or daily at a time in "
            "UTC, separated by semicolons: `24h housekeeping; 02:00 run_validation`. Empty for none",
        ),
        number("DATABASE_WAIT", 60, "seconds that a container waits for its database"),
        boolean("DEBUG", False, "Django's debug pages; never in production"),
        text(
            "SECRET_KEY",
            "",
            "signs admin sessions; several servers behind one address need the same",
            shown="kept in the home",
        ),
    ),
    "Network": (
        texts(
            "ALLOWED_HOSTS",
            ("localhost", "127.0.0.1", "[::1]"),
            "host names that are answered, separated by commas",
            shown="this machine",
        ),
        boolean(
            "BEHIND_PROXY",
            False,
            "believe `X-Forwarded-Proto`, `X-Forwarded-Host`, `X-Forwarded-Prefix` and the last address in "
            "`X-Forwarded-For`",
        ),
        path_prefix(
            "PATH_PREFIX",
            "",
            "path below which clients reach the server, such as `/edfi`; in place of `X-Forwarded-Prefix`",
        ),
        number(
            "REQUESTS_PER_MINUTE",
            0,
            "requests with data that an API client may send to all servers; others are refused with 429. `0` for any "
            "number; otherwise each takes a statement more",
        ),
        boolean("HTTPS", False, "for production: HTTP is redirected to HTTPS, which browsers then require (HSTS)"),
        number("HSTS_SECONDS", 31_536_000, "for how long browsers require HTTPS"),
        texts("CORS_ORIGINS", (), "origins whose browsers may call the API"),
        boolean(
            "GZIP",
            False,
            "answers with data are compressed for clients that accept gzip; a proxy in front can do so instead",
        ),
        header(
            "CORRELATION_HEADER",
            "correlationid",
            "header of requests and answers that names a request, as logs do",
        ),
        number(
            "MAX_BODY_BYTES",
            10 * 1024 * 1024,
            "larger requests are refused with 413; so is a document of more than 100,000 values or 10,000 references",
        ),
        number(
            "REQUEST_MEMORY",
            48 * 1024 * 1024,
            "bytes that large requests and batches of a process use together, by estimate; one that does not get its "
            "share within five seconds is refused with 503",
        ),
    ),
    "The database": (
        database(
            "DATABASE_URL",
            "",
            "`postgresql://user:password@host/database`, version 15 or newer",
            variable="DATABASE_URL",
            shown="embedded PostgreSQL",
        ),
        number("CONNECTION_MAX_AGE", 600, "seconds after which a database connection is replaced"),
        boolean(
            "TRANSACTION_POOLING",
            False,
            "the database is reached through PgBouncer or another pooler in transaction mode",
        ),
        number(
            "STATEMENT_SECONDS",
            60,
            "seconds after which a statement of a request is given up and answered with 503; if the database has not "
            "ended it five seconds later, the connection is closed; `0` never",
        ),
        number("LOCK_SECONDS", 10, "the same for waiting for the locks of other writes; `0` never"),
        number(
            "GROUP_MILLISECONDS",
            2,
            "milliseconds that a POST waits at most for another one of its client and resource, to be written "
            "together with those that wait, too; `0` not at all. With a database on the same machine, `make run` and "
            "Compose: 20",
        ),
        database(
            "DATABASE_REPLICA_URL",
            "",
            "a streaming replica of the database, which then answers requests for collections",
            variable="DATABASE_REPLICA_URL",
        ),
        number(
            "REPLICA_SECONDS",
            10,
            "how long after a write the primary answers the client, and how far a replica that answers may lag",
        ),
    ),
    "The model": (
        text(
            "DATA_STANDARD",
            "5.2",
            "the data standard that is served: `5.2`, `6.1`, `4.0`, `3.3.1-b`, or the path of a MetaEd project or an "
            "`ApiSchema.json`",
        ),
        paths(
            "EXTENSIONS",
            (),
            "extension projects, separated by commas: folders of MetaEd text or `ApiSchema.json` files",
        ),
        path(
            "CACHE_DIR",
            lambda values: values["HOME"] / "cache",
            "where the compiled model is kept between starts; several servers may share it",
            variable="MEADOWLARK_CACHE",
            shown="`cache` in the home",
        ),
    ),
    "Requests": (
        number("DEFAULT_PAGE_SIZE", 25, "documents in a page, where a request has no `limit`"),
        number("MAX_PAGE_SIZE", 500, "the largest `limit` and `pageSize`; `pageSize` without a value"),
        number(
            "MAX_ROWS_WITHOUT_INDEX",
            10_000,
            "documents that other conditions of a query may leave to an operator or an order without an index, which "
            "looks at each of them; beyond, the answer names the index (`create_query_index`)",
        ),
        boolean("LINKS", True, "links in reference objects"),
        boolean("GUIDES", True, "the guides of `meadowlark/docs/` are served at `/guides`"),
        boolean(
            "STRICT",
            False,
            "unknown members, values in other forms, ambiguous dates, and filters by descriptors that do not exist are "
            "refused, as for requests with `Prefer: handling=strict`",
        ),
        boolean(
            "HISTORY_BEFORE_RELATIONSHIP",
            False,
            "`/history` shows a client also versions of people from before its relationship with them; see "
            "[history](meadowlark/docs/use/history.md)",
        ),
        choice(
            "COMPATIBILITY",
            "",
            "`ods` for clients of Ed-Fi's older server, the ODS/API, and for Ed-Fi's certification: "
            "[what is answered as there](meadowlark/docs/reference/ods-compatibility.md), and the default of the "
            "settings below that say so. A setting of its own takes precedence",
            choices=("ods",),
        ),
        boolean(
            "UPSERT_ASKS_UPDATE",
            _is_like_ods,
            "a POST whose document exists is authorized as Update, as by the ODS/API; otherwise as Create, as by the "
            "DMS",
            shown="`false`; with `ods` `true`",
        ),
        boolean(
            "IGNORE_UNKNOWN_PARAMETERS",
            _is_like_ods,
            "unknown query parameters are ignored, as by older Ed-Fi servers, instead of refused, unless they are "
            "spelt like members of the resource",
            shown="`false`; with `ods` `true`",
        ),
        boolean(
            "PUT_WITHOUT_ID",
            _is_like_ods,
            "the body of a PUT may come without `id`, as for older Ed-Fi servers",
            shown="`false`; with `ods` `true`",
        ),
        boolean(
            "MEMBERS_IN_ANY_CASE",
            _is_like_ods,
            "members of bodies are read in any case, as by older Ed-Fi servers; otherwise one that differs from a "
            "member of the resource in case only is refused",
            shown="`false`; with `ods` `true`",
        ),
        boolean(
            "OMIT_EMPTY_PROBLEM_MEMBERS",
            _is_like_ods,
            "problem details leave out `errors` and `validationErrors` that are empty",
            shown="`false`; with `ods` `true`",
        ),
        boolean(
            "PLAIN_NAMESPACE_PREFIXES",
            _is_like_ods,
            "a namespace prefix covers all namespaces that begin with it as text; otherwise it ends where a segment "
            "ends: `uri://education.example` does not cover `uri://education.example.evil`",
            shown="`false`; with `ods` `true`",
        ),
    ),
    "Batches": (
        boolean("BATCH", True, "many writes in one request, at `/batch`"),
        number(
            "BATCH_OPERATIONS",
            5_000,
            "operations in a batch that is an array, or is written as a whole; batches of more are refused with 413",
        ),
        number("BATCH_STREAM_OPERATIONS", 100_000, "operations in a batch of lines that are independent of each other"),
        number("BATCH_BYTES", 64 * 1024 * 1024, "bytes in a batch, after decompression"),
        number("BATCH_SECONDS", 60, "seconds for which a server executes a batch, until 503"),
        number(
            "BATCHES_AT_ONCE",
            lambda values: max(1, values["THREADS"] - 2),
            "batches that a process executes at once; others are refused with 503",
            shown="`MEADOWLARK_THREADS` less 2",
        ),
        number("BATCHES_PER_CLIENT", 4, "the same for one client; others are refused with 429"),
        number("BATCH_OPERATIONS_PER_MINUTE", 0, "operations that a client may send in batches; `0` for any number"),
    ),
    "Tokens": (
        number("TOKEN_SECONDS", 1800, "how long a token is valid"),
        number(
            "TOKEN_CACHE_SECONDS",
            10,
            "how long a token is accepted without another look-up: a revoked token, a disabled client and a changed "
            "claim set are noticed within this time",
        ),
        number("TOKENS_PER_MINUTE", 60, "tokens that a client may get; `0` for any number"),
        number(
            "TOKEN_REQUESTS_PER_MINUTE",
            600,
            "requests for tokens that an IP address may send, successful or not; `0` for any number",
        ),
        text(
            "OIDC_ISSUERS",
            "",
            "a JSON file with the [identity providers](meadowlark/docs/operate/identity-providers.md) whose access "
            "tokens are accepted, in addition to those of this server",
        ),
    ),
    "The documentation": (
        text(
            "DOCS_CLIENT",
            "",
            "key and secret of a client, with a colon between them, that `/docs` fills in for everybody who presses a "
            "button: for demonstrations alone, as `make demo` sets it",
        ),
    ),
    "The admin": (
        route("ADMIN_PATH", "admin", "where the admin is; empty for no admin"),
        time_zone("ADMIN_TIME_ZONE", "UTC", "in which its pages show times: `America/Chicago`"),
        text(
            "PERSON_PAGES",
            "",
            "path of a file that says what the "
            "[pages of persons](meadowlark/docs/operate/admin.md#pages-of-persons) show",
            shown="the layout that comes with Meadowlark",
        ),
        text(
            "KIND_WORDS",
            "",
            "a file of TOML with what the pages call resources, those of extensions above all: "
            '`BusRoute = ["Bus route", "Bus routes"]`',
        ),
        text(
            "MEASURES",
            "",
            "a file of TOML in place of "
            "[the measures of the first page](meadowlark/docs/operate/admin.md#what-today-counts)",
            shown="those that come with Meadowlark",
        ),
        count("ADMIN_SESSION_MINUTES", 720, "minutes after which users of the admin log in again"),
        texts(
            "TRUSTED_ORIGINS",
            (),
            "origins from which the admin may be used behind a proxy: `https://edfi.example.org`",
        ),
        boolean(
            "PASSWORD_LOGIN",
            True,
            "users of the admin may log in by password; without, only `MEADOWLARK_BREAK_GLASS_USERS`",
        ),
        texts("BREAK_GLASS_USERS", (), "names of users who may always log in by password, separated by commas"),
        choice(
            "SECOND_FACTOR",
            "",
            "users who log in to the admin by password may (`optional`) or must (`required`) also give a code of an "
            "[authenticator app](meadowlark/docs/operate/identity-providers.md#a-second-factor)",
            choices=("optional", "required"),
        ),
        text(
            "SIGN_IN_ISSUER",
            "",
            "[OpenID provider](meadowlark/docs/operate/identity-providers.md#signing-in-to-the-admin) by which people "
            "log in to the admin: its issuer",
        ),
        text("SIGN_IN_CLIENT_ID", "", "this server's client id at the provider"),
        text("SIGN_IN_CLIENT_SECRET", "", "its client secret"),
        text("SIGN_IN_NAME", "single sign-on", "what the login page calls the provider"),
        text("SIGN_IN_SCOPES", "openid profile email", "scopes that are requested, separated by spaces"),
        text("SIGN_IN_USERNAME_CLAIM", "preferred_username", "claim with the name that a new user gets"),
        text("SIGN_IN_GROUPS_CLAIM", "groups", "claim with groups or roles, as a path: `realm_access.roles`"),
        pairs(
            "SIGN_IN_GROUPS",
            (),
            "which values of the claim give which groups of the admin: `edfi-ops=operator,edfi-data=steward`",
        ),
        texts("SIGN_IN_SUPERUSERS", (), "values of the claim that make superusers, separated by commas"),
    ),
    "Data stores": (
        boolean(
            "MULTI_TENANCY",
            False,
            "the first path segment is the name of a tenant: `/lakeside/data/ed-fi/students`",
        ),
        boolean(
            "TENANTS_SHARE_DATABASES",
            False,
            "two tenants may be led to one database, in which they see each other's documents; otherwise a connection "
            "string that does so is refused, and not used",
        ),
        qualifiers(
            "ROUTE_QUALIFIERS",
            (),
            "path segments that choose a data store, in their order: `districtId,schoolYear`",
        ),
        boolean(
            "MAIN_STORE",
            True,
            "clients without any data store use the admin database; only without route qualifiers and tenants",
        ),
        number(
            "STORE_SECONDS",
            10,
            "within how many seconds data stores that were added, changed or removed are noticed",
        ),
        boolean(
            "MIGRATE_STORES",
            False,
            "a container that starts migrates the data stores too, not only its admin database",
        ),
        fraction("STORE_SHARE", 0.5, "the part of a process's threads that may wait for one slow data store"),
        number(
            "STORE_CONNECTIONS",
            lambda values: 4 * values["THREADS"],
            "connections to data stores that a process keeps",
            shown="4 times `MEADOWLARK_THREADS`",
        ),
        boolean("STORE_METRICS", True, "metrics of each data store, by its id"),
        texts(
            "STORE_KEYS",
            (),
            "encrypts connection strings of data stores; of several, separated by commas, the first one encrypts and "
            "all decrypt",
            variable="MEADOWLARK_STORE_KEY",
            shown="`MEADOWLARK_SECRET_KEY`",
        ),
        texts(
            "STORE_HOSTS",
            (),
            "host names and networks that connection strings of data stores may lead to, besides the server of the "
            "admin database; `*` for any",
        ),
    ),
    "The management API": (
        route(
            "MANAGEMENT_PATH",
            "",
            "where the [management API](meadowlark/docs/operate/management-api.md) is, such as `config`; without it "
            "there is none",
        ),
        boolean(
            "MANAGEMENT_ONLY",
            False,
            "this server has the management API and nothing else, at its root too: for a port of its own that only "
            "the internal network reaches",
        ),
        boolean(
            "MANAGEMENT_REGISTRATION",
            False,
            "every caller of the management API can register a client with full access",
        ),
        number("MANAGEMENT_REQUESTS_PER_MINUTE", 600, "requests of one management client; `0` for any number"),
        choice(
            "MANAGEMENT_VERSION",
            "v3",
            "the version that the management API says it has; `v2` for programs that know only Admin API 2",
            choices=("v3", "v2"),
        ),
        boolean("APPLICATION_RESET", True, "the management API resets the secret of an application's first client"),
        boolean("CLAIMS_UPLOAD", False, "the management API replaces all claims and claim sets at once"),
        boolean(
            "UNIFORM_CLIENT_ERRORS",
            True,
            "the management API answers an unknown client and a wrong secret alike; `false` as Ed-Fi's Configuration "
            "Service, which reveals which clients exist",
        ),
    ),
    "Changes": (
        number(
            "CHANGE_RETENTION_DAYS",
            90,
            "for how many days `purge_changes` leaves old versions and the bodies of deleted documents",
        ),
        texts("CHANGE_HANDLERS", (), "modules with functions that `run_handlers` calls for changes"),
        text("WEBHOOK_URL", "", "where `stream_changes --sink webhook` posts changes"),
        text("WEBHOOK_SECRET", "", "signs what is posted there"),
        texts(
            "NATS_SERVERS",
            ("nats://127.0.0.1:4222",),
            "where `stream_changes --sink nats` publishes changes; needs `requirements/nats.lock`",
        ),
    ),
    "Refused writes": (
        boolean("REFUSALS", True, "refused writes are recorded in the ledger of refusals"),
        number("REFUSAL_DAYS", 30, "for how many days after its last occurrence a refusal is kept, open or not"),
        choice(
            "REFUSAL_KEYS",
            "full",
            "`full`, or `hashed` for a ledger without natural keys and values quoted in messages, which may identify "
            "persons",
            choices=("full", "hashed"),
        ),
        number(
            "REFUSALS_PER_CLIENT",
            100_000,
            "open entries of a client; of more refusals only the number is recorded",
        ),
        number(
            "REFUSALS_PER_SECOND",
            10,
            "different refused requests of a client for one cause that a server process records singly each time it "
            "writes to the ledger, once a second; of more only the number is recorded",
        ),
    ),
    "Mail": (
        texts(
            "MAIL_TO",
            (),
            "addresses that get [a mail each week](meadowlark/docs/operate/refusals.md#a-mail-each-week) about what is "
            "open, by `mail_open_causes`; none for no mail",
        ),
        text("MAIL_FROM", "meadowlark@localhost", "the sender"),
        mail_server(
            "MAIL_SERVER",
            "smtp://localhost:25",
            "the server that takes mails: `smtp+tls://user:password@mail.example.org:587` with STARTTLS, `smtp+ssl://` "
            "with TLS from the beginning, `smtp://` without",
        ),
        text(
            "MAIL_LINKS",
            "",
            "the address of this server in links of mails: `https://edfi.example.org`; without it mails have none",
        ),
    ),
    "Reports of runs": (
        number(
            "RUN_DAYS",
            30,
            "for how many days it is kept what clients have sent and read, of which reports are made; 0: nothing is "
            "counted",
        ),
    ),
    "Validation": (
        texts("RULES", (), "folders with rules of validation, separated by commas"),
        boolean("BUNDLED_RULES", True, "the rules that come with Meadowlark are run, too"),
        login(
            "RULE_LOGIN",
            {},
            "`postgresql://user:password@host`: the login with which queries of rules read; what it leaves out is that "
            "of `DATABASE_URL`",
            shown="that of the embedded database",
            variable="MEADOWLARK_RULE_DATABASE_URL",
        ),
        number("VALIDATION_SECONDS", 3600, "seconds after which `run_validation` stops"),
        boolean(
            "VALIDATION_REQUESTS",
            False,
            "clients may request runs of rules, which `run_validation --requested` runs",
        ),
        boolean("VALIDATION_EXTENSION", False, "rules, runs and results are also served at /data/ed-fi-x-validations"),
        number("VALIDATION_DAYS", 400, "for how many days `purge_validation` leaves resolved results and earlier runs"),
    ),
    "Questions": (
        count("QUESTION_SECONDS", 10, "seconds that an answer of `run_mcp` may take"),
        count(
            "QUESTION_COST",
            10_000_000,
            "the cost, as PostgreSQL expects it, above which a question is refused without being tried",
        ),
        count("QUESTION_DAYS", 400, "for how many days `purge_questions` leaves the trace of questions"),
    ),
    "Tables": (
        count("TABLE_BYTES", 10 * 2**20, "the longest table, in CSV or XLSX, that can be uploaded", shown="10 MiB"),
        count("TABLE_DAYS", 30, "for how many days `purge_tables` leaves the reports of tables that were loaded"),
    ),
    "Rules of writes": (
        texts(
            "WRITE_RULES",
            (),
            "[rules that refuse writes or warn of them](meadowlark/docs/operate/write-rules.md), separated by commas: "
            "modules, entry points, files and folders of TOML, and `bundled:` with the identifier of a bundled one",
        ),
        choice(
            "WRITE_RULE_FAILURE",
            "closed",
            "what becomes of a write that a rule could not check: it is refused with 503, or (`open`) accepted, and "
            "recorded as a warning",
            choices=("closed", "open"),
        ),
        number("WRITE_RULE_LOOKUPS", 10, "how often a rule may look up other documents for one write"),
        count(
            "WRITE_RULE_MILLISECONDS",
            50,
            "milliseconds that a rule may compute, and wait for its look-ups; "
            "with all that it waits for, ten times as long",
        ),
    ),
    "Logs and metrics": (
        boolean("METRICS", True, "Prometheus metrics at `/metrics`"),
        boolean(
            "METRICS_CLIENTS",
            False,
            "`/metrics` has the requests of each client, by its key, for every host; otherwise for its own host alone",
        ),
        boolean(
            "LOG_REQUESTS",
            False,
            "a line in the log for every request, not only for those that are refused or fail",
        ),
        choice("LOG_FORMAT", "line", "`line`, or `json` for one object a line", choices=("line", "json")),
        choice(
            "LOG_LEVEL",
            "INFO",
            "the least severe messages that are logged",
            choices=("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"),
        ),
        text(
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "",
            "the collector that telemetry is sent to; needs `requirements/telemetry.lock`",
            variable="OTEL_EXPORTER_OTLP_ENDPOINT",
        ),
        choice(
            "OTEL_TRACES_EXPORTER",
            "otlp",
            "sends traces to the collector",
            choices=("otlp", "none"),
            variable="OTEL_TRACES_EXPORTER",
        ),
        choice(
            "OTEL_LOGS_EXPORTER",
            "none",
            "`otlp` sends log lines to the collector",
            choices=("otlp", "none"),
            variable="OTEL_LOGS_EXPORTER",
        ),
        choice(
            "OTEL_METRICS_EXPORTER",
            "none",
            "`otlp` sends metrics to the collector",
            choices=("otlp", "none"),
            variable="OTEL_METRICS_EXPORTER",
        ),
        count(
            "OTEL_METRIC_EXPORT_INTERVAL",
            60_000,
            "milliseconds between two exports of metrics",
            variable="OTEL_METRIC_EXPORT_INTERVAL",
        ),
    ),
}

SETTINGS = {setting.name: setting for settings in GROUPS.values() for setting in settings}
# Settings that only Django or the programs that start the server use; all others are members of `EDFI_API`.
# fmt: off
OF_THE_SERVER = {
    "HOME", "PORT", "WORKER", "WORKERS", "REQUEST_SECONDS", "KEEPALIVE_SECONDS", "SCHEDULE",
    "DATABASE_WAIT", "DEBUG", "SECRET_KEY", "ALLOWED_HOSTS", "HTTPS", "HSTS_SECONDS", "CORS_ORIGINS", "GZIP",
    "DATABASE_URL", "CONNECTION_MAX_AGE", "TRANSACTION_POOLING", "STATEMENT_SECONDS", "LOCK_SECONDS",
    "DATABASE_REPLICA_URL", "TOKEN_SECONDS", "ADMIN_PATH", "ADMIN_TIME_ZONE",
    "ADMIN_SESSION_MINUTES", "TRUSTED_ORIGINS", "WEBHOOK_URL", "WEBHOOK_SECRET", "NATS_SERVERS", "REFUSALS",
    "MAIL_SERVER",
    "LOG_FORMAT", "LOG_LEVEL",
    "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_TRACES_EXPORTER", "OTEL_LOGS_EXPORTER", "OTEL_METRICS_EXPORTER",
    "OTEL_METRIC_EXPORT_INTERVAL",
}
# fmt: on
