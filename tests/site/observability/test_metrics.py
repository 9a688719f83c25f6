"""Prometheus metrics of requests and the database."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client

from edfi_api.core.security.models import ApiClient
from edfi_api.site.observability import middleware
from edfi_api.site.observability.metrics import REQUESTS
from edfi_api.site.observability.middleware import BoundedLabels
from tests.conftest import ApiTestClient

TOP = Path(__file__).parents[3]
COUNTED_BY_TWO_PROCESSES = """
from os import fork, wait
from edfi_api.site.observability.metrics import REQUESTS, exposition
for _ in range(2):
    if not fork():
        REQUESTS.labels("GET", "/ed-fi/students", 200).inc()
        break
    wait()
else:
    print(exposition().decode())
"""


def counted(method: str, route: str, status: int) -> float:
    """The number of requests with this method, route and status."""
    text = Client().get("/metrics").content.decode()
    line = f'meadowlark_requests_total{{method="{method}",route="{route}",status="{status}"}} '
    return next((float(each.removeprefix(line)) for each in text.splitlines() if each.startswith(line)), 0)


def test_requests_are_counted_by_resource_whatever_the_case_of_the_path(api: ApiTestClient) -> None:
    before = counted("GET", "/ed-fi/students", 200)

    api.get("/students")
    api.get("/STUDENTS/?limit=1")
    api.get("/data/v3/ed-fi/students")

    assert counted("GET", "/ed-fi/students", 200) == before + 3


@pytest.mark.parametrize(
    ("extra", "setting", "has_clients"),
    [
        ({}, False, True),
        ({"REMOTE_ADDR": "::1"}, False, True),
        ({"REMOTE_ADDR": "::ffff:127.0.0.1"}, False, True),
        ({"REMOTE_ADDR": "10.1.2.3"}, False, False),
        ({"REMOTE_ADDR": ""}, False, False),
        ({"HTTP_X_FORWARDED_FOR": "127.0.0.1"}, False, False),
        ({"HTTP_FORWARDED": "for=127.0.0.1"}, False, False),
        ({"HTTP_VIA": "1.1 proxy"}, False, False),
        ({"REMOTE_ADDR": "10.1.2.3"}, True, True),
    ],
)
def test_keys_of_clients_are_for_the_own_host_or_by_setting(
    api: ApiTestClient, settings: Any, extra: dict[str, str], setting: bool, has_clients: bool
) -> None:
    settings.EDFI_API = settings.EDFI_API | {"METRICS_CLIENTS": setting}
    api.get("/students")

    text = Client().get("/metrics", **extra).content.decode()

    assert ("meadowlark_client_requests" in text) is has_clients
    assert "meadowlark_requests_total" in text
    assert "meadowlark_database_up 1.0" in text


def test_requests_are_counted_soon_without_a_scrape(api: ApiTestClient) -> None:
    """Those of this process: a scrape that another one answers reads what this one has written."""
    middleware.request_counts.flush()
    counter = REQUESTS.labels("GET", "/ed-fi/students", 200)
    before = counter._value.get()

    api.get("/students")

    deadline = time.monotonic() + 10
    while counter._value.get() == before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert counter._value.get() == before + 1


def test_what_cannot_be_counted_is_logged_and_stops_nothing(
    api: ApiTestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    middleware.request_counts.flush()
    monkeypatch.setattr(middleware.request_counts, "_count", lambda requests: 1 / 0)
    assert api.get("/students").status_code == 200
    middleware.request_counts.flush()
    monkeypatch.undo()
    assert "requests were not counted" in caplog.text
    before = counted("GET", "/ed-fi/students", 200)

    api.get("/students")

    assert counted("GET", "/ed-fi/students", 200) == before + 1


def test_refusals_are_counted_with_their_status(api: ApiTestClient) -> None:
    before = counted("POST", "/ed-fi/students", 400)

    api.post("/students", {"studentUniqueId": 1})

    assert counted("POST", "/ed-fi/students", 400) == before + 1


def test_unknown_paths_and_methods_share_one_label(api: ApiTestClient) -> None:
    before = counted("GET", "other", 404)

    api.get("/unheardOf")
    api.get("/data/no-project/students")
    Client().get("/made/up")

    assert counted("GET", "other", 404) == before + 3
    assert b"made" not in Client().get("/metrics").content


def test_issued_and_valid_tokens_are_counted(api: ApiTestClient) -> None:
    text = Client().get("/metrics").content.decode()

    assert re.search(r'^meadowlark_requests_total{method="POST",route="oauth-token",status="200"} [1-9]', text, re.M)
    assert re.search(r"^meadowlark_valid_tokens 1.0$", text, re.M)
    assert re.search(r'^meadowlark_database_connections{state="active"} [1-9]', text, re.M)


def test_durations_are_measured_by_view(api: ApiTestClient) -> None:
    api.get("/students")

    text = Client().get("/metrics").content.decode()

    assert re.search(r'^meadowlark_request_seconds_bucket{le="\+Inf",method="GET",view="data"} [1-9]', text, re.M)


def test_metrics_are_served_without_a_database(db: None) -> None:
    def refuse(*_: object) -> None:
        raise OperationalError("connection refused")

    with connection.execute_wrapper(refuse):
        response = Client().get("/metrics")

    assert response.status_code == 200
    assert b"meadowlark_database_up 0.0" in response.content


def test_the_counts_of_all_processes_are_added_up(tmp_path: Path) -> None:
    environment = os.environ | {
        "PROMETHEUS_MULTIPROC_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "meadowlark.settings",
    }
    command = [sys.executable, "-c", f"import django; django.setup(){COUNTED_BY_TWO_PROCESSES}"]

    output = subprocess.run(command, cwd=TOP, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout

    assert 'meadowlark_requests_total{method="GET",route="/ed-fi/students",status="200"} 2.0' in output


def samples(metric: str) -> dict[str, float]:
    """The values of a metric by their labels, in the exposition format."""
    text = Client().get("/metrics").content.decode()
    found = re.findall(rf"^{metric}\{{(.*)\}} (\S+)$", text, re.MULTILINE)
    return {labels: float(value) for labels, value in found}


def test_refusals_are_counted_by_the_type_of_their_problem(api: ApiTestClient) -> None:
    invalid = 'problem="bad-request:data-validation-failed"'
    missing = 'problem="not-found"'
    before = samples("meadowlark_problems_total")

    api.post("/students", {"studentUniqueId": "1"})
    api.get("/students/0198c2a4-0000-7000-8000-000000000000")
    form = {"grant_type": "client_credentials", "client_id": "no", "client_secret": "no"}
    assert Client().post("/oauth/token", form, content_type="application/json").status_code == 401

    after = samples("meadowlark_problems_total")
    assert after[invalid] == before.get(invalid, 0) + 1
    assert after[missing] == before.get(missing, 0) + 1
    assert after['problem="invalid_client"'] == before.get('problem="invalid_client"', 0) + 1


def test_requests_are_counted_by_client_and_outcome(api: ApiTestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    # Other tests of this process may have used all labels.
    monkeypatch.setattr(middleware, "client_label", BoundedLabels(1))
    key = ApiClient.objects.get(name="tests").client_id
    answered, refused = f'client="{key}",outcome="answered"', f'client="{key}",outcome="refused"'
    before = samples("meadowlark_client_requests_total")

    api.get("/students")
    api.get("/students")
    api.post("/students", {"studentUniqueId": 1})

    after = samples("meadowlark_client_requests_total")
    assert after[answered] == before.get(answered, 0) + 2
    assert after[refused] == before.get(refused, 0) + 1


def test_clients_beyond_the_limit_share_a_label() -> None:
    labels = BoundedLabels(100)

    assert {labels(f"key-{number}") for number in range(10_000)} == {*(f"key-{n}" for n in range(100)), "other"}
    assert labels("key-99") == "key-99"
    assert labels("key-9999") == "other"


def test_requests_without_a_token_create_no_label(db: None) -> None:
    before = samples("meadowlark_client_requests_total")

    Client().get("/data/ed-fi/students", headers={"Authorization": "Bearer made-up"})
    Client().get("/health")

    assert samples("meadowlark_client_requests_total") == before
