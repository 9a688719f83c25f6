"""Random sequences of requests, compared with a reference model in Python.

The model has class periods and the bell schedules that refer to them; a period can be renamed.
"""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from tests.conftest import item_path
from tests.support.examples import examples
from tests.whole.concurrency.conftest import SmallSchool
from tests.whole.concurrency.integrity import assert_integrity

period_names = st.sampled_from(["P1", "P2", "P3"])
schedule_names = st.sampled_from(["S1", "S2"])
some_periods = st.lists(period_names, min_size=1, max_size=3, unique=True)


class Model(RuleBasedStateMachine):
    """`periods` and `schedules` are the expected documents: path and content by name."""

    school: SmallSchool
    surface = None

    def __init__(self):
        super().__init__()
        self.periods, self.schedules = {}, {}
        self.gone = "/data/ed-fi/classPeriods/0198b4f3-3c5e-7000-8000-0123456789ab"

    def referrers_of(self, name):
        return [schedule for schedule, (_, periods) in self.schedules.items() if name in periods]

    @rule(name=period_names, is_official=st.booleans())
    def post_period(self, name, is_official):
        answer = self.school.post_period(name, officialAttendancePeriod=is_official)

        assert answer.status_code == (200 if name in self.periods else 201)
        self.keep(self.periods, name, answer, is_official)

    @rule(name=schedule_names, periods=some_periods)
    def post_schedule(self, name, periods):
        answer = self.school.post_schedule(name, *periods)

        if not set(periods) <= set(self.periods):
            missing = {
                f"$.classPeriods[{index}].classPeriodReference"
                for index, each in enumerate(periods)
                if each not in self.periods
            }
            assert answer.status_code == 409
            assert set(answer.json()["validationErrors"]) == missing
        else:
            assert answer.status_code == (200 if name in self.schedules else 201)
            self.keep(self.schedules, name, answer, periods)

    @rule(name=schedule_names, periods=some_periods)
    def put_schedule(self, name, periods):
        path = self.schedules[name][0] if name in self.schedules else self.gone.replace("classPeriods", "bellSchedules")

        answer = self.school.put_schedule(path, name, *periods)

        if name not in self.schedules:
            assert answer.status_code == 404
        elif not set(periods) <= set(self.periods):
            assert answer.status_code == 409
        else:
            assert answer.status_code == 204
            self.keep(self.schedules, name, answer, periods)

    @rule(name=period_names, new_name=period_names, is_official=st.booleans())
    def put_period(self, name, new_name, is_official):
        path = self.periods[name][0] if name in self.periods else self.gone

        answer = self.school.put_period(path, new_name, officialAttendancePeriod=is_official)

        if name not in self.periods:
            assert answer.status_code == 404
        elif new_name != name and new_name in self.periods:
            assert answer.status_code == 409
        else:
            assert answer.status_code == 204
            for schedule in self.referrers_of(name):
                at, periods = self.schedules[schedule]
                self.schedules[schedule] = (at, [new_name if each == name else each for each in periods])
            del self.periods[name]
            self.keep(self.periods, new_name, answer, is_official)

    @rule(name=period_names)
    def delete_period(self, name):
        path = self.periods[name][0] if name in self.periods else self.gone

        answer = self.school.api.delete(path)

        if name not in self.periods:
            assert answer.status_code == 404
        elif self.referrers_of(name):
            assert answer.status_code == 409
            named = {error.rpartition("bellScheduleName=")[2].partition("#")[0] for error in answer.json()["errors"]}
            assert named == set(self.referrers_of(name))
        else:
            assert answer.status_code == 204
            self.gone = self.periods.pop(name)[0]

    @rule(name=schedule_names)
    def delete_schedule(self, name):
        if name in self.schedules:
            assert self.school.api.delete(self.schedules.pop(name)[0]).status_code == 204

    @invariant()
    def stored_documents_equal_the_model(self):
        for name, (path, is_official) in self.periods.items():
            served = self.school.api.get(path).json()
            assert (served["classPeriodName"], served["officialAttendancePeriod"]) == (name, is_official)
        for name, (path, periods) in self.schedules.items():
            served = self.school.api.get(path).json()
            references = [each["classPeriodReference"]["classPeriodName"] for each in served["classPeriods"]]
            assert (served["bellScheduleName"], references) == (name, periods)
        assert len(self.school.api.get("/classPeriods").json()) == len(self.periods)
        assert len(self.school.api.get("/bellSchedules").json()) == len(self.schedules)
        assert_integrity(self.surface)

    def keep(self, documents, name, answer, content):
        path = item_path(answer)
        if name in documents:
            assert documents[name][0] == path, "an update keeps the id"
        documents[name] = (path, content)

    def teardown(self):
        for path, _ in [*self.schedules.values(), *self.periods.values()]:
            assert self.school.api.delete(path).status_code == 204


@pytest.fixture
def model(api, documents, resource_named, surface):
    documents.store(resource_named("School"))
    return type("ModelOfThisTest", (Model,), {"school": SmallSchool(api), "surface": surface})


@pytest.mark.hypothesis
def test_any_sequence_of_requests_agrees_with_the_model(model):
    limits = settings(
        max_examples=examples(4),
        stateful_step_count=25,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )

    run_state_machine_as_test(model, settings=limits)
