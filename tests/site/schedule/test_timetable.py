"""When commands are due, and which schedules are refused."""

from datetime import UTC, datetime

import pytest
from django.core.exceptions import ImproperlyConfigured

from edfi_api.common.settings_table import SETTINGS
from edfi_api.site.schedule.timetable import read_timetable
from meadowlark.configuration.environment import read


@pytest.mark.parametrize(
    ("when", "last", "due"),
    [
        ("45s", "2026-11-23T01:00:00", "2026-11-23T01:00:45"),
        ("5m", "2026-11-23T01:00:00", "2026-11-23T01:05:00"),
        ("24h", "2026-11-23T01:00:00", "2026-11-24T01:00:00"),
        ("7d", "2026-11-23T01:00:00", "2026-11-30T01:00:00"),
        ("02:00", "2026-11-23T01:59:59", "2026-11-23T02:00:00"),
        ("02:00", "2026-11-23T02:00:00", "2026-11-24T02:00:00"),
        ("02:00", "2026-12-31T23:59:59", "2027-01-01T02:00:00"),
        ("00:00", "2026-11-23T00:00:00", "2026-11-24T00:00:00"),
    ],
)
def test_a_command_is_due_after_its_interval_or_at_its_time_of_day(when: str, last: str, due: str) -> None:
    [entry] = read_timetable(f"{when} housekeeping")

    assert entry.due_after(datetime.fromisoformat(f"{last}+00:00")) == datetime.fromisoformat(f"{due}+00:00")


def test_a_time_of_day_is_in_utc() -> None:
    [entry] = read_timetable("02:00 housekeeping")

    assert entry.due_after(datetime.fromisoformat("2026-11-23T21:30:00-05:00")) == datetime(2026, 11, 25, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("", []),
        (" ; ", []),
        ("24h housekeeping", ["24h housekeeping"]),
        (" 02:00  run_validation --set  days=3;\n5m refresh_sql_views ;", [
            "02:00 run_validation --set days=3",
            "5m refresh_sql_views",
        ]),
        ("02:00 run_validation; 14:00 run_validation", ["02:00 run_validation", "14:00 run_validation"]),
    ],
)  # fmt: skip
def test_a_schedule_has_an_entry_for_each_command(
    monkeypatch: pytest.MonkeyPatch, text: str, entries: list[str]
) -> None:
    monkeypatch.setenv("MEADOWLARK_SCHEDULE", text)

    assert [str(entry) for entry in read(SETTINGS["SCHEDULE"])] == entries


def test_housekeeping_is_scheduled_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEADOWLARK_SCHEDULE", raising=False)

    assert [str(entry) for entry in read(SETTINGS["SCHEDULE"])] == ["24h housekeeping"]


@pytest.mark.parametrize(
    "text", ["housekeeping", "24h", "24 housekeeping", "0h housekeeping", "2:00 housekeeping", "24:00 housekeeping"]
)
def test_what_is_no_entry_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("MEADOWLARK_SCHEDULE", f"5m refresh_sql_views; {text}")

    with pytest.raises(ImproperlyConfigured) as refusal:
        read(SETTINGS["SCHEDULE"])

    assert str(refusal.value) == (
        f"In MEADOWLARK_SCHEDULE, {text!r} is not of the form '24h COMMAND' (s, m, h or d) or '02:00 COMMAND'."
    )


def test_an_entry_is_given_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEADOWLARK_SCHEDULE", "1h housekeeping; 1h  housekeeping")

    with pytest.raises(ImproperlyConfigured, match="'1h housekeeping' is there twice"):
        read(SETTINGS["SCHEDULE"])
