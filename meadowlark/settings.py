"""Django's settings for the server, from the values of `edfi_api/common/settings_table.py` in the environment."""

import re
import secrets
from pathlib import Path

from corsheaders.defaults import default_headers
from django.conf.global_settings import FILE_UPLOAD_HANDLERS as default_upload_handlers
from django.conf.global_settings import PASSWORD_HASHERS as HASHERS_OF_DJANGO
from django.conf.global_settings import STORAGES as default_storages

from edfi_api.common import conf
from edfi_api.core.security.oauth.oauth_settings import OAUTH_SETTINGS
from edfi_api.site.sign_in.configuration import authentication_backends
from meadowlark.configuration import environment
from meadowlark.configuration.environment import database_at, read_all
from meadowlark.configuration.logging_configuration import logging_configuration
from meadowlark.run import embedded_postgres
from meadowlark.run.embedded_roles import RULES
from meadowlark.run.secret_key import kept_key

# In lower case, so that it is not a setting, which a debug page would show with its passwords.
values = read_all()
HOME = values["HOME"].resolve()

DEBUG = values["DEBUG"]
# A random key is safe: it signs only admin sessions, which then end with the process.
lasting_key = values["SECRET_KEY"] or kept_key(HOME)
SECRET_KEY = lasting_key or secrets.token_urlsafe(48)
ALLOWED_HOSTS = list(values["ALLOWED_HOSTS"])
CSRF_TRUSTED_ORIGINS = list(values["TRUSTED_ORIGINS"])
if values["BEHIND_PROXY"]:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    USE_X_FORWARDED_HOST = True

SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = values["HTTPS"]
if SECURE_SSL_REDIRECT:
    SECURE_HSTS_SECONDS = values["HSTS_SECONDS"]
    # Requested from the internal network, without HTTPS.
    below = re.escape(f"{values['PATH_PREFIX']}/".removeprefix("/"))
    SECURE_REDIRECT_EXEMPT = [rf"^{below}(?i:health|metrics)(?:/|$)"]
SILENCED_SYSTEM_CHECKS = [
    # Django's middleware against framing and CSRF is installed, as subclasses that apply only to the admin.
    "security.W002",
    "security.W003",
    # HSTS for subdomains and preloading concern other hosts of the domain.
    "security.W005",
    "security.W021",
]
SESSION_COOKIE_AGE = 60 * values["ADMIN_SESSION_MINUTES"]

ADMIN_PATH, ADMIN_TIME_ZONE = values["ADMIN_PATH"], values["ADMIN_TIME_ZONE"]
# Pages load nothing from other origins and have no inline code; only answers with pages have this header.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

INSTALLED_APPS = [
    "edfi_api.site.admin_site.apps.AdministrationConfig",
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
    "edfi_api.core",
    "edfi_api.web",
    "edfi_api.site",
    "edfi_api.core.data_stores",
    "edfi_api.core.security",
    "edfi_api.core.security.profiles",
    "edfi_api.features.management_api.apps.ManagementApiConfig",
    "edfi_api.features.changes.change_queries",
    "edfi_api.features.changes.change_stream",
    "edfi_api.features.refusals",
    "edfi_api.features.runs",
    "edfi_api.features.sql_views",
    "edfi_api.features.questions",
    "edfi_api.features.ods_import",
    "edfi_api.features.exchange",
    "edfi_api.features.exchange.push",
    "edfi_api.features.validation",
    "edfi_api.features.loading",
    "edfi_api.features.sandboxes",
    "edfi_api.features.tables",
    "edfi_api.features.today",
    "edfi_api.features.mail",
    "descriptors",
    "edfi_api.site.schedule",
    "edfi_api.site.sign_in.apps.SignInConfig",
]

DATA_ROUTES = "edfi_api.web.middleware.DataRoutesMiddleware"
# The order matters; data requests skip what follows DataRoutesMiddleware (see edfi_api/web/middleware.py).
# Sessions, CSRF and users apply only to the admin.
MIDDLEWARE = [
    "edfi_api.common.logs.correlation.CorrelationIdMiddleware",
    "edfi_api.site.observability.middleware.ObservabilityMiddleware",
    DATA_ROUTES,
    "django.middleware.security.SecurityMiddleware",
    "edfi_api.web.middleware.PageGZipMiddleware",
    # Serves style sheets and scripts of the admin and of /docs, so that no proxy has to.
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # Refuses hosts outside ALLOWED_HOSTS; adds Content-Length, without which answers would be chunked.
    "edfi_api.web.middleware.HostAndLengthMiddleware",
    "edfi_api.web.middleware.AdminTimeZoneMiddleware",
    "edfi_api.web.middleware.AdminContentSecurityPolicyMiddleware",
    "edfi_api.web.middleware.AdminXFrameOptionsMiddleware",
    "edfi_api.web.middleware.AdminSessionMiddleware",
    "edfi_api.web.middleware.AdminCsrfViewMiddleware",
    "edfi_api.web.middleware.AdminAuthenticationMiddleware",
    "edfi_api.web.middleware.AdminMessageMiddleware",
]
if values["GZIP"]:
    # After the middleware that handles every request, which sees the size of the answer.
    MIDDLEWARE.insert(MIDDLEWARE.index(DATA_ROUTES), "edfi_api.web.middleware.DataGZipMiddleware")
# Only listed origins are allowed; without any, the middleware is not installed.
CORS_ALLOWED_ORIGINS = list(values["CORS_ORIGINS"])
if values["ROUTE_QUALIFIERS"] or values["MULTI_TENANCY"]:
    # Before the middleware that chooses a view by the path.
    MIDDLEWARE.insert(MIDDLEWARE.index(DATA_ROUTES), "edfi_api.web.context.ContextMiddleware")
CORS_ALLOW_METHODS = ["DELETE", "GET", "HEAD", "POST", "PUT"]
CORS_ALLOW_HEADERS = [*default_headers, values["CORRELATION_HEADER"], "if-match", "if-none-match", "prefer"]
CORS_EXPOSE_HEADERS = [
    values["CORRELATION_HEADER"],
    "etag",
    "lenient-handling",
    "link",
    "location",
    "next-change-version",
    "next-page-token",
    "preference-applied",
    "retry-after",
    "rule-warnings",
    "total-count",
]
if CORS_ALLOWED_ORIGINS:
    INSTALLED_APPS.append("corsheaders")
    # After the middleware that handles every request.
    MIDDLEWARE.insert(2, "corsheaders.middleware.CorsMiddleware")
if values["BEHIND_PROXY"]:
    # Before all others, which see the request as it was sent.
    MIDDLEWARE.insert(0, "edfi_api.web.middleware.ForwardedHeadersMiddleware")
if values["BEHIND_PROXY"] or values["PATH_PREFIX"]:
    MIDDLEWARE.insert(0, "edfi_api.web.path_prefix.PathPrefixMiddleware")
    STORAGES = default_storages | {"staticfiles": {"BACKEND": "edfi_api.web.path_prefix.StaticFiles"}}
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "no-referrer"  # The admin has another one, see edfi_api/web/middleware.py.
X_FRAME_OPTIONS = "DENY"

ROOT_URLCONF = "meadowlark.urls"
WSGI_APPLICATION = "meadowlark.wsgi.application"
APPEND_SLASH = False
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        # Before those of Django's admin.
        "DIRS": [Path(conf.__file__).parents[1] / "site/admin_site/templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "edfi_api.web.context_processors.shared_by_pages",
            ]
        },
    }
]

rule_login = values["RULE_LOGIN"]
if not rule_login and not values["DATABASE_URL"]:
    rule_login = {"user": RULES}
# Without DATABASE_URL, the embedded server in MEADOWLARK_HOME, which `make run` starts and stops.
DATABASES = {"default": values["DATABASE_URL"] or database_at(embedded_postgres.url(HOME))}
DATABASES["default"]["CONN_MAX_AGE"] = values["CONNECTION_MAX_AGE"]
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] = values["TRANSACTION_POOLING"]
# Options of the URL count more.
DATABASES["default"]["OPTIONS"] = environment.PRIMARY | DATABASES["default"].get("OPTIONS", {})
if values["DATABASE_REPLICA_URL"]:
    DATABASES["replica"] = DATABASES["default"] | {"OPTIONS": {}} | values["DATABASE_REPLICA_URL"]
    DATABASES["replica"]["OPTIONS"] = environment.REPLICA | DATABASES["replica"]["OPTIONS"]
    DATABASES["replica"]["TEST"] = {"MIRROR": "default"}
DATABASE_ROUTERS = ["edfi_api.core.data_stores.provisioning_state.DataStoreRouter"]
# Only for requests, see wsgi.py; commands have no limits.
STATEMENT_SECONDS = values["STATEMENT_SECONDS"]
LOCK_SECONDS = values["LOCK_SECONDS"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# The commands that `run_schedule` starts.
SCHEDULE = values["SCHEDULE"]

# The target of a login whose `next` is on another host.
LOGIN_REDIRECT_URL = "admin:index"
AUTHENTICATION_BACKENDS = authentication_backends(values)
# Django's, and those of secrets that came from an ODS/API, so that they are recognised as hashes.
PASSWORD_HASHERS = [
    *HASHERS_OF_DJANGO,
    "edfi_api.core.security.credentials.OdsSecretHasher",
    "edfi_api.core.security.credentials.OdsSecretHasherOfOldVersions",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
# EMAIL_HOST and the others.
globals().update(values["MAIL_SERVER"])
LANGUAGE_CODE = "en-us"
USE_I18N = False
TIME_ZONE = "UTC"
USE_TZ = True
FORMAT_MODULE_PATH = "meadowlark.configuration.formats"
STATIC_URL = "/static/"
# Serves from the installed packages, without collectstatic.
WHITENOISE_USE_FINDERS = True

EDFI_API = {name: value for name, value in values.items() if name in conf.DEFAULTS} | {
    "CHANGE_SINKS": {
        "output": {"BACKEND": "edfi_api.features.changes.change_stream.sinks.standard_output.StandardOutput"},
        "webhook": {
            "BACKEND": "edfi_api.features.changes.change_stream.sinks.webhook.Webhook",
            "OPTIONS": {"url": values["WEBHOOK_URL"], "secret": values["WEBHOOK_SECRET"]},
        },
        "nats": {
            "BACKEND": "edfi_api.features.changes.change_stream.sinks.nats.Nats",
            "OPTIONS": {"servers": list(values["NATS_SERVERS"])},
        },
    },
    "RULE_LOGIN": rule_login,
    "STORE_KEYS": values["STORE_KEYS"] or ((lasting_key,) if lasting_key else ()),
    "WRITE_RECORDER": "edfi_api.features.refusals.recorder.Recorder" if values["REFUSALS"] else "",
}
DATA_UPLOAD_MAX_MEMORY_SIZE = EDFI_API["MAX_BODY_BYTES"]
# The form of the columns of a table has seven fields for each of 250 columns, and more for a column of several members.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000
FILE_UPLOAD_HANDLERS = ["edfi_api.web.middleware.BoundedUpload", *default_upload_handlers]

OAUTH2_PROVIDER_APPLICATION_MODEL = "security.ApiClient"
OAUTH2_PROVIDER = {
    "ACCESS_TOKEN_EXPIRE_SECONDS": values["TOKEN_SECONDS"],
    "ACCESS_TOKEN_ADMIN_CLASS": "edfi_api.site.model_admins.security.AccessTokenAdmin",
    "APPLICATION_ADMIN_CLASS": "edfi_api.site.model_admins.security.ApiClientAdmin",
    **dict.fromkeys(
        ("GRANT_ADMIN_CLASS", "ID_TOKEN_ADMIN_CLASS", "REFRESH_TOKEN_ADMIN_CLASS"),
        "edfi_api.site.model_admins.security.UnusedAdmin",
    ),
    **OAUTH_SETTINGS,
}

if values["MANAGEMENT_ONLY"]:
    ROOT_URLCONF = "meadowlark.management_urls"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["edfi_api.core.security.requests.authentication.BearerTokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["edfi_api.core.security.requests.authentication.IsApiClient"],
    "DEFAULT_PARSER_CLASSES": ["edfi_api.web.viewsets.requests.EdFiJsonParser"],
    "DEFAULT_RENDERER_CLASSES": ["edfi_api.web.viewsets.responses.EdFiJsonRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "edfi_api.web.viewsets.responses.NoNegotiation",
    "DEFAULT_FILTER_BACKENDS": [
        "edfi_api.features.changes.change_queries.windows.ChangeVersionFilter",
        "edfi_api.core.queries.filters.QueryByExampleFilter",
        "edfi_api.core.queries.filters.OrderFilter",
    ],
    "DEFAULT_PAGINATION_CLASS": "edfi_api.core.queries.pagination.EdFiPagination",
    "EXCEPTION_HANDLER": "edfi_api.web.problem_details.exception_handler.exception_handler",
    "UNAUTHENTICATED_USER": None,
}
if values["REQUESTS_PER_MINUTE"]:
    REST_FRAMEWORK["DEFAULT_THROTTLE_CLASSES"] = ["edfi_api.core.security.rate_limits.RequestsPerMinute"]

# The signals that are sent to a collector. The variables are OpenTelemetry's own, and its libraries read some of them
# too.
TELEMETRY = frozenset(
    signal
    for signal in ("traces", "logs", "metrics")
    if values["OTEL_EXPORTER_OTLP_ENDPOINT"] and values[f"OTEL_{signal.upper()}_EXPORTER"] == "otlp"
)
TELEMETRY_METRICS_SECONDS = values["OTEL_METRIC_EXPORT_INTERVAL"] / 1000

LOGGING = logging_configuration(formatter=values["LOG_FORMAT"], level=values["LOG_LEVEL"])
