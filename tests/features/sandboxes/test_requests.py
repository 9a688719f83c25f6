"""The example requests of each kind of client, against a sandbox of its shape."""

import json
import re
from collections.abc import Iterator, Mapping
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from edfi_api.features.runs.counting import run_counter
from edfi_api.features.sandboxes.models import Sandbox, Shape
from edfi_api.features.sandboxes.request_files import FOLDER, Answer, ExampleRequest, RequestFile, file_of, send_all
from tests.conftest import http
from tests.features.sandboxes.conftest import create

pytestmark = pytest.mark.usefixtures("sandboxes")
ADDRESS = "http://testserver"
# Of the scripts in the collections.
_EXPECTED = re.compile(r"\[([\d, ]+)\]")
_TAKEN = re.compile(r'set\("(\w+)", pm\.response\.(?:headers\.get\("([\w-]+)"\)|json\(\)(.*))\);')


def send(method: str, url: str, headers: Mapping[str, str], body: str) -> Answer:
    """As a server, in this process."""
    path, _, query = url.removeprefix(ADDRESS).partition("?")
    given = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}
    content_type = headers.get("Content-Type", "application/octet-stream")
    response = http().generic(method, path, body, content_type, QUERY_STRING=query, **given)
    content = b"".join(response.streaming_content) if response.streaming else response.content
    return Answer(response.status_code, response.headers, content)


def sent_collection(collection: dict[str, Any], given: Mapping[str, str]) -> Iterator[tuple[str, int, set[int]]]:
    """What Postman does with it: name, status and expected statuses of each request."""
    variables = {each["key"]: each["value"] for each in collection["variable"]} | dict(given)

    def filled(text: str) -> str:
        return re.sub(r"\{\{(\w+)\}\}", lambda found: variables[found[1]], text)

    for item in collection["item"]:
        request = item["request"]
        headers = {each["key"]: filled(each["value"]) for each in request["header"]}
        body = filled(request.get("body", {}).get("raw", ""))
        answer = send(request["method"], filled(request["url"]), headers, body)
        status, *taken = item["event"][0]["script"]["exec"]
        for line in taken:
            name, header, path = _TAKEN.search(line).groups()
            value = answer.headers[header] if header else json.loads(answer.body)
            for member, position in re.findall(r"\.(\w+)|\[(\d+)\]", path or ""):
                value = value[member or int(position)]
            variables[name] = str(value)
        yield item["name"], answer.status, set(map(int, _EXPECTED.search(status)[1].split(",")))


@pytest.mark.parametrize(
    ("shape", "populated"),
    [*((shape, []) for shape in Shape), pytest.param(Shape.ASSESSMENT, ["--populated"], marks=pytest.mark.long)],
)
def test_every_request_is_answered_as_expected(shape, populated, settings, monkeypatch):
    settings.EDFI_API = settings.EDFI_API | {"RUN_DAYS": 30}
    monkeypatch.setattr(run_counter, "_begin", lambda: None)
    made = create("lark", "--shape", shape.value, *populated)
    given = {"address": ADDRESS, "key": made["key"], "secret": made["secret"]}

    outcomes = list(send_all(file_of(shape), given, send))
    assert {each.request.name: each.failure for each in outcomes if each.failure} == {}
    assert len(outcomes) >= 13

    collection = json.loads((FOLDER / f"{shape.value}.postman_collection.json").read_text())
    sent = list(sent_collection(collection, given))
    assert [each for each in sent if each[1] not in each[2]] == []
    assert len(sent) == len(outcomes)


def request(name: str, url: str, expected: int) -> ExampleRequest:
    return ExampleRequest(f"Title of {name}", name, "GET", url, {}, "", (expected,))


def test_a_request_that_is_answered_otherwise_is_named_and_what_needs_it_is_not_sent():
    requests = (
        request("one", "{{address}}/data/ed-fi/students", 200),
        request("two", "{{address}}/data/ed-fi/students/{{one.response.body.$[0].id}}", 200),
    )

    first, second = send_all(RequestFile("", {"address": ADDRESS}, requests), {}, send)

    assert (first.status, first.failure[:17]) == (401, "200 was expected.")
    assert (second.status, second.failure) == (None, "not sent, since it needs the answer of one")


def test_a_smoke_test_says_what_failed_and_leaves_no_sandbox(monkeypatch):
    module = "edfi_api.features.sandboxes.management.commands.smoke_test"

    class OverHttp:
        def __enter__(self):
            return lambda method, url, headers, body: (
                Answer(500, {}, b"{}")
                if url.endswith("/students") and method == "POST"
                else send(method, url, headers, body)
            )

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(f"{module}.send_over_http", OverHttp)
    output = StringIO()

    with pytest.raises(CommandError, match="requests failed"):
        call_command("smoke_test", "--shape", "sis", "--address", ADDRESS, stdout=output)

    lines = output.getvalue().splitlines()
    assert lines[0] == "ok     200  POST   A token lasts half an hour; use it until then"
    assert any(line.startswith("FAILED 500  POST   Write a student") for line in lines)
    assert not Sandbox.objects.exists()
