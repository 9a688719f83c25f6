"""All profiles of docker/compose.yaml but that of data stores at the same time. Each test can be run alone."""

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import yaml

from tests.tools.compose.project import PROFILES, STUDENTS, Project, student, student_numbers, wait_until
from tests.tools.image.images import TOP

# The addresses of containers are private ones, from the pools of Docker.
pytestmark = [pytest.mark.compose, pytest.mark.allow_hosts(["127.0.0.1", "::1", "172.16.0.0/12", "192.168.0.0/16"])]

MONITORING = TOP / "docker/monitoring"
DASHBOARD = json.loads((MONITORING / "dashboard.json").read_text())
ALERTS = yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"][0]["rules"]
# Of what a new server has no samples: consumers, connections, runs of validation, scheduled commands, failures.
WITHOUT_SAMPLES = re.compile(r'consumer|dead_letters|exchange_lag|validation_results|scheduled_command|status=~"5')
# A client in a container, which forges an address.
ASK = """
import socket, ssl
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
with context.wrap_socket(socket.create_connection(("tls", 443)), server_hostname="localhost") as connection:
    connection.sendall(
        b"POST /oauth/token HTTP/1.1\\r\\nHost: localhost\\r\\nX-Forwarded-For: 203.0.113.9\\r\\n"
        b"Content-Type: application/x-www-form-urlencoded\\r\\nContent-Length: 67\\r\\n\\r\\n"
        b"grant_type=client_credentials&client_id=a-stranger&client_secret=xx"
    )
    assert b" 401 " in connection.recv(100)
    print(connection.getsockname()[0])
"""


@pytest.fixture(scope="module")
def api(project: Project) -> Iterator[httpx.Client]:
    """A client that comes through the proxy."""
    project.up(*PROFILES)
    with project.client(base_url="https://localhost", verify=project.authority()) as client:
        yield client


def test_https_ends_at_the_proxy_with_a_certificate_of_its_own_authority(api: httpx.Client) -> None:
    stored = api.post(STUDENTS, json=student(1))

    assert stored.status_code == 201
    assert stored.headers["Location"].startswith(f"https://localhost{STUDENTS}/")
    assert api.get(stored.headers["Location"]).json().items() >= student(1).items()
    assert api.get("/").json()["urls"]["oauth"] == "https://localhost/oauth/token"
    plain = httpx.get("http://localhost/health")
    assert (plain.status_code, plain.headers["Location"]) == (308, "https://localhost/health")


def test_a_compressed_answer_can_be_written_back_under_its_tag(api: httpx.Client) -> None:
    kinds = ("Alias", "Nickname", "Other Name", "Previous Legal Name")
    names = [
        {"otherNameTypeDescriptor": f"uri://ed-fi.org/OtherNameTypeDescriptor#{kind}", "firstName": kind * 3}
        | {"lastSurname": kind * 3}
        for kind in kinds
    ]
    address = api.post(STUDENTS, json=student(2) | {"otherNames": names}).headers["Location"]

    read = api.get(address)

    assert read.headers["Content-Encoding"] == "gzip"
    assert api.put(address, json=read.json(), headers={"If-Match": read.headers["ETag"]}).status_code == 204
    assert api.get(address, headers={"If-None-Match": read.headers["ETag"]}).status_code == 304
    described = api.get("/metadata/dependencies")
    assert described.headers["Content-Encoding"] == "gzip"
    assert api.get("/metadata/dependencies", headers={"If-None-Match": described.headers["ETag"]}).status_code == 304


def test_the_log_has_the_address_of_a_client_behind_the_proxy(api: httpx.Client, project: Project) -> None:
    address = project.compose("run", "--rm", "--no-deps", "--no-TTY", "--entrypoint=python", "meadowlark", "-c", ASK)

    denied = [line for line in project.compose("logs", "meadowlark").splitlines() if "event=denied" in line]
    assert re.fullmatch(r"\d+\.\d+\.\d+\.\d+", address)
    assert address != project.address("tls")
    assert f" address={address}" in denied[-1] + "\n", denied


def test_all_connections_of_the_server_come_from_the_pooler(api: httpx.Client, project: Project) -> None:
    assert api.post(STUDENTS, json=student(3)).status_code == 201

    assert project.query("SELECT DISTINCT host(client_addr) FROM pg_stat_activity WHERE usename = 'meadowlark'") == [
        project.address("pgbouncer")
    ]


def test_the_replica_answers_collections(api: httpx.Client, project: Project) -> None:
    assert project.query("SELECT host(client_addr), state FROM pg_stat_replication") == [
        f"{project.address('replica')}|streaming"
    ]
    asked = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'meadowlark' AND query LIKE '%document%'"

    def reads() -> bool:
        list(student_numbers(api, STUDENTS))
        return project.query(asked, "replica") != ["0"]

    wait_until(reads)


def of_prometheus(project: Project, path: str, **parameters: str) -> Any:
    answer = httpx.get(f"http://{project.address('prometheus')}:9090/api/v1/{path}", params=parameters).json()
    assert answer["status"] == "success", (parameters, answer)
    return answer["data"]


def test_prometheus_has_its_target_and_all_alerts(api: httpx.Client, project: Project) -> None:
    def target() -> tuple[str, str]:
        [found] = of_prometheus(project, "targets")["activeTargets"]
        return found["labels"]["instance"], found["health"]

    wait_until(lambda: target() == ("meadowlark:8000", "up"))
    [group] = of_prometheus(project, "rules")["groups"]
    assert [rule["name"] for rule in group["rules"]] == [alert["alert"] for alert in ALERTS]
    wait_until(lambda: {rule["health"] for rule in of_prometheus(project, "rules")["groups"][0]["rules"]} == {"ok"})


def test_each_alert_fires_in_the_cases_of_its_tests(api: httpx.Client, project: Project) -> None:
    tested = yaml.safe_load((MONITORING / "alerts.test.yaml").read_text())["tests"]
    names = {case["alertname"] for each in tested for case in each["alert_rule_test"] if case.get("exp_alerts")}

    assert names == {alert["alert"] for alert in ALERTS}
    project.execute("prometheus", "promtool", "check", "config", "/etc/prometheus/prometheus.yaml")
    project.execute("prometheus", "promtool", "test", "rules", "/etc/prometheus/alerts.test.yaml")


def test_every_query_of_the_dashboard_is_answered_by_prometheus(api: httpx.Client, project: Project) -> None:
    queries = {
        target["expr"].replace("$__rate_interval", "1m") for panel in DASHBOARD["panels"] for target in panel["targets"]
    }
    expected = {query for query in queries if not WITHOUT_SAMPLES.search(query)}
    batch = [{"op": "upsert", "resource": "/ed-fi/students", "document": student(4)}]

    def silent() -> set[str]:
        assert api.post("/batch", json=batch).status_code == 200
        assert api.post(STUDENTS, json={"studentUniqueId": "5"}).status_code == 400
        assert list(student_numbers(api, STUDENTS))
        return {query for query in expected if not of_prometheus(project, "query", query=query)["result"]}

    deadline = time.monotonic() + 120
    while (remaining := silent()) and time.monotonic() < deadline:
        time.sleep(5)
    assert remaining == set()
    for query in queries - expected:
        of_prometheus(project, "query", query=query)


def test_grafana_can_read_what_it_is_given(api: httpx.Client, project: Project) -> None:
    """As its account; Debian has no Grafana."""
    files = httpx.Client(base_url=f"http://127.0.0.1:{project.grafana_port}")
    provisioning = "/etc/grafana/provisioning"
    [source] = yaml.safe_load(files.get(f"{provisioning}/datasources/prometheus.yaml").text)["datasources"]
    [provider] = yaml.safe_load(files.get(f"{provisioning}/dashboards/meadowlark.yaml").text)["providers"]

    assert (source["type"], source["url"]) == ("prometheus", "http://prometheus:9090")
    assert files.get(f"{provider['options']['path']}/meadowlark.json").json() == DASHBOARD


def test_an_outage_of_the_database_is_an_alert_until_it_is_over(api: httpx.Client, project: Project) -> None:
    def state() -> str:
        rules = of_prometheus(project, "rules")["groups"][0]["rules"]
        [found] = [rule["state"] for rule in rules if rule["name"] == "MeadowlarkDatabaseDown"]
        return str(found)

    project.compose("stop", "database")
    try:
        wait_until(lambda: state() == "firing")
        assert api.post(STUDENTS, json=student(6)).status_code == 503
        assert [api.get(f"/health/{kind}").status_code for kind in ("live", "ready")] == [200, 503]
    finally:
        project.compose("start", "database")

    wait_until(lambda: state() == "inactive")
    assert api.post(STUDENTS, json=student(6)).status_code == 201
    assert api.get("/health/ready").status_code == 200
