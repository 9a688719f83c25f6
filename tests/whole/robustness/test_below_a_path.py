"""The server below a path: each address that leaves it has the prefix; and the snippets for proxies, in real ones."""

import http.client
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.support.factories import STUDENT
from tests.support.ports import free_port, is_answering
from tests.whole.robustness.real_server import TOP, Answer, RealServer
from tests.whole.robustness.waiting import wait_until

ROOT = "https://sis.example/edfi"
PROXY = {"X-Forwarded-Proto": "HTTPS, http", "X-Forwarded-Host": "sis.example", "X-Forwarded-Prefix": "/edfi"}
_PAGE = TOP / "meadowlark/docs/operate/below-a-path.md"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, prepared_home: Callable[[Path], Path]) -> Iterator[RealServer]:
    home = prepared_home(tmp_path_factory.mktemp("below") / "home")
    with RealServer(
        home, MEADOWLARK_BEHIND_PROXY="true", MEADOWLARK_ALLOWED_HOSTS="localhost,127.0.0.1,sis.example"
    ) as it:
        yield it


def send(port: int, method: str, path: str, headers: dict[str, str], body: object = None) -> Answer:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())


@pytest.mark.parametrize("before", ["", "/edfi"], ids=["removed", "handed over"])
def test_every_address_begins_with_the_prefix(server: RealServer, before: str) -> None:
    """Whether the proxy has removed it or not."""

    def get(path: str, **headers: str) -> Answer:
        return send(server.port, "GET", before + path, PROXY | headers)

    token = {"Authorization": f"Bearer {server.token}"}
    student = STUDENT | {"studentUniqueId": f"below{len(before)}"}
    created = send(server.port, "POST", f"{before}/data/ed-fi/students", PROXY | token, student)
    discovery = json.loads(get("/").body)
    specification = json.loads(get("/metadata/specifications/resources-spec.json").body)
    listed = json.loads(get("/metadata/specifications").body)
    docs, guides = get("/docs").body.decode(), get("/guides").body.decode()
    admin, login = get("/admin/"), get("/admin/login/")

    assert created.headers["Location"].startswith(f"{ROOT}/data/ed-fi/students/")
    assert {url.startswith(f"{ROOT}/") for url in discovery["urls"].values()} == {True}
    assert specification["servers"][0]["url"] == f"{ROOT}/data"
    assert f"{ROOT}/oauth/token" in json.dumps(specification["components"]["securitySchemes"])
    assert {each["endpointUri"].startswith(f"{ROOT}/metadata/") for each in listed} == {True}
    assert admin.headers["Location"] == "/edfi/admin/login/?next=/edfi/admin/"
    assert "Path=/edfi/" in login.headers["Set-Cookie"]
    for page in (docs, guides, login.body.decode()):
        local = re.findall(r"(?:href|src|action)=[\"'](/[^\"']*)", page)
        assert local
        assert {address.startswith("/edfi/") for address in local} == {True}, local
    assert get(re.findall(r"href=\"/edfi(/static/[^\"]+)\"", docs)[0]).status == 200
    assert get("/favicon.ico").headers["Location"].startswith("/edfi/static/")


def test_the_prefix_of_one_request_is_not_that_of_the_next(server: RealServer) -> None:
    found = []
    for headers in ({}, PROXY, {}, PROXY | {"X-Forwarded-Prefix": "/other"}) * 4:
        page = send(server.port, "GET", "/docs", headers).body.decode()
        found.append(re.findall(r"href=\"(/[\w/]*)static/", page)[0])

    assert found == ["/", "/edfi/", "/", "/other/"] * 4


@pytest.mark.parametrize(
    ("prefix", "root"),
    [
        ("/edfi/", "/edfi"),
        ("edfi", "/edfi"),
        ("/state, /edfi", "/state/edfi"),
        ("/", ""),
        ("", ""),
        ("//evil.example", ""),
        ("/../x", ""),
        ("/a/./b", ""),
        ("/a\\b", ""),
        ("https://evil.example", ""),
        ("/a?b", ""),
        ("/a%2Fb", ""),
        ("/data", "/data"),
    ],
)
def test_spellings_of_a_prefix(server: RealServer, prefix: str, root: str) -> None:
    answer = send(server.port, "GET", "/", PROXY | {"X-Forwarded-Prefix": prefix})

    assert json.loads(answer.body)["urls"]["oauth"] == f"https://sis.example{root}/oauth/token"


def test_a_get_by_id_is_answered_alike_for_each_prefix(server: RealServer) -> None:
    """Also by what the first request of a kind has prepared."""
    token = {"Authorization": f"Bearer {server.token}"}
    created = send(server.port, "POST", "/data/ed-fi/students", token, STUDENT | {"studentUniqueId": "kinds"})
    path = "/" + created.headers["Location"].split("/", 3)[3]

    answers = [send(server.port, "GET", at + path, token | PROXY) for at in ("", "/edfi") * 6]

    assert [answer.status for answer in answers] == [200] * 12
    assert len({answer.body for answer in answers}) == 1


def test_a_client_without_a_proxy_cannot_set_the_prefix(real_server: RealServer) -> None:
    answer = send(real_server.port, "GET", "/", PROXY)

    assert json.loads(answer.body)["urls"]["oauth"] == f"http://127.0.0.1:{real_server.port}/oauth/token"


@pytest.mark.long
def test_the_setting_is_the_prefix_of_all_requests_whatever_is_sent(
    tmp_path: Path, prepared_home: Callable[[Path], Path]
) -> None:
    home = prepared_home(tmp_path / "home")
    with RealServer(home, MEADOWLARK_PATH_PREFIX="/edfi/", MEADOWLARK_BEHIND_PROXY="true") as server:
        headers = {"X-Forwarded-Prefix": "/evil"}
        found = [send(server.port, "GET", path, headers) for path in ("/edfi/admin/", "/admin/")]
        health = [send(server.port, "GET", path, {}).status for path in ("/health/ready", "/edfi/health/ready")]

    assert {answer.headers["Location"] for answer in found} == {"/edfi/admin/login/?next=/edfi/admin/"}
    assert health == [200, 200]


def snippet(language: str) -> str:
    [text] = re.findall(rf"```{language}\n(.*?)```", _PAGE.read_text(), re.DOTALL)
    return str(text)


def nginx(folder: Path, port: int, text: str) -> list[str]:
    temporary = "".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    file = folder / "nginx.conf"
    file.write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/log; user root; events {{}}"
        f" http {{ access_log off; {temporary} server {{ listen 127.0.0.1:{port};\n{text}\n}} }}"
    )
    return ["nginx", "-c", str(file)]


def apache(folder: Path, port: int, text: str) -> list[str]:
    modules = "mpm_event", "authz_core", "proxy", "proxy_http", "headers"
    loaded = [f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in modules]
    own = [f"ServerRoot {folder}", f"PidFile {folder}/pid", f"ErrorLog {folder}/log", "ServerName proxy"]
    own += [f"Listen 127.0.0.1:{port}", f"DefaultRuntimeDir {folder}", "User www-data", "Group www-data"]
    file = folder / "apache.conf"
    file.write_text("\n".join([*loaded, *own, text]))
    return ["apache2", "-DFOREGROUND", "-f", str(file)]


def caddy(folder: Path, port: int, text: str) -> list[str]:
    file = folder / "Caddyfile"
    file.write_text(f"{{\n admin off\n auto_https off\n}}\nhttp://127.0.0.1:{port} {{\n{text}\n}}\n")
    return ["caddy", "run", "--config", str(file), "--adapter", "caddyfile"]


PROXIES = {"nginx": nginx, "apache": apache, "caddyfile": caddy}


@contextmanager
def running_proxy(language: str, folder: Path, server_port: int) -> Iterator[int]:
    port = free_port()
    text = snippet(language).replace("127.0.0.1:8000", f"127.0.0.1:{server_port}")
    command = PROXIES[language](folder, port, text)
    if shutil.which(command[0]) is None:
        pytest.skip(f"needs the program {command[0]}")
    with (folder / "output").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        wait_until(lambda: is_answering(port), 30, f"{language}: {(folder / 'output').read_text()}")
        yield port
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.long
@pytest.mark.parametrize("language", PROXIES)
def test_a_proxy_with_the_snippet_of_the_page(server: RealServer, tmp_path: Path, language: str) -> None:
    """A client that sends the headers itself changes nothing."""
    forged = {"X-Forwarded-Prefix": "/evil", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"}
    with running_proxy(language, tmp_path, server.port) as port:
        answers = [send(port, "GET", "/edfi/", headers) for headers in ({}, forged)]
        admin = send(port, "GET", "/edfi/admin/", forged)
        docs = send(port, "GET", "/edfi/docs", {}).body.decode()
        static = send(port, "GET", re.findall(r"href=\"(/edfi/static/[^\"]+)\"", docs)[0], {})

    for answer in answers:
        assert json.loads(answer.body)["urls"]["oauth"] == f"http://127.0.0.1:{port}/edfi/oauth/token"
    assert admin.headers["Location"].endswith("/edfi/admin/login/?next=/edfi/admin/")
    assert static.status == 200
