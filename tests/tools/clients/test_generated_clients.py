"""OpenAPI documents of every area: linters find no error in them, and generators make clients of them that work."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import urllib3

from tests.tools.clients.conftest import HERE, Programs

pytestmark = pytest.mark.clients

_GENERATORS = HERE / "generators"
_RESOURCES = "resources"


@pytest.fixture(scope="module")
def node_modules(programs: Programs) -> Path:
    found = programs.folder.parent / "node_modules"
    if not found.exists():
        pytest.skip("needs npm and Java, with which `make test-clients` installs generators")
    return found


@pytest.fixture(scope="module")
def documents(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The files of all documents, by the names of their areas."""
    folder = tmp_path_factory.mktemp("documents")
    listed = _fetched(programs.environment["BASE_URL"] + "/metadata/specifications")
    found = {}
    for each in listed:
        name = each["name"].lower().replace(" ", "-")
        found[name] = folder / f"{name}.json"
        found[name].write_text(json.dumps(_fetched(each["endpointUri"])))
    assert {_RESOURCES, "descriptors", "batch", "history"} <= found.keys()
    return found


def _fetched(address: str) -> Any:
    return urllib3.request("GET", address).json()


def _run(programs: Programs, *command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(each) for each in command],
        cwd=cwd,
        env={**programs.environment, "REDOCLY_TELEMETRY": "off", "DO_NOT_TRACK": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    return done.stdout


def test_redocly_finds_no_error(programs, node_modules, documents, tmp_path) -> None:
    for path in documents.values():
        _run(programs, node_modules / ".bin/redocly", "lint", "--extends=recommended", path, cwd=tmp_path)


def test_spectral_finds_no_error(programs, node_modules, documents, tmp_path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text('extends: ["spectral:oas"]\n')

    for path in documents.values():
        _run(programs, node_modules / ".bin/spectral", "lint", "--ruleset", rules, path, cwd=tmp_path)


def test_a_typescript_client_compiles_and_works(programs, node_modules, documents, tmp_path) -> None:
    _workplace(tmp_path, node_modules)
    for name, path in documents.items():
        _run(programs, node_modules / ".bin/openapi-typescript", path, "-o", f"{name}.ts", cwd=tmp_path)
    (tmp_path / "client.ts").write_text((_GENERATORS / "typescript_client.ts").read_text())
    _compile(programs, node_modules, tmp_path, *tmp_path.glob("*.ts"))

    seen = json.loads(_run(programs, "node", "client.js", cwd=tmp_path))

    members = ["_etag", "_lastModifiedDate", "birthDate", "firstName", "id", "lastSurname", "studentUniqueId"]
    assert seen.pop("members") == members
    assert seen.pop("reason").keys() == {"$.birthDate"}
    assert seen == _seen("910001")


@pytest.mark.parametrize(
    "command",
    [
        ("openapi-ts", "--input", "{document}", "--output", "client", "--client", "@hey-api/client-fetch"),
        ("orval", "--input", "{document}", "--output", "client/client.ts", "--client", "fetch"),
    ],
    ids=["hey-api", "orval"],
)
def test_other_generators_of_typescript_read_every_document(
    programs, node_modules, documents, tmp_path, command: tuple[str, ...]
) -> None:
    for name, path in documents.items():
        workplace = tmp_path / name
        workplace.mkdir()
        _workplace(workplace, node_modules)
        program, *arguments = (each.format(document=path) for each in command)
        _run(programs, node_modules / ".bin" / program, *arguments, cwd=workplace)
        _compile(programs, node_modules, workplace, *workplace.glob("client/**/*.ts"))


def test_a_python_client_of_openapi_generator_works(programs, node_modules, documents, tmp_path) -> None:
    _generate(programs, node_modules, documents[_RESOURCES], "python", tmp_path)

    seen = json.loads(programs.run("python", str(_GENERATORS / "python_client.py"), str(tmp_path)))

    assert seen.pop("multiple_birth") is None
    assert seen.pop("reason").keys() == {"$.lastSurname"}
    assert seen == _seen("910002")


@pytest.mark.parametrize("language", ["csharp-netcore", "java"])
def test_openapi_generator_reads_every_document(programs, node_modules, documents, tmp_path, language: str) -> None:
    """What it makes is not compiled: neither .NET nor Maven's registry can be had."""
    for name, path in documents.items():
        _generate(programs, node_modules, path, language, tmp_path / name)
        assert any((tmp_path / name).rglob("*Api.*"))


def _seen(number: str) -> dict[str, Any]:
    return {
        "created": 201,
        "changed": 204,
        "late": 412,
        "found": [[number, "June"]],
        "refused": 400,
        "deleted": 204,
    }


def _workplace(folder: Path, node_modules: Path) -> None:
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "node_modules").symlink_to(node_modules)


def _compile(programs: Programs, node_modules: Path, folder: Path, *files: Path) -> None:
    # hey-api imports without extensions, which bundlers resolve.
    modules = ("--module", "es2022", "--moduleResolution", "bundler")
    options = ("--strict", "--skipLibCheck", "--target", "es2022", *modules, "--lib", "es2022,dom")
    _run(programs, node_modules / ".bin/tsc", *options, *files, cwd=folder)


def _generate(programs: Programs, node_modules: Path, document: Path, language: str, output: Path) -> None:
    """Make a client in the folder; a package in Python is named `resources_client`."""
    jar = node_modules / "@openapitools/openapi-generator-cli/bin/openapi-generator.jar"
    properties = ("--additional-properties", "packageName=resources_client") if language == "python" else ()
    command = ("java", "-jar", jar, "generate", "-g", language, "-i", document, "-o", output, *properties)
    _run(programs, *command, cwd=output.parent)
