"""The `LOGGING` of the settings: everything on standard error, with the correlation id of its request."""

from typing import Any

from pythonjsonlogger.core import RESERVED_ATTRS


def logging_configuration(formatter: str, level: str) -> dict[str, Any]:
    """Return the argument of `logging.config.dictConfig`; the formatter is `line` or `json`, the level a name of the
    standard library.
    """
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"correlation_id": {"()": "edfi_api.common.logs.correlation.CorrelationIdFilter"}},
        "formatters": {
            "line": {"format": "{asctime} {levelname} {name} [{correlation_id}] {message}", "style": "{"},
            "json": {
                "()": "pythonjsonlogger.orjson.OrjsonFormatter",
                "format": ["asctime", "levelname", "name", "correlation_id", "message"],
                "rename_fields": {"asctime": "time", "levelname": "level", "name": "logger"},
                # Django adds the request to lines about failures: its text has the query string.
                "reserved_attrs": [*RESERVED_ATTRS, "request"],
            },
        },
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": formatter,
                "filters": ["correlation_id"],
            },
        },
        "root": {
            "handlers": ["console"],
            "level": level,
        },
        "loggers": {
            # Refused requests have a log line of their own, see observability/middleware.py.
            "django.request": {"level": "ERROR"},
            # Would log a traceback with the client's input for each unknown host and the like. The reason of a CSRF
            # failure is needed to find a missing MEADOWLARK_TRUSTED_ORIGINS.
            "django.security": {"level": "CRITICAL"},
            "django.security.csrf": {"level": "WARNING"},
            # The HTTP engine, whose INFO lines repeat those of gunicorn.
            "_granian": {"level": "WARNING"},
            # Logs tokens at DEBUG.
            "oauthlib": {"level": "INFO"},
        },
    }
