"""Settings of the Meadowlark server. Only the programs that start it read a few variables before.

Every variable has a default that suits `make run` on a developer's machine, and a meaning: README's table of variables
is generated from these declarations (see `environment.py`).
"""

import secrets
from pathlib import Path

from corsheaders.defaults import default_headers

from edfi_api.security.oauth_settings import OAUTH_SETTINGS
from meadowlark import connection_options, embedded_postgres
from meadowlark.data_store_settings import data_store_settings
from meadowlark.environment import Environment
from meadowlark.logging_configuration import logging_configuration
from meadowlark.management_settings import management_settings
from meadowlark.refusal_settings import refusal_settings
from meadowlark.secret_key import kept_key
from meadowlark.sign_in_settings import authentication_backends, sign_in_settings
from meadowlark.token_settings import token_settings
from meadowlark.validation_settings import validation_settings

env = Environment()

BASE_DIR = Path(__file__).resolve().parent.parent
# In lower case, so that it is not a setting, which a debug page would show with its password.
database = env.database(
    "DATABASE_URL",
    shown="embedded PostgreSQL",
    meaning="`postgresql://user:password@host/database`, version 15 or newer",
)
HOME = Path(
    env.str(
        "MEADOWLARK_HOME",
        default=str(BASE_DIR / ".home"),
        shown="`.home`",
        meaning="where the embedded database and the compiled model are kept",
    )
).resolve()
# Read by the programs that start the server, before the settings are loaded.
env.declare("MEADOWLARK_PORT", 8000, "port of `make run`")
env.declare(
    "MEADOWLARK_HOUSEKEEPING_HOURS",
    24,
    "how often `make run` starts `manage.py housekeeping`; `0` never. Other servers leave it to cron and the like",
)
# Read again by `serving.gunicorn_conf`; checked here so that every program refuses a wrong value, in one line.
env.choice(
    "MEADOWLARK_WORKER",
    choices=["granian", "gthread"],
    default="granian",
    meaning="the HTTP server: Granian's engine, or `gthread`, gunicorn's own worker with threads",
)
env.count("MEADOWLARK_WORKERS", default=2, meaning="gunicorn's processes")
threads = env.count(
    "MEADOWLARK_THREADS",
    default=8,
    meaning="threads in each of them; each uses at most one connection to a database, and so does each batch that goes "
    "on while its answer is sent",
)
env.count(
    "MEADOWLARK_REQUEST_SECONDS",
    default=60,
    meaning="seconds for the body of a request to arrive (408), and for a client to take some of its answer, until its "
    "connection is closed; a large answer may take as long and one second for each 64 kB",
)
env.count(
    "MEADOWLARK_KEEPALIVE_SECONDS",
    default=75,
    meaning="seconds from an answer to the end of the next request's head, until the connection is closed; longer than "
    "a proxy before it keeps its own",
)
env.declare("MEADOWLARK_DATABASE_WAIT", 60, "seconds that a container waits for its database")

DEBUG = env.bool("MEADOWLARK_DEBUG", default=False, meaning="Django's debug pages; never in production")
# A random key is safe: it signs only admin sessions, which then end with the process.
lasting_key = env.str(
    "MEADOWLARK_SECRET_KEY",
    default="",
    shown="kept in the home",
    meaning="signs admin sessions; several servers behind one address need the same",
) or kept_key(HOME)
SECRET_KEY = lasting_key or secrets.token_urlsafe(48)
ALLOWED_HOSTS = env.list(
    "MEADOWLARK_ALLOWED_HOSTS",
    default=["localhost", "127.0.0.1", "[::1]"],
    shown="this machine",
    meaning="host names that are answered, separated by commas",
)
CSRF_TRUSTED_ORIGINS = env.list(
    "MEADOWLARK_TRUSTED_ORIGINS",
    default=[],
    meaning="origins from which the admin may be used behind a proxy: `https://edfi.example.org`",
)
behind_proxy = env.bool(
    "MEADOWLARK_BEHIND_PROXY",
    default=False,
    meaning="believe `X-Forwarded-Proto`, `X-Forwarded-Host` and the last address in `X-Forwarded-For`",
)
if behind_proxy:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    USE_X_FORWARDED_HOST = True

SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.bool(
    "MEADOWLARK_HTTPS",
    default=False,
    meaning="for production: HTTP is redirected to HTTPS, which browsers then require (HSTS)",
)
hsts_seconds = env.int("MEADOWLARK_HSTS_SECONDS", default=31_536_000, meaning="for how long browsers require HTTPS")
if SECURE_SSL_REDIRECT:
    SECURE_HSTS_SECONDS = hsts_seconds
    # Requested from the internal network, without HTTPS.
    SECURE_REDIRECT_EXEMPT = [r"^(?i:health|metrics)(?:/|$)"]
SILENCED_SYSTEM_CHECKS = [
    # Django's middleware against framing and CSRF is installed, as subclasses that apply only to the admin.
    "security.W002",
    "security.W003",
    # HSTS for subdomains and preloading concern other hosts of the domain.
    "security.W005",
    "security.W021",
]
# By default a working day of an administrator.
SESSION_COOKIE_AGE = 60 * env.count(
    "MEADOWLARK_ADMIN_SESSION_MINUTES", default=720, meaning="minutes after which users of the admin log in again"
)

ADMIN_PATH = env.str("MEADOWLARK_ADMIN_PATH", default="admin", meaning="where the admin is; empty for no admin").strip(
    "/"
)
# Pages load nothing from other origins and have no inline code; only answers with pages have this header.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

INSTALLED_APPS = [
    "edfi_api.operation.administration.apps.AdministrationConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "rest_framework",
    "oauth2_provider",
    "drf_spectacular_sidecar",
    "references",
    "edfi_api",
    "edfi_api.data_stores",
    "edfi_api.security",
    "edfi_api.profiles",
    "edfi_api.management_api.apps.ManagementApiConfig",
    "edfi_api.changes.change_queries",
    "edfi_api.changes.change_stream",
    "edfi_api.refusals",
    "edfi_api.analysis.sql_views",
    "edfi_api.validation",
    "descriptors",
    "edfi_api.operation.sign_in.apps.SignInConfig",
]

DATA_ROUTES = "meadowlark.middleware.DataRoutesMiddleware"
# The order matters; data requests skip what follows DataRoutesMiddleware (see meadowlark/middleware.py). Sessions, CSRF
# and users apply only to the admin.
MIDDLEWARE = [
    "meadowlark.correlation.CorrelationIdMiddleware",
    "edfi_api.operation.observability.middleware.ObservabilityMiddleware",
    DATA_ROUTES,
    "django.middleware.security.SecurityMiddleware",
    # Serves style sheets and scripts of the admin and of /docs, so that no proxy has to.
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # Refuses hosts outside ALLOWED_HOSTS; adds Content-Length, without which answers would be chunked.
    "meadowlark.middleware.HostAndLengthMiddleware",
    "meadowlark.middleware.AdminContentSecurityPolicyMiddleware",
    "meadowlark.middleware.AdminXFrameOptionsMiddleware",
    "meadowlark.middleware.AdminSessionMiddleware",
    "meadowlark.middleware.AdminCsrfViewMiddleware",
    "meadowlark.middleware.AdminAuthenticationMiddleware",
    "meadowlark.middleware.AdminMessageMiddleware",
]
if env.bool(
    "MEADOWLARK_GZIP",
    default=False,
    meaning="answers with data are compressed for clients that accept gzip; a proxy in front can do so instead",
):
    # After the middleware that handles every request, which sees the size of the answer.
    MIDDLEWARE.insert(2, "meadowlark.middleware.DataGZipMiddleware")
# Only listed origins are allowed; without any, the middleware is not installed.
CORS_ALLOWED_ORIGINS = env.list(
    "MEADOWLARK_CORS_ORIGINS", default=[], meaning="origins whose browsers may call the API"
)
data_stores = data_store_settings(env, threads=threads, lasting_key=lasting_key)
if data_stores["ROUTE_QUALIFIERS"] or data_stores["MULTI_TENANCY"]:
    # Before the middleware that chooses a view by the path.
    MIDDLEWARE.insert(MIDDLEWARE.index(DATA_ROUTES), "meadowlark.context.ContextMiddleware")
CORS_ALLOW_METHODS = ["DELETE", "GET", "HEAD", "POST", "PUT"]
correlation_header = env.header(
    "MEADOWLARK_CORRELATION_HEADER",
    default="correlationid",
    meaning="header of requests and answers that names a request, as logs do",
)
CORS_ALLOW_HEADERS = [*default_headers, correlation_header, "if-match", "if-none-match", "prefer"]
CORS_EXPOSE_HEADERS = [
    correlation_header,
    "etag",
    "lenient-handling",
    "link",
    "location",
    "next-page-token",
    "preference-applied",
    "total-count",
]
if CORS_ALLOWED_ORIGINS:
    INSTALLED_APPS.append("corsheaders")
    # After the middleware that handles every request.
    MIDDLEWARE.insert(2, "corsheaders.middleware.CorsMiddleware")
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "no-referrer"  # The admin has another one, see meadowlark/middleware.py.
X_FRAME_OPTIONS = "DENY"

ROOT_URLCONF = "meadowlark.urls"
WSGI_APPLICATION = "meadowlark.wsgi.application"
APPEND_SLASH = False
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# Without DATABASE_URL, the embedded server in MEADOWLARK_HOME, which `make run` starts and stops.
DATABASES = {"default": database or env.db_url_config(embedded_postgres.url(HOME))}
DATABASES["default"]["CONN_MAX_AGE"] = env.int(
    "MEADOWLARK_CONNECTION_MAX_AGE", default=600, meaning="seconds after which a database connection is replaced"
)
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] = env.bool(
    "MEADOWLARK_TRANSACTION_POOLING",
    default=False,
    meaning="the database is reached through PgBouncer or another pooler in transaction mode",
)
# Options of the URL count more.
DATABASES["default"]["OPTIONS"] = connection_options.PRIMARY | DATABASES["default"].get("OPTIONS", {})
replica = env.database(
    "DATABASE_REPLICA_URL",
    meaning="a streaming replica of the database, which then answers requests for collections",
)
if replica:
    DATABASES["replica"] = DATABASES["default"] | {"OPTIONS": {}} | replica
    DATABASES["replica"]["OPTIONS"] = connection_options.REPLICA | DATABASES["replica"]["OPTIONS"]
    DATABASES["replica"]["TEST"] = {"MIRROR": "default"}
DATABASE_ROUTERS = ["edfi_api.data_stores.router.DataStoreRouter"]
# Only for requests, see wsgi.py; commands have no limits.
STATEMENT_SECONDS = env.int(
    "MEADOWLARK_STATEMENT_SECONDS",
    default=60,
    meaning="seconds after which a statement of a request is given up and answered with 503, and five seconds later "
    "the connection of one that the database does not end; `0` never",
)
LOCK_SECONDS = env.int(
    "MEADOWLARK_LOCK_SECONDS", default=10, meaning="the same for waiting for the locks of other writes; `0` never"
)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# The target of a login whose `next` is on another host.
LOGIN_REDIRECT_URL = "admin:index"
sign_in = sign_in_settings(env)
AUTHENTICATION_BACKENDS = authentication_backends(sign_in)
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LANGUAGE_CODE = "en-us"
USE_I18N = False
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "/static/"
# Serves from the installed packages, without collectstatic.
WHITENOISE_USE_FINDERS = True

is_like_ods = bool(
    env.choice(
        "MEADOWLARK_COMPATIBILITY",
        choices=["ods"],
        meaning="`ods` for clients of Ed-Fi's older server, the ODS/API, and for Ed-Fi's certification: the default "
        "of the settings below that say so. A setting of its own takes precedence",
    )
)
off_but_for_ods = "`false`; with `ods` `true`"

management = management_settings(env)

EDFI_API = {
    "DATA_STANDARD": env.str(
        "MEADOWLARK_DATA_STANDARD",
        default="5.2",
        meaning="the data standard that is served: `5.2`, `6.1`, `4.0`, `3.3.1-b`, or the path of a MetaEd project or "
        "an `ApiSchema.json`",
    ),
    "EXTENSIONS": tuple(
        Path(path)
        for path in env.list(
            "MEADOWLARK_EXTENSIONS",
            default=[],
            meaning="extension projects, separated by commas: folders of MetaEd text or `ApiSchema.json` files",
        )
    ),
    "CACHE_DIR": Path(
        env.str(
            "MEADOWLARK_CACHE",
            default=str(HOME / "cache"),
            shown="`cache` in the home",
            meaning="where the compiled model is kept between starts; several servers may share it",
        )
    ),
    "MAX_BODY_BYTES": env.int(
        "MEADOWLARK_MAX_BODY_BYTES",
        default=10 * 1024 * 1024,
        meaning="larger requests are refused with 413; so is a document of more than 100,000 values or 10,000 "
        "references",
    ),
    "BATCH": env.bool("MEADOWLARK_BATCH", default=True, meaning="many writes in one request, at `/batch`"),
    "BATCH_OPERATIONS": env.int(
        "MEADOWLARK_BATCH_OPERATIONS",
        default=5_000,
        meaning="operations in a batch that is an array, or is written as a whole; batches of more are refused with "
        "413",
    ),
    "BATCH_STREAM_OPERATIONS": env.int(
        "MEADOWLARK_BATCH_STREAM_OPERATIONS",
        default=100_000,
        meaning="operations in a batch of lines that are independent of each other",
    ),
    "BATCH_BYTES": env.int(
        "MEADOWLARK_BATCH_BYTES", default=64 * 1024 * 1024, meaning="bytes in a batch, after decompression"
    ),
    "BATCH_SECONDS": env.int(
        "MEADOWLARK_BATCH_SECONDS", default=60, meaning="seconds for which a server executes a batch, until 503"
    ),
    "BATCHES_AT_ONCE": env.int(
        "MEADOWLARK_BATCHES_AT_ONCE",
        default=max(1, threads - 2),
        shown="`MEADOWLARK_THREADS` less 2",
        meaning="batches that a process executes at once; others are refused with 503",
    ),
    "BATCHES_PER_CLIENT": env.int(
        "MEADOWLARK_BATCHES_PER_CLIENT", default=4, meaning="the same for one client; others are refused with 429"
    ),
    "BATCH_OPERATIONS_PER_MINUTE": env.int(
        "MEADOWLARK_BATCH_OPERATIONS_PER_MINUTE",
        default=0,
        meaning="operations that a client may send in batches; `0` for any number",
    ),
    "DEFAULT_PAGE_SIZE": env.int(
        "MEADOWLARK_DEFAULT_PAGE_SIZE", default=25, meaning="documents in a page, where a request has no `limit`"
    ),
    "MAX_PAGE_SIZE": env.int("MEADOWLARK_MAX_PAGE_SIZE", default=500, meaning="the largest `limit`"),
    "REPLICA_SECONDS": env.int(
        "MEADOWLARK_REPLICA_SECONDS",
        default=10,
        meaning="how long after a write the primary answers the client, and how far a replica that answers may lag",
    ),
    "GROUP_MILLISECONDS": env.int(
        "MEADOWLARK_GROUP_MILLISECONDS",
        default=2,
        meaning="milliseconds that a POST waits at most for another one of its client and resource, to be written "
        "together with those that wait, too; `0` not at all. With a database on the same machine, `make run` and "
        "Compose: 20",
    ),
    "LINKS": env.bool("MEADOWLARK_LINKS", default=True, meaning="links in reference objects"),
    "IGNORE_UNKNOWN_PARAMETERS": env.bool(
        "MEADOWLARK_IGNORE_UNKNOWN_PARAMETERS",
        default=is_like_ods,
        shown=off_but_for_ods,
        meaning="unknown query parameters are ignored, as by older Ed-Fi servers, instead of refused",
    ),
    "STRICT": env.bool(
        "MEADOWLARK_STRICT",
        default=False,
        meaning="unknown members, ambiguous dates, and filters by descriptors that do not exist are refused, as for "
        "requests with `Prefer: handling=strict`",
    ),
    "PUT_WITHOUT_ID": env.bool(
        "MEADOWLARK_PUT_WITHOUT_ID",
        default=is_like_ods,
        shown=off_but_for_ods,
        meaning="the body of a PUT may come without `id`, as for older Ed-Fi servers",
    ),
    "UPSERT_ASKS_UPDATE": env.bool(
        "MEADOWLARK_UPSERT_ASKS_UPDATE",
        default=False,
        meaning="a POST whose document exists is authorized as Update; otherwise as Create, as by Ed-Fi's own server",
    ),
    "OMIT_EMPTY_PROBLEM_MEMBERS": env.bool(
        "MEADOWLARK_OMIT_EMPTY_PROBLEM_MEMBERS",
        default=is_like_ods,
        shown=off_but_for_ods,
        meaning="problem details leave out `errors` and `validationErrors` that are empty",
    ),
    "METRICS": env.bool("MEADOWLARK_METRICS", default=True, meaning="Prometheus metrics at `/metrics`"),
    "CORRELATION_HEADER": correlation_header,
    "LOG_REQUESTS": env.bool(
        "MEADOWLARK_LOG_REQUESTS",
        default=False,
        meaning="a line in the log for every request, not only for those that are refused or fail",
    ),
    "CHANGE_SINKS": {
        "output": {"BACKEND": "edfi_api.changes.change_stream.sinks.standard_output.StandardOutput"},
        "webhook": {
            "BACKEND": "edfi_api.changes.change_stream.sinks.webhook.Webhook",
            "OPTIONS": {
                "url": env.str(
                    "MEADOWLARK_WEBHOOK_URL", default="", meaning="where `stream_changes --sink webhook` posts changes"
                ),
                "secret": env.str("MEADOWLARK_WEBHOOK_SECRET", default="", meaning="signs what is posted there"),
            },
        },
        "nats": {
            "BACKEND": "edfi_api.changes.change_stream.sinks.nats.Nats",
            "OPTIONS": {
                "servers": env.list(
                    "MEADOWLARK_NATS_SERVERS",
                    default=["nats://127.0.0.1:4222"],
                    meaning="where `stream_changes --sink nats` publishes changes; needs `requirements/nats.lock`",
                    shown="`nats://127.0.0.1:4222`",
                )
            },
        },
    },
    "CHANGE_HANDLERS": env.list(
        "MEADOWLARK_CHANGE_HANDLERS", default=[], meaning="modules with functions that `run_handlers` calls for changes"
    ),
    "CHANGE_RETENTION_DAYS": env.int(
        "MEADOWLARK_CHANGE_RETENTION_DAYS",
        default=90,
        meaning="for how many days `purge_changes` leaves old versions and the bodies of deleted documents",
    ),
    **refusal_settings(env),
    **validation_settings(env),
    **token_settings(env),
    "THREADS": threads,
    **data_stores,
    "BEHIND_PROXY": behind_proxy,
    **management,
    **sign_in,
}
DATA_UPLOAD_MAX_MEMORY_SIZE = EDFI_API["MAX_BODY_BYTES"]

OAUTH2_PROVIDER_APPLICATION_MODEL = "security.ApiClient"
OAUTH2_PROVIDER = {
    "ACCESS_TOKEN_EXPIRE_SECONDS": env.int(
        "MEADOWLARK_TOKEN_SECONDS", default=1800, meaning="how long a token is valid"
    ),
    **OAUTH_SETTINGS,
}

if management["MANAGEMENT_ONLY"]:
    ROOT_URLCONF = "meadowlark.management_urls"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["edfi_api.security.authentication.BearerTokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["edfi_api.security.permissions.IsApiClient"],
    "DEFAULT_PARSER_CLASSES": ["edfi_api.api.viewsets.parsers.EdFiJsonParser"],
    "DEFAULT_RENDERER_CLASSES": ["edfi_api.api.viewsets.renderers.EdFiJsonRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "edfi_api.api.viewsets.renderers.NoNegotiation",
    "DEFAULT_FILTER_BACKENDS": [
        "edfi_api.changes.change_queries.filters.ChangeVersionFilter",
        "edfi_api.queries.filters.QueryByExampleFilter",
    ],
    "DEFAULT_PAGINATION_CLASS": "edfi_api.queries.pagination.EdFiPagination",
    "EXCEPTION_HANDLER": "edfi_api.problem_details.handler.exception_handler",
    "UNAUTHENTICATED_USER": None,
}

# OpenTelemetry's own variable, which its libraries read too.
TELEMETRY = bool(
    env.str(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        default="",
        meaning="sends traces there; needs `requirements/telemetry.lock`",
    )
)

LOGGING = logging_configuration(
    formatter=env.choice(
        "MEADOWLARK_LOG_FORMAT",
        choices=["line", "json"],
        default="line",
        meaning="`line`, or `json` for one object a line",
    ),
    level=env.choice(
        "MEADOWLARK_LOG_LEVEL",
        choices=["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"],
        default="INFO",
        meaning="`DEBUG`, `INFO`, `WARNING` or `ERROR`",
    ),
)
