"""The weeks, squares and looks of a calendar of events."""

from datetime import date, timedelta

from edfi_api.site.person_pages.calendar import Event, calendar_of

MONDAY = date(2026, 9, 7)
TARDY = Event(MONDAY, "Tardy")


def squares(calendar):
    return [(square.text, square.look) for square in calendar.squares if square.look is not None]


def test_nothing_is_no_calendar():
    assert calendar_of([], {}, MONDAY) is None


def test_the_weeks_reach_from_before_the_first_event_to_today():
    calendar = calendar_of([TARDY], {"Tardy": 2}, date(2026, 11, 29))

    assert calendar.squares[0].text == "Mon 2026-09-07: Tardy"
    assert len(calendar.squares) == 12 * 5
    assert calendar.squares[-1].text == "Fri 2026-11-27"
    assert squares(calendar) == [("Mon 2026-09-07: Tardy", 2)]
    assert [(month.name, month.x) for month in calendar.months] == [("Sep", 0), ("Oct", 56), ("Nov", 112)]


def test_of_many_weeks_the_latest_are_shown():
    long_ago = Event(MONDAY - timedelta(weeks=60), "Tardy")

    calendar = calendar_of([TARDY, long_ago], {}, date(2026, 9, 8))

    assert len(calendar.squares) == 44 * 5
    assert calendar.text == "From 2026-09-07 to 2026-09-07: Tardy 1."


def test_events_of_long_ago_are_not_followed_by_empty_weeks():
    calendar = calendar_of([TARDY], {}, date(2030, 1, 1))

    assert calendar.squares[-1].text == "Fri 2026-09-11"


def test_a_day_has_the_look_of_its_worst_event_and_the_names_of_all():
    events = [TARDY, Event(MONDAY, "Unexcused"), Event(MONDAY, "Present"), Event(MONDAY, "Tardy")]

    calendar = calendar_of(events, {"Unexcused": 1, "Tardy": 2, "Present": 0}, MONDAY)

    assert squares(calendar) == [("Mon 2026-09-07: Unexcused, Tardy, Present", 1)]
    assert [(each.name, each.number, each.look) for each in calendar.categories] == [
        ("Unexcused", 1, 1),
        ("Tardy", 2, 2),
        ("Present", 1, 0),
    ]


def test_days_of_the_weekend_are_shown_if_something_has_happened():
    calendar = calendar_of([Event(date(2026, 9, 12), "Field day")], {}, MONDAY)

    assert len(calendar.squares) == 12 * 7
    assert squares(calendar) == [("Sat 2026-09-12: Field day", 3)]
