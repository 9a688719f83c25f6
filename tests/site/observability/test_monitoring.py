"""The dashboard and the alert rules of docker/monitoring, against a running server and Prometheus."""

import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from signal import SIGTERM
from typing import Any

import httpx
import pytest
import yaml

from edfi_api.core.writes.rules.enforcing import FAILURES
from edfi_api.features.refusals.metrics import REFUSALS
from edfi_api.site.observability.metrics import BATCH_SECONDS
from tests.meadowlark.run.make_run import Client, Run
from tests.support.ports import free_port, is_answering

FOLDER = Path(__file__).parents[3] / "docker/monitoring"
RULES = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"][0]["rules"]
DASHBOARD = json.loads((FOLDER / "dashboard.json").read_text())
# Grafana replaces it by an interval that fits the displayed time range.
QUERIES = [
    target["expr"].replace("$__rate_interval", "10s") for panel in DASHBOARD["panels"] for target in panel["targets"]
]
# Metrics without samples on a server without consumers or failures.
_EMPTY = re.compile(r"consumer|dead_letters|5\.\.")
# Served as soon as there was a batch, a recorded refusal, or a rule of writes that failed.
_AFTER_USE = {
    "meadowlark_batch_seconds_bucket": BATCH_SECONDS,
    "meadowlark_refusals_total": REFUSALS,
    "meadowlark_write_rule_failures_total": FAILURES,
}


def program(name: str) -> str:
    found = shutil.which(name)
    if not found:
        pytest.skip(f"needs {name}, from Debian's package prometheus")
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, prepared_home) -> Iterator[Run]:
    run = Run(prepared_home(tmp_path_factory.mktemp("monitored") / "home"), free_port())
    try:
        run.wait_until_served()
        yield run
    finally:
        run.stop(SIGTERM)


def busy(server: Run) -> None:
    """Sends successful and refused requests."""
    client = Client(server.address, *server.credentials())
    for _ in range(3):
        assert client.get("schools") == []
        assert client.post("schools", {"schoolId": 1}) == 400
    time.sleep(0.5)  # A process counts its requests within a tenth of a second.


@pytest.mark.long
def test_every_metric_and_label_of_the_queries_is_served(server: Run) -> None:
    busy(server)
    samples = httpx.get(f"{server.address}/metrics").text
    declared = set(re.findall(r"^# TYPE (\w+)", samples, re.MULTILINE))

    expressions = [*QUERIES, *(rule["expr"] for rule in RULES)]
    used = {name for expression in expressions for name in re.findall(r"\bmeadowlark_\w+", expression)}

    missing = {name for name in used if name not in declared and name.removesuffix("_bucket") not in declared}
    assert missing <= _AFTER_USE.keys()
    for name, metric in _AFTER_USE.items():
        [family] = metric.collect()
        assert name.startswith(f"{family.name}_")
    for expression in expressions:
        for metric, selector in re.findall(r"(meadowlark_\w+)\{([^}]*)\}", expression):
            for label in re.findall(r"(\w+)=", selector):
                assert re.search(rf"^{metric}\{{[^}}]*\b{label}=", samples, re.MULTILINE), (metric, label)


@pytest.mark.long
def test_promtool_accepts_the_metrics_and_the_rules(server: Run) -> None:
    promtool = program("promtool")
    metrics = httpx.get(f"{server.address}/metrics").content

    checked = subprocess.run([promtool, "check", "metrics"], input=metrics, capture_output=True, check=False)
    # promtool takes the end of these names for a unit; they are counts.
    assert checked.returncode in (0, 3), checked.stderr
    assert b"error" not in checked.stderr.lower()
    subprocess.run([promtool, "check", "rules", FOLDER / "alerts.yaml"], check=True)
    subprocess.run([promtool, "test", "rules", FOLDER / "alerts.test.yaml"], check=True)


@pytest.fixture
def query(server: Run, tmp_path: Path) -> Iterator[Callable[[str], list[Any]]]:
    """Queries of a Prometheus that has scraped the busy server several times."""
    prometheus, port = program("prometheus"), free_port()
    config = yaml.safe_load((FOLDER / "prometheus.yaml").read_text())
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config["rule_files"] = [str(FOLDER / "alerts.yaml")]
    config["scrape_configs"][0]["static_configs"][0]["targets"] = [server.address.removeprefix("http://")]
    (tmp_path / "prometheus.yaml").write_text(yaml.safe_dump(config))
    files = [f"--config.file={tmp_path / 'prometheus.yaml'}", f"--storage.tsdb.path={tmp_path / 'data'}"]
    process = subprocess.Popen(
        [prometheus, *files, f"--web.listen-address=127.0.0.1:{port}"], stderr=subprocess.DEVNULL
    )

    def evaluated(expression: str) -> list[Any]:
        answer = httpx.get(f"http://127.0.0.1:{port}/api/v1/query", params={"query": expression}).json()
        assert answer["status"] == "success", (expression, answer)
        return list(answer["data"]["result"])

    try:
        deadline = time.monotonic() + 60
        while not is_answering(port) or not evaluated(
            'rate(meadowlark_client_requests_total{outcome="refused"}[10s]) > 0'
        ):
            assert time.monotonic() < deadline and process.poll() is None
            busy(server)
        yield evaluated
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.long
def test_every_query_of_the_dashboard_and_the_alerts_has_an_answer(query: Callable[[str], list[Any]]) -> None:
    silent = [expression for expression in QUERIES if not query(expression)]

    assert [expression for expression in silent if not _EMPTY.search(expression)] == []
    for rule in RULES:
        query(rule["expr"])
    assert query("up") and not query("ALERTS")
