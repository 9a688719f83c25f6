"""A district sees the results of its schools, and no others, everywhere: what it has now is what counts."""

import pytest

from tests.conftest import ApiTestClient
from tests.features.validation.api import RESULTS, RUNS, client, found
from tests.features.validation.district import District
from tests.features.validation.rules import EACH, write

AT_77, AT_88 = ("R-1", 77, "A"), ("R-1", 88, "B")


@pytest.fixture
def enrollments(district: District) -> None:
    """One in each of two districts: 7 with the school 77, and 9 with 88."""
    district.write("LocalEducationAgency", localEducationAgencyId=9)
    move(district, 88, 9)
    district.enroll("A", "2024-01-10")
    district.enroll("B", "2024-01-10", school=88)


def move(district: District, school: int, above: int) -> None:
    district.write("School", schoolId=school, localEducationAgencyReference={"localEducationAgencyId": above})


def total(api: ApiTestClient) -> str:
    return str(api.get(f"{RESULTS}?totalCount=true&limit=0")["Total-Count"])


def counted(api: ApiTestClient) -> list[tuple[int, int]]:
    """How much appeared and was resolved in each run, the last one first."""
    runs = [api.get(f"{RUNS}/{run['id']}").json() for run in api.get(RUNS).json()]
    runs.sort(key=lambda run: str(run["runStartDateTime"]), reverse=True)
    return [(rule["appeared"], rule["resolved"]) for run in runs for rule in run["rules"]]


def test_a_district_sees_the_results_of_its_schools_only(rules, enrollments) -> None:
    write(rules, "R-1", EACH)
    rules.run()
    of_7, of_9, of_both, of_none = client(7), client(9), client(7, 9), client(5)

    assert (found(of_7), found(of_9)) == ([AT_77], [AT_88])
    assert (found(of_both), found(of_none)) == ([AT_77, AT_88], [])
    assert [total(api) for api in (of_7, of_9, of_both, of_none)] == ["1", "1", "2", "0"]
    assert [counted(api) for api in (of_7, of_9, of_both, of_none)] == [[(1, 0)], [(1, 0)], [(2, 0)], [(0, 0)]]
    lines = [api.get(RESULTS, HTTP_ACCEPT="text/csv").content.decode() for api in (of_7, of_9)]
    assert ["studentUniqueId=A" in text for text in lines] == [True, False]
    assert ["studentUniqueId=B" in text for text in lines] == [False, True]
    [own], [other] = of_7.get(RESULTS).json(), of_9.get(RESULTS).json()
    assert of_7.get(f"{RESULTS}/{own['id']}").json() == own
    assert of_7.get(f"{RESULTS}/{other['id']}").status_code == 404
    assert found(of_7, "educationOrganizationId=77") == [AT_77]
    for query in ("educationOrganizationId=88", f"resultIdentifier={other['resultIdentifier']}"):
        assert found(of_7, query) == []


def test_a_district_learns_what_was_resolved_at_its_schools_only(rules, district, enrollments) -> None:
    write(rules, "R-1", EACH + " WHERE NOT body ? 'exitWithdrawDate'")
    rules.run()
    of_7, of_9 = client(7), client(9)
    [at_77], [at_88] = of_7.get(RESULTS).json(), of_9.get(RESULTS).json()
    district.enroll("A", "2024-01-10", "2024-02-10")
    district.enroll("B", "2024-01-10", "2024-02-10", school=88)
    rules.run()

    assert [each["id"] for each in of_7.get(f"{RESULTS}/deletes").json()] == [at_77["id"]]
    assert [each["id"] for each in of_9.get(f"{RESULTS}/deletes").json()] == [at_88["id"]]
    assert of_7.get(f"{RESULTS}/deletes?totalCount=true")["Total-Count"] == "1"
    assert found(of_7, "state=resolved") == [AT_77]
    assert client(5).get(f"{RESULTS}/deletes").json() == []
    assert counted(of_7) == counted(of_9) == [(0, 1), (1, 0)]
    assert counted(client(5)) == [(0, 0), (0, 0)]


def test_a_school_that_moves_takes_its_results_to_the_other_district_at_once(rules, district, enrollments) -> None:
    """Without another run."""
    write(rules, "R-1", EACH)
    rules.run()
    of_7, of_9 = client(7), client(9)
    [result] = of_7.get(RESULTS).json()
    assert of_9.get(f"{RESULTS}/{result['id']}").status_code == 404

    move(district, 77, 9)

    assert (found(of_7), found(of_9)) == ([], [AT_77, AT_88])
    assert (total(of_7), total(of_9)) == ("0", "2")
    assert (counted(of_7), counted(of_9)) == ([(0, 0)], [(2, 0)])
    assert of_7.get(f"{RESULTS}/{result['id']}").status_code == 404
    assert of_9.get(f"{RESULTS}/{result['id']}").json() == result
