"""lightbeam validates, sends, counts, fetches and deletes what earthmover prepares from a CSV file."""

import json
import shutil
from pathlib import Path

import pytest

from tests.tools.clients.conftest import HERE, Programs

pytestmark = pytest.mark.clients

# Targets before referrers, in the order of /metadata/dependencies, which lightbeam follows.
SENT = {
    "students": 4,
    "localEducationAgencies": 1,
    "schools": 1,
    "classPeriods": 2,
    "courses": 1,
    "studentSchoolAssociations": 4,
}


class Lightbeam:
    """Runs lightbeam on a folder of JSONL files, with its cache in another."""

    def __init__(self, programs: Programs, folder: Path) -> None:
        self.data = folder / "data"
        self._programs = programs
        self._folder = folder

    def run(self, command: str, *arguments: str, data: Path | None = None, may_fail: bool = False) -> dict:
        """The report of a command; empty for commands without one."""
        report = self._folder / f"{command}.json"
        self._run(command, *arguments, report=report, data=data or self.data, may_fail=may_fail)
        return json.loads(report.read_text()) if report.exists() else {}

    def count(self, selector: str) -> dict[str, int]:
        """The number of items of each endpoint."""
        report = self._folder / "count.tsv"
        self._run("count", "-s", selector, report=report, data=self.data, may_fail=False)
        lines = [line.split("\t") for line in report.read_text().splitlines()[1:]]
        return {endpoint: int(count) for count, endpoint in lines}

    def _run(self, command: str, *arguments: str, report: Path, data: Path, may_fail: bool) -> None:
        folders = {"DATA_DIR": f"{data}/", "STATE_DIR": str(self._folder / "state")}
        options = ["-c", "lightbeam.yaml", "--results-file", str(report), *arguments]
        self._programs.run("lightbeam", command, *options, may_fail=may_fail, **folders)


@pytest.fixture(scope="module")
def lightbeam(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Lightbeam:
    lightbeam = Lightbeam(programs, tmp_path_factory.mktemp("lightbeam"))
    shutil.copytree(HERE / "data", lightbeam.data)
    parameters = json.dumps({"OUTPUT_DIR": str(lightbeam.data)})
    programs.run("earthmover", "run", "-c", "earthmover/earthmover.yaml", "-p", parameters)
    return lightbeam


def test_earthmover_writes_a_document_for_each_line(lightbeam: Lightbeam) -> None:
    students = [json.loads(line) for line in (lightbeam.data / "students.jsonl").read_text().splitlines()]

    assert students[0] == {
        "studentUniqueId": "900117",
        "firstName": "Ada",
        "lastSurname": "Marsh",
        "birthDate": "2011-03-05",
    }
    assert len(students) == 4


def test_valid_documents_pass_validation(lightbeam: Lightbeam) -> None:
    report = lightbeam.run("validate")

    assert {name: found["records_processed"] for name, found in report["resources"].items()} == SENT
    assert report["total_records_failed"] == 0


def test_invalid_documents_fail_validation(lightbeam: Lightbeam, tmp_path: Path) -> None:
    broken = [
        {"classPeriodName": "P1"},
        {"classPeriodName": 7, "schoolReference": {"schoolId": 4410001}},
        {"classPeriodName": "P1", "schoolReference": {"schoolId": 9999999}},
    ]
    (tmp_path / "classPeriods.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in broken))

    report = lightbeam.run("validate", "-s", "classPeriods", data=tmp_path, may_fail=True)

    failures = report["resources"]["classPeriods"]["failures"]
    assert [(each["method"], each["line_numbers"]) for each in failures] == [
        ("schema", [1]),
        ("schema", [2]),
        ("references", [3]),
    ]


def test_sent_documents_can_be_counted_fetched_sent_again_and_deleted(lightbeam: Lightbeam, tmp_path: Path) -> None:
    sent = lightbeam.run("send")
    sent_again = lightbeam.run("send", "--force")
    counted = lightbeam.count(",".join(SENT))
    lightbeam.run("fetch", "-s", ",".join(SENT), data=tmp_path)
    lightbeam.run("delete", "--force", "--set", "force_delete", "true")
    left = lightbeam.count(",".join(SENT))

    assert _statuses(sent) == {name: {201: count} for name, count in SENT.items()}
    assert _statuses(sent_again) == {name: {200: count} for name, count in SENT.items()}
    assert counted == SENT
    assert {path.stem: len(path.read_text().splitlines()) for path in tmp_path.iterdir()} == SENT
    assert left == dict.fromkeys(SENT, 0)


def _statuses(report: dict) -> dict[str, dict[int, int]]:
    return {
        name: {success["status_code"]: success["count"] for success in found["successes"]}
        for name, found in report["resources"].items()
    }
