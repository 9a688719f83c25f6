"""Functions that are called for results."""

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from edfi_api.features.changes.change_stream import delivery
from edfi_api.features.changes.change_stream.models import DeadLetter
from tests.features.validation import handlers
from tests.features.validation.conftest import student
from tests.features.validation.rules import STUDENTS

FIRST, SECOND = "NK#studentUniqueId=1", "NK#studentUniqueId=2"


@pytest.fixture(autouse=True)
def registered(settings, rules):
    settings.EDFI_API = {**settings.EDFI_API, "CHANGE_HANDLERS": ("tests.features.validation.handlers",)}
    handlers.SEEN.clear()
    handlers.FAILING.clear()


def delivered(*names: str) -> list[tuple[str, str, str | None]]:
    """What handlers were called for."""
    handlers.SEEN.clear()
    call_command(
        "run_handlers", once=True, handler=[f"tests.features.validation.handlers.{name}" for name in names] or None
    )
    return sorted(handlers.SEEN)


def test_a_handler_is_called_for_each_state_of_its_results(rules, committing_api) -> None:
    rules.write("s1.sql", STUDENTS)
    rules.write("s2.sql", STUDENTS.replace("S-1", "S-2").replace("minor", "major"))
    student(committing_api, "1")
    rules.run()
    appeared = delivered()
    student(committing_api, "1", middleName="Ann")
    rules.run("--rule", "S-1")

    assert appeared == [
        ("every", "appeared", FIRST),
        ("every", "appeared", FIRST),
        ("major", "appeared", FIRST),
        ("of_rule", "appeared", FIRST),
    ]
    assert delivered("every") == [("every", "resolved", FIRST)]
    assert delivered() == []


def test_a_result_that_a_handler_refuses_is_a_dead_letter_that_the_admin_delivers_again(
    rules, committing_api, monkeypatch
) -> None:
    monkeypatch.setattr(delivery, "_FIRST_PAUSE_SECONDS", 0.001)
    rules.write("s2.sql", STUDENTS.replace("S-1", "S-2"))
    for number in ("1", "2"):
        student(committing_api, number)
        rules.run()
    handlers.FAILING.add(FIRST)

    assert delivered() == [
        ("every", "appeared", SECOND),
        ("of_rule", "appeared", FIRST),
        ("of_rule", "appeared", SECOND),
    ]
    letter = DeadLetter.objects.get()
    assert (letter.handler, letter.resource, letter.natural_key, letter.attempts) == (
        "tests.features.validation.handlers.every",
        "validation/validationResults",
        FIRST,
        delivery.ATTEMPTS,
    )
    handlers.FAILING.clear()
    handlers.SEEN.clear()
    admin = Client()
    admin.force_login(User.objects.create_superuser("operator"))
    admin.post("/admin/change_stream/deadletter/", {"action": "deliver_again", "_selected_action": letter.pk})
    assert handlers.SEEN == [("every", "appeared", FIRST)]
    assert not DeadLetter.objects.exists()


def test_an_unknown_handler_is_refused(db) -> None:
    with pytest.raises(CommandError, match="nobody"):
        call_command("run_handlers", once=True, handler=["nobody"], stderr=StringIO())
