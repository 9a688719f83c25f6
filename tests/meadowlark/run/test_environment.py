"""Validation of environment variables."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from edfi_api.common.settings_table import SETTINGS, Setting, SettingKind
from edfi_api.site.checks import unknown_variables
from meadowlark.configuration.environment import read

TOP = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("text", "reason"), [("-5", "MEADOWLARK_X is -5; it must not be negative"), ("many", "it must be a whole number")]
)
def test_a_number_out_of_range_is_refused(monkeypatch: pytest.MonkeyPatch, text: str, reason: str) -> None:
    monkeypatch.setenv("MEADOWLARK_X", text)

    with pytest.raises(ImproperlyConfigured, match=reason):
        read(Setting(SettingKind.NUMBER, "X", 90, ""))


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("db.example.org", "its scheme is another one"),
        ("mysql://meadowlark:hidden@127.0.0.1/meadowlark", "its scheme is another one"),
        ("postgresql://meadowlark:hid/den@127.0.0.1/meadowlark", "its port is not a number up to 65535"),
        ("postgresql://meadowlark:hidden@127.0.0.1:99999/meadowlark", "its port is not a number up to 65535"),
        ("postgresql://meadowlark:hidden@127.0.0.1:5432", "it names no database"),
    ],
)
def test_an_address_that_is_none_of_a_database_is_refused(
    monkeypatch: pytest.MonkeyPatch, address: str, reason: str
) -> None:
    """How `make run` reports it: test_make_run.py."""
    monkeypatch.setenv("DATABASE_URL", address)

    with pytest.raises(ImproperlyConfigured) as refusal:
        read(SETTINGS["DATABASE_URL"])

    assert str(refusal.value) == (
        f"DATABASE_URL is not of the form postgresql://USER:PASSWORD@HOST:PORT/DATABASE: {reason}."
        " In a password, characters such as / and # have to be written as %2F and %23."
    )


@pytest.mark.parametrize(
    ("kind", "default"),
    [
        (SettingKind.TEXT, "5.2"),
        (SettingKind.TEXTS, ("localhost",)),
        (SettingKind.PATH, Path("/var/cache")),
        (SettingKind.PATHS, ()),
        (SettingKind.NUMBER, 60),
        (SettingKind.COUNT, 4),
        (SettingKind.DECIMAL, 0.5),
        (SettingKind.HEADER, "correlationid"),
    ],
)
def test_for_an_empty_variable_the_default_holds(
    monkeypatch: pytest.MonkeyPatch, kind: SettingKind, default: object
) -> None:
    monkeypatch.setenv("MEADOWLARK_X", "")

    assert read(Setting(kind, "X", default, "")) == default


@pytest.mark.parametrize(("name", "value"), [("ADMIN_PATH", ""), ("SCHEDULE", ())])
def test_an_empty_variable_can_turn_something_off(monkeypatch: pytest.MonkeyPatch, name: str, value: object) -> None:
    monkeypatch.setenv(f"MEADOWLARK_{name}", "")

    assert read(SETTINGS[name]) == value


@pytest.mark.parametrize(("text", "value"), [("", True), (" ", True), ("yes", True), ("1", True), ("Off", False)])
def test_a_boolean_accepts_the_usual_notations(monkeypatch: pytest.MonkeyPatch, text: str, value: bool) -> None:
    monkeypatch.setenv("MEADOWLARK_X", text)

    assert read(Setting(SettingKind.BOOLEAN, "X", True, "")) is value


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("MEADOWLARK_HTTPS", "yess", "is 'yess'; it must be true or false."),
        ("MEADOWLARK_METRICS", "2", "is '2'; it must be true or false."),
        ("MEADOWLARK_LOG_FORMAT", "xml", "is 'xml'; it must be empty or one of: line, json."),
        (
            "MEADOWLARK_LOG_LEVEL",
            "info",
            "is 'info'; it must be empty or one of: DEBUG, INFO, WARNING, ERROR, CRITICAL.",
        ),
        ("MEADOWLARK_WORKERS", "many", "is 'many'; it must be a whole number above 0."),
        ("MEADOWLARK_THREADS", "0", "is '0'; it must be a whole number above 0."),
        ("MEADOWLARK_REQUEST_SECONDS", "-1", "is '-1'; it must be a whole number above 0."),
        ("MEADOWLARK_KEEPALIVE_SECONDS", "1.5", "is '1.5'; it must be a whole number above 0."),
        ("MEADOWLARK_MAIL_SERVER", "http://user:word@mail", "is not of the form smtp+tls://USER:PASSWORD@HOST:PORT."),
        (
            "MEADOWLARK_MAIL_SERVER",
            "smtp://mail:word",
            "has a port that is not a number up to 65535.",
        ),
        ("MEADOWLARK_RULE_DATABASE_URL", "db.example.org", "is not of the form postgresql://USER:PASSWORD@HOST."),
        ("MEADOWLARK_RULE_DATABASE_URL", "postgresql://db/edfi", "is not of the form postgresql://USER:PASSWORD@HOST."),
        ("MEADOWLARK_CORRELATION_HEADER", "two words", "is 'two words', which is not the name of a header."),
        ("MEADOWLARK_CORRELATION_HEADER", "a:b", "is 'a:b', which is not the name of a header."),
        ("MEADOWLARK_CORRELATION_HEADER", "x\r\ny", r"is 'x\r\ny', which is not the name of a header."),
        ("MEADOWLARK_CORRELATION_HEADER", "café", "is 'café', which is not the name of a header."),
    ],
)
def test_an_unusable_setting_is_reported_in_one_line(name: str, text: str, reason: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "meadowlark.prepare"],
        cwd=TOP,
        env=os.environ | {name: text},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert done.stderr == f"The settings cannot be used: {name} {reason}\n"


@pytest.mark.parametrize(
    ("variables", "sentences"),
    [
        (
            {"MEADOWLARK_THREDS": "8", "MEADOWLARK_THREADS": "8"},
            ["MEADOWLARK_THREDS is not a setting. Is MEADOWLARK_THREADS meant?"],
        ),
        ({"MEADOWLARK_QZQZQZ": ""}, ["MEADOWLARK_QZQZQZ is not a setting."]),
        ({"DATABASE_URL": "", "THREDS": "8", "MEADOWLARK_STORE_NORTH": "postgresql://north/edfi"}, []),
    ],
)
def test_unknown_variables_are_named_with_the_nearest_setting(variables: dict[str, str], sentences: list[str]) -> None:
    assert list(unknown_variables(variables)) == sentences


def test_a_check_warns_of_unknown_variables() -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=TOP,
        env=os.environ | {"MEADOWLARK_WORKRES": "2"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert "MEADOWLARK_WORKRES is not a setting. Is MEADOWLARK_WORKERS meant?" in done.stderr


@pytest.mark.parametrize(
    ("url", "login"),
    [
        ("", {}),
        ("postgresql://rules@", {"user": "rules"}),
        ("postgresql://rules:s%2Fe@db:5433/x", {"user": "rules", "password": "s/e", "host": "db", "port": "5433"}),
    ],
)
def test_the_login_of_rules_is_what_its_url_has(
    monkeypatch: pytest.MonkeyPatch, url: str, login: dict[str, str]
) -> None:
    monkeypatch.setenv("MEADOWLARK_RULE_DATABASE_URL", url)

    assert read(SETTINGS["RULE_LOGIN"]) == login
