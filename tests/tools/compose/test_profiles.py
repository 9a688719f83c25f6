"""All profiles of docker/compose.yaml at the same time, and what they do while containers end."""

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import yaml

from tests.tools.compose.project import Project, student, student_numbers, wait_until
from tests.tools.image.images import TOP

# The addresses of containers are private ones, from the pools of Docker.
pytestmark = [pytest.mark.compose, pytest.mark.allow_hosts(["127.0.0.1", "::1", "172.16.0.0/12", "192.168.0.0/16"])]

PROFILES = [
    "COMPOSE_PROFILES=pgbouncer,replica,tls,monitoring",
    "DATABASE_HOST=pgbouncer",
    "MEADOWLARK_TRANSACTION_POOLING=true",
    "DATABASE_REPLICA_URL=postgresql://meadowlark@replica/meadowlark",
    "DOMAIN=localhost",
    "MEADOWLARK_ALLOWED_HOSTS=localhost,meadowlark",
    "MEADOWLARK_BEHIND_PROXY=true",
    "MEADOWLARK_HTTPS=true",
    "GRAFANA_PASSWORD=of tests",
]
STORES = [
    PROFILES[0] + ",stores",
    *PROFILES[1:],
    "MEADOWLARK_ROUTE_QUALIFIERS=schoolYear",
    "MEADOWLARK_SECRET_KEY=a key of tests, which encrypts connection strings",
]
SERVICES = [
    *("database", "exchange", "grafana", "meadowlark", "pgbouncer", "prometheus"),
    *("replica", "schedule", "store-2026", "store-2027", "tls"),
]
STUDENTS = "/data/ed-fi/students"
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
    """A client that comes through the proxy, of a server with all profiles but that of data stores."""
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


def test_every_query_of_the_dashboard_is_answered_by_prometheus(api: httpx.Client, project: Project) -> None:
    queries = {
        target["expr"].replace("$__rate_interval", "1m") for panel in DASHBOARD["panels"] for target in panel["targets"]
    }
    expected = {query for query in queries if not WITHOUT_SAMPLES.search(query)}
    batch = [{"op": "upsert", "resource": "/ed-fi/students", "document": student(4)}]

    def silent() -> set[str]:
        assert api.post("/batch", json=batch).status_code == 200
        assert api.post(STUDENTS, json={"studentUniqueId": "5"}).status_code == 400
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
    finally:
        project.compose("start", "database")

    wait_until(lambda: state() == "inactive")
    assert api.post(STUDENTS, json=student(6)).status_code == 201


@pytest.fixture(scope="module")
def years(api: httpx.Client, project: Project) -> Iterator[httpx.Client]:
    """A client of two school years, each with a database of its own."""
    project.up(*STORES)
    assert sorted(project.services()) == SERVICES
    with project.client("years", "https://localhost", verify=project.authority()) as client:
        project.execute("meadowlark", "python", "manage.py", "assign_data_stores", "years", "year-2026", "year-2027")
        yield client


def test_each_school_year_has_its_documents_in_its_database(years: httpx.Client, project: Project) -> None:
    wait_until(lambda: years.get(f"/2026{STUDENTS}").status_code == 200, seconds=60)
    for year in (2026, 2027):
        stored = years.post(f"/{year}{STUDENTS}", json=student(year))
        assert stored.headers["Location"].startswith(f"https://localhost/{year}{STUDENTS}/")

    assert list(student_numbers(years, f"/2026{STUDENTS}")) == [2026]
    assert list(student_numbers(years, f"/2027{STUDENTS}")) == [2027]
    for year in (2026, 2027):
        found = "SELECT body ->> 'studentUniqueId' FROM document WHERE body ->> 'lastSurname' = 'Ortiz'"
        assert project.query(found, f"store-{year}") == [str(year)]


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("way", ["restart", "kill"])
def test_a_container_that_ends_is_there_again_and_nothing_is_lost(
    years: httpx.Client, project: Project, service: str, way: str
) -> None:
    number = 100 + SERVICES.index(service) + 100 * (way == "kill")
    assert years.post(f"/2026{STUDENTS}", json=student(number)).status_code == 201
    started = project.state(service)["State"]["StartedAt"]

    if way == "restart":
        project.compose("restart", service)
    else:
        project.kill(service)

    wait_until(lambda: project.state(service)["State"]["StartedAt"] != started and project.is_well(service))
    wait_until(lambda: all(map(project.is_well, SERVICES)))
    for year in (2026, 2027):
        wait_until(lambda: _is_stored(years, f"/{year}{STUDENTS}", number + 1000))  # noqa: B023
        assert {year, number + 1000} <= set(student_numbers(years, f"/{year}{STUDENTS}"))
    assert number in student_numbers(years, f"/2026{STUDENTS}")


def test_down_and_up_keep_the_data_of_all_profiles(years: httpx.Client, project: Project) -> None:
    before = sorted(student_numbers(years, f"/2026{STUDENTS}"))
    project.compose("down")
    assert project.services() == []

    project.compose("up", "--wait")

    assert sorted(project.services()) == SERVICES
    wait_until(lambda: years.get("/health/ready").status_code == 200)
    # The certificate's authority is kept, too, or the client would refuse it.
    assert sorted(student_numbers(years, f"/2026{STUDENTS}")) == before
    assert list(student_numbers(years, f"/2027{STUDENTS}"))
    assert project.query("SELECT state FROM pg_stat_replication") == ["streaming"]


def _is_stored(api: httpx.Client, address: str, number: int) -> bool:
    try:
        return api.post(address, json=student(number)).status_code in (200, 201)
    except httpx.TransportError:
        return False
