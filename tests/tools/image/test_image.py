"""The image of docker/Dockerfile, built and served by `make test-image`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.ports import ADDRESS, free_port
from tests.tools.image.containers import Container, created

pytestmark = pytest.mark.image

STUDENT = {"studentUniqueId": "604822", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
CREATE_CLIENT = ["python", "manage.py", "create_api_client", "sandbox", "--claim-set=EdFiSandbox", "--format=json"]
ACCOUNT = 10001
PORT_OF_IMAGE = "8000"


@pytest.fixture(scope="module")
def container(image: dict[str, Any], empty_database: str) -> Iterator[Container]:
    with created(image, DATABASE_URL=empty_database, MEADOWLARK_WORKERS="1") as container:
        yield container


def test_an_empty_database_is_prepared_and_served_until_sigterm_twice(
    container: Container, image: dict[str, Any], tmp_path: Path
) -> None:
    port = str(free_port())
    api = httpx.Client(base_url=f"http://{ADDRESS}:{port}", timeout=60)
    server = [*image["Entrypoint"], "--bind", f"{ADDRESS}:{port}"]
    kind, *health_check = [word.replace(PORT_OF_IMAGE, port) for word in image["Healthcheck"]["Test"]]

    assert image["Cmd"] == ["--bind", f"0.0.0.0:{PORT_OF_IMAGE}"]
    assert kind == "CMD"
    assert container.run(*health_check).returncode == 1
    with container.start(server, tmp_path / "first.log") as first:
        first.wait_until(lambda: _is_ready(api))
        made = container.run(*CREATE_CLIENT).stdout
        api.headers["Authorization"] = f"Bearer {_token(api, json.loads(made))}"
        assert api.post("/data/ed-fi/students", json=STUDENT).status_code == 201
        assert container.run(*health_check).returncode == 0
        assert set(first.accounts) == {ACCOUNT}
        assert first.terminate() == 0

    with container.start(server, tmp_path / "second.log") as second:
        second.wait_until(lambda: _is_ready(api))
        [student] = api.get("/data/ed-fi/students").json()
        assert student.items() >= STUDENT.items()
        assert second.terminate() == 0


@pytest.mark.parametrize("folder", ["/", "/srv/meadowlark", "/venv", "/etc"])
def test_the_root_is_read_only(container: Container, folder: str) -> None:
    tried = container.run("touch", f"{folder}/new")

    assert (tried.returncode, tried.stderr.strip().endswith("Read-only file system")) == (1, True), tried.stderr


@pytest.mark.parametrize("folder", ["/tmp", "/var/lib/meadowlark"])  # noqa: S108 - of the container
def test_the_account_of_the_image_writes_to_memory(container: Container, folder: str) -> None:
    written = container.run("sh", "-c", f"touch {folder}/new && stat --format %u {folder}/new")

    assert (written.returncode, written.stdout.strip()) == (0, str(ACCOUNT)), written.stderr


def _is_ready(api: httpx.Client) -> bool:
    try:
        return api.get("/health/ready").status_code == 200
    except httpx.TransportError:
        return False


def _token(api: httpx.Client, client: dict[str, str]) -> str:
    form = {"grant_type": "client_credentials"}
    return str(api.post("/oauth/token", auth=(client["key"], client["secret"]), data=form).json()["access_token"])
