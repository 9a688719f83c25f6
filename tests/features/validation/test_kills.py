"""A run that is killed at any step has published each rule whole or not at all, and the next one repairs it."""

from typing import Any

import pytest

from edfi_api.features.validation.publishing import Publisher
from tests.features.validation.conftest import OPEN, student
from tests.features.validation.rules import STUDENTS

FIRST, SECOND, THIRD = ((f"NK#studentUniqueId={number}", "Has none") for number in (1, 2, 3))
STATES = "SELECT status FROM validation_run ORDER BY id"


class Killed(KeyboardInterrupt):
    """Ends a run as the end of its process does: whatever else is raised is a failure of the rule alone."""


def kill_at(monkeypatch: pytest.MonkeyPatch, step: int) -> list[int]:
    """Raise Killed at this step of publishing, counted from 0. Returns the steps that there were."""
    steps: list[int] = []

    def counted(method: Any) -> Any:
        def call(self: Publisher, *args: Any, **options: Any) -> Any:
            steps.append(len(steps))
            if steps[-1] == step:
                raise Killed
            return method(self, *args, **options)

        return call

    for name in ("stage", "publish", "_execute"):
        monkeypatch.setattr(Publisher, name, counted(getattr(Publisher, name)))
    return steps


def test_a_run_that_is_killed_at_any_step_publishes_whole_or_not_at_all(
    rules, committing_api, rows, monkeypatch
) -> None:
    rules.write(
        "s1.sql", STUDENTS.replace("SELECT d.id AS document_id,", "SELECT d.id AS document_id, 'Has none' AS message,")
    )
    student(committing_api, "1")
    student(committing_api, "2")
    step, is_over = 0, False
    while not is_over:
        student(committing_api, "1")
        student(committing_api, "2")
        student(committing_api, "3", middleName="Ann")
        rules.run()
        before = rows(OPEN)
        student(committing_api, "1", middleName="Ann")
        student(committing_api, "3")
        with monkeypatch.context() as patched:
            steps = kill_at(patched, step)
            try:
                rules.run()
                is_over = True
            except Killed:
                assert rows(OPEN) in (before, [SECOND, THIRD])
        assert len(steps) > step or is_over
        rules.run()
        assert rows(OPEN) == [SECOND, THIRD]
        step += 1

    assert step > 9
    states = [state for (state,) in rows(STATES)]
    assert states.count("Stopped") == step - 1 and "Running" not in states
    assert rows("SELECT count(*) FROM staged_violation") == [(0,)]
