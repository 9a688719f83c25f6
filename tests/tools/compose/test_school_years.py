"""Two school years beside all other profiles of docker/compose.yaml, and what they do while containers end. Each test
can be run alone."""

from collections.abc import Iterator

import httpx
import pytest

from tests.tools.compose.project import PROFILES, STUDENTS, Project, student, student_numbers, wait_until

pytestmark = pytest.mark.compose

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


@pytest.fixture(scope="module")
def years(project: Project) -> Iterator[httpx.Client]:
    """A client of two school years, which comes through the proxy; each has a student with the number of the year."""
    project.up(*STORES)
    assert sorted(project.services()) == SERVICES
    with project.client("years", "https://localhost", verify=project.authority()) as client:
        project.execute("meadowlark", "python", "manage.py", "assign_data_stores", "years", "year-2026", "year-2027")
        wait_until(lambda: client.get(f"/2026{STUDENTS}").status_code == 200, seconds=60)
        for year in (2026, 2027):
            stored = client.post(f"/{year}{STUDENTS}", json=student(year))
            assert stored.headers["Location"].startswith(f"https://localhost/{year}{STUDENTS}/")
        yield client


def test_each_school_year_has_its_documents_in_its_database(years: httpx.Client, project: Project) -> None:
    for year, other in ((2026, 2027), (2027, 2026)):
        found = "SELECT (body ->> 'studentUniqueId')::integer FROM document WHERE body ->> 'lastSurname' = 'Ortiz'"
        for numbers in (student_numbers(years, f"/{year}{STUDENTS}"), map(int, project.query(found, f"store-{year}"))):
            assert {year, other} & set(numbers) == {year}


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
    assert 2027 in student_numbers(years, f"/2027{STUDENTS}")
    assert project.query("SELECT state FROM pg_stat_replication") == ["streaming"]


def _is_stored(api: httpx.Client, address: str, number: int) -> bool:
    try:
        return api.post(address, json=student(number)).status_code in (200, 201)
    except httpx.TransportError:
        return False
