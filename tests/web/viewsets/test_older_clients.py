"""Settings for clients of older Ed-Fi servers. See
meadowlark/docs/reference/contract.md#older-clients."""

import logging

import pytest

from edfi_api.common.conf import api_settings
from edfi_api.core.queries import parameters
from edfi_api.core.queries.parameters import OncePerProcess
from tests.conftest import item_path
from tests.support.factories import STUDENT


@pytest.fixture
def configure(settings):
    """Changes settings of EDFI_API."""

    def allow(**changes: bool) -> None:
        settings.EDFI_API = {**settings.EDFI_API, **changes}

    yield allow
    api_settings.reload()


def test_unknown_query_parameters_are_ignored_only_by_setting(api, configure):
    assert api.post("/students", STUDENT).status_code == 201
    path = "/students?colour=red&lastSurname=Ortiz"
    assert api.get(path).status_code == 400

    configure(IGNORE_UNKNOWN_PARAMETERS=True)

    assert [student["studentUniqueId"] for student in api.get(path).json()] == ["604822"]
    assert api.get("/students?colour=red&lastSurname=Other").json() == []
    assert api.get("/students?colour=red&birthDate=soon").status_code == 400


def test_the_log_names_the_setting_once(api, caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger(parameters.__name__), "filters", [OncePerProcess()])
    caplog.set_level("INFO", "edfi_api.core.queries")

    for colour in ("red", "blue"):
        assert api.get(f"/students?colour={colour}").status_code == 400

    [line] = [record.getMessage() for record in caplog.records if "COMPATIBILITY" in record.getMessage()]
    assert "MEADOWLARK_COMPATIBILITY=ods" in line
    assert not any(sent in line for sent in ("colour", "red", "blue"))


@pytest.mark.parametrize("id_", [{}, {"id": None}])
def test_a_put_without_id_is_accepted_only_by_setting(api, configure, id_):
    path = item_path(api.post("/students", STUDENT))
    changed = STUDENT | {"firstName": "June"} | id_
    assert api.put(path, changed).status_code == 400

    configure(PUT_WITHOUT_ID=True)

    assert api.put(path, changed).status_code == 204
    assert api.get(path).json()["firstName"] == "June"
    assert api.put(path, changed | {"id": "00000000-0000-4000-8000-000000000000"}).status_code == 400


def test_empty_members_of_problems_are_omitted_only_by_setting(api, configure):
    path = "/students?colour=red"
    assert api.get(path).json()["validationErrors"] == {}

    configure(OMIT_EMPTY_PROBLEM_MEMBERS=True)

    problem = api.get(path).json()
    assert list(problem) == ["detail", "type", "title", "status", "correlationId", "errors", "hints"]
    assert "errors" not in api.post("/students", STUDENT | {"birthDate": "soon"}).json()
