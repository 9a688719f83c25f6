"""Reads the settings of `edfi_api/common/settings_table.py` from the environment, each checked by its kind."""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import environ
import psycopg
from django.core.exceptions import ImproperlyConfigured
from psycopg.conninfo import conninfo_to_dict

from edfi_api.common.settings_table import SETTINGS, Setting, SettingKind
from edfi_api.site.schedule.timetable import Entry, read_timetable

PRIMARY = {
    "connect_timeout": 5,
    "application_name": "meadowlark",
    # Detects an unreachable database host within about 20 seconds, instead of TCP's quarter of an hour.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 2,
    "tcp_user_timeout": 20_000,
}
# An unreachable replica must not delay requests, which the primary can answer.
REPLICA = {"application_name": "meadowlark", "connect_timeout": 2, "tcp_user_timeout": 5000}


_POSTGRESQL = {"postgresql", "postgres", "pgsql", "psql"}
# Ports by scheme.
_MAIL_SCHEMES = {"smtp": 25, "smtp+ssl": 465, "smtp+tls": 587}
_MAIL_SECONDS = 30
_TRUE = {"true", "on", "yes", "y", "ok", "1"}
_FALSE = {"false", "off", "no", "n", "0"}
_QUALIFIER = re.compile(r"[A-Za-z][A-Za-z0-9]*", re.ASCII)
# RFC 9110 §5.6.2.
_HEADER_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)

_env = environ.Env()


def read_all() -> dict[str, Any]:
    """The values of all settings by name. Raises ImproperlyConfigured for the first one that cannot be used."""
    values: dict[str, Any] = {}
    for name, setting in SETTINGS.items():
        values[name] = read(setting, values)
    return values


def read(setting: Setting, values: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """The value of one setting; its default may be computed from `values`. Raises ImproperlyConfigured if the variable
    has none that can be used."""
    return _READERS[setting.kind](setting, setting.default_among(values))


def _text(setting: Setting, default: str) -> str:
    """Compose passes on unset variables as empty ones, for which the default holds."""
    return _text_or_empty(setting, "") or default


def _text_or_empty(setting: Setting, default: str) -> str:
    """Return the text of a setting that an empty variable turns off."""
    value: str = _env.str(setting.variable, default=default)
    return value


def _texts(setting: Setting, default: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_env.list(setting.variable, default=[])) or default


def _path(setting: Setting, default: Path) -> Path:
    return Path(_text(setting, str(default)))


def _paths(setting: Setting, default: tuple[str, ...]) -> tuple[Path, ...]:
    return tuple(map(Path, _texts(setting, default)))


def _route(setting: Setting, default: str) -> str:
    return _text_or_empty(setting, default).strip("/")


def _number(setting: Setting, default: int) -> int:
    try:
        number = int(_given(setting) or default)
    except ValueError as error:
        raise _unusable(setting, "it must be a whole number") from error
    if number < 0:
        raise ImproperlyConfigured(f"{setting.variable} is {number}; it must not be negative.")
    return number


def _count(setting: Setting, default: int) -> int:
    text = _given(setting) or f"{default}"
    if not text.isdecimal() or int(text) == 0:
        raise _unusable(setting, "it must be a whole number above 0")
    return int(text)


def _decimal(setting: Setting, default: float) -> float:
    return _float(setting, default, lambda number: number >= 0, "it must be a number, and not negative")


def _fraction(setting: Setting, default: float) -> float:
    return _float(setting, default, lambda number: 0 < number <= 1, "it must be a number above 0, up to 1")


def _float(setting: Setting, default: float, is_usable: Callable[[float], bool], reason: str) -> float:
    try:
        number = float(_given(setting) or default)
    except ValueError as error:
        raise _unusable(setting, reason) from error
    if not is_usable(number):
        raise _unusable(setting, reason)
    return number


def _boolean(setting: Setting, default: bool) -> bool:
    """Return the boolean, written in one of the usual words: a typing error in MEADOWLARK_HTTPS must not
    turn it off.
    """
    text = _given(setting).lower()
    if text and text not in _TRUE | _FALSE:
        raise _unusable(setting, "it must be true or false")
    return text in _TRUE if text else default


def _choice(setting: Setting, default: str) -> str:
    value = _text(setting, default)
    if value and value not in setting.choices:
        raise _unusable(setting, f"it must be empty or one of: {', '.join(setting.choices)}")
    return value


def _path_prefix(setting: Setting, default: str) -> str:
    value = _text(setting, default)
    if value and not re.fullmatch(r"/?(?:/?[\w.~-]+)+/?", value, re.ASCII):
        raise ImproperlyConfigured(f"{setting.variable} is {value!r}, which is not the path of an address.")
    return f"/{value.strip('/')}" if value.strip("/") else ""


def _header(setting: Setting, default: str) -> str:
    value = _text(setting, default)
    if not _HEADER_NAME.fullmatch(value):
        raise ImproperlyConfigured(f"{setting.variable} is {value!r}, which is not the name of a header.")
    return value


def _qualifiers(setting: Setting, default: tuple[str, ...]) -> tuple[str, ...]:
    """Names for segments of addresses, different in any case."""
    names = [each.strip() for each in _texts(setting, default)]
    if wrong := [each for each in names if not _QUALIFIER.fullmatch(each) or each.lower() == "tenant"]:
        raise ImproperlyConfigured(
            f"{setting.variable} has {wrong[0]!r}; a name is letters and digits, and not 'tenant'."
        )
    if len({each.lower() for each in names}) < len(names):
        raise ImproperlyConfigured(f"{setting.variable} has a name twice.")
    return tuple(names)


def _pairs(setting: Setting, default: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple(_pair(setting, text) for text in _texts(setting, default))


def _pair(setting: Setting, text: str) -> tuple[str, str]:
    value, _, group = text.rpartition("=")
    if not value.strip() or not group.strip():
        raise ImproperlyConfigured(f"{setting.variable} has {text!r}; an entry is VALUE=GROUP.")
    return value.strip(), group.strip()


def _mail_server(setting: Setting, default: str) -> dict[str, Any]:
    """Django's settings for sending mails. Messages quote no part of the URL, as those of databases."""
    address = _text(setting, default).strip()
    scheme, separator, _ = address.partition("://")
    if not separator or scheme not in _MAIL_SCHEMES:
        raise ImproperlyConfigured(f"{setting.variable} is not of the form smtp+tls://USER:PASSWORD@HOST:PORT.")
    try:
        found: dict[str, Any] = environ.Env.email_url_config(address)
    except ValueError:
        raise ImproperlyConfigured(f"{setting.variable} has a port that is not a number up to 65535.") from None
    return {**found, "EMAIL_PORT": found["EMAIL_PORT"] or _MAIL_SCHEMES[scheme], "EMAIL_TIMEOUT": _MAIL_SECONDS}


def _database(setting: Setting, default: str) -> dict[str, Any]:
    """The entry of Django's DATABASES; empty if the variable is. Messages quote no part of the URL, since any part may
    belong to the password."""
    address = _text(setting, default).strip()
    if not address:
        return {}
    scheme, separator, _ = address.partition("://")
    if not separator or scheme not in _POSTGRESQL:
        raise _no_address(setting, "its scheme is another one")
    try:
        config = database_at(address)
    except ValueError:
        raise _no_address(setting, "its port is not a number up to 65535") from None
    if not config["NAME"] and "service" not in config.get("OPTIONS", {}):
        raise _no_address(setting, "it names no database")
    return config | {"ENGINE": "django.db.backends.postgresql"}


def database_at(address: str) -> dict[str, Any]:
    """The entry of Django's DATABASES for a URL. Raises ValueError for a port that is no number."""
    config: dict[str, Any] = _env.db_url_config(address)
    options = config.get("OPTIONS", {})
    if not config["HOST"] and "host" in options:
        config["HOST"] = options.pop("host")  # psql reads it there, too, for `manage.py dbshell`.
    return config


def _login(setting: Setting, default: dict[str, str]) -> dict[str, str]:
    """The parameters of libpq in a URL but for the database. Messages quote no part of it, as above."""
    address = _given(setting)
    if not address:
        return default
    try:
        parameters = conninfo_to_dict(address)
    except psycopg.Error:
        parameters = {}
    if not parameters.get("user"):
        raise ImproperlyConfigured(f"{setting.variable} is not of the form postgresql://USER:PASSWORD@HOST.")
    return {name: str(value) for name, value in parameters.items() if name != "dbname"}


def _schedule(setting: Setting, default: str) -> tuple[Entry, ...]:
    try:
        return read_timetable(_text_or_empty(setting, default))
    except ValueError as error:
        raise ImproperlyConfigured(f"In {setting.variable}, {error}.") from error


def _time_zone(setting: Setting, default: str) -> ZoneInfo:
    try:
        return ZoneInfo(_given(setting) or default)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise _unusable(setting, "is no time zone, such as America/Chicago") from error


def _given(setting: Setting) -> str:
    return os.environ.get(setting.variable, "").strip()


def _unusable(setting: Setting, reason: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(f"{setting.variable} is {os.environ[setting.variable]!r}; {reason}.")


def _no_address(setting: Setting, reason: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(
        f"{setting.variable} is not of the form postgresql://USER:PASSWORD@HOST:PORT/DATABASE: {reason}. In a "
        "password, characters such as / and # have to be written as %2F and %23."
    )


_READERS: dict[SettingKind, Callable[[Setting, Any], Any]] = {
    SettingKind.TEXT: _text,
    SettingKind.TEXTS: _texts,
    SettingKind.PATH: _path,
    SettingKind.PATHS: _paths,
    SettingKind.ROUTE: _route,
    SettingKind.NUMBER: _number,
    SettingKind.COUNT: _count,
    SettingKind.DECIMAL: _decimal,
    SettingKind.FRACTION: _fraction,
    SettingKind.BOOLEAN: _boolean,
    SettingKind.CHOICE: _choice,
    SettingKind.HEADER: _header,
    SettingKind.PATH_PREFIX: _path_prefix,
    SettingKind.QUALIFIERS: _qualifiers,
    SettingKind.PAIRS: _pairs,
    SettingKind.DATABASE: _database,
    SettingKind.LOGIN: _login,
    SettingKind.MAIL_SERVER: _mail_server,
    SettingKind.SCHEDULE: _schedule,
    SettingKind.TIME_ZONE: _time_zone,
}
