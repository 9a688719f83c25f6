"""Reads and sends the requests of a `.http` file, in the form that editors with REST Client understand.

Requests begin with `###` and a title. `# @name` names one, so that later ones can refer to its answer, as in
`{{token.response.body.$.access_token}}` or `{{student.response.headers.Location}}`; `# @expect` lists the statuses that
it may be answered with. `collection` makes a collection of Postman of a file.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import urllib3

from edfi_api.features.sandboxes.models import Shape

FOLDER = Path(__file__).parents[3] / "meadowlark/docs/use/requests"
REFERENCE = re.compile(r"\{\{(\w+)\.response\.(body|headers)\.([^}]+)\}\}")
_VARIABLE = re.compile(r"\{\{(\w+)\}\}")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_SECONDS = 60
_POSTMAN_SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"


@dataclass(frozen=True)
class ExampleRequest:
    """A request of a file."""

    title: str
    name: str
    method: str
    url: str
    headers: Mapping[str, str]
    body: str
    expected: tuple[int, ...]

    @property
    def needs(self) -> set[str]:
        """The names of the requests to whose answers it refers."""
        return {name for name, _, _ in REFERENCE.findall(" ".join([self.url, *self.headers.values(), self.body]))}


@dataclass(frozen=True)
class RequestFile:
    """`about` is the text above the first request, `variables` what the file gives its variables."""

    about: str
    variables: Mapping[str, str]
    requests: tuple[ExampleRequest, ...]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a request: the status of the answer, None if it was not sent, and what is wrong with it."""

    request: ExampleRequest
    status: int | None
    failure: str = ""


def file_of(shape: Shape) -> RequestFile:
    """The requests of this kind of client."""
    return read(f"{FOLDER / shape.value}.http")


def read(path: str) -> RequestFile:
    """Read a file."""
    head, *parts = re.split(r"^###", Path(path).read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = head.splitlines()
    variables = dict(re.split(r"\s*=\s*", line[1:], maxsplit=1) for line in lines if line.startswith("@"))
    about = " ".join(line.removeprefix("#").strip() for line in lines if line.startswith("#"))
    return RequestFile(about, variables, tuple(map(_request, parts)))


def _request(text: str) -> ExampleRequest:
    title, _, rest = text.partition("\n")
    facts = dict(re.findall(r"^# @(\w+) (.*)$", rest, flags=re.MULTILINE))
    sent = "\n".join(line for line in rest.splitlines() if not line.startswith("#")).strip()
    head, _, body = sent.partition("\n\n")
    first, *headers = head.splitlines()
    method, _, url = first.partition(" ")
    expected = tuple(int(status) for status in facts["expect"].split(","))
    pairs = dict(header.split(": ", 1) for header in headers)
    return ExampleRequest(title.strip(), facts["name"], method, url, pairs, body.strip(), expected)


def send_all(file: RequestFile, given: Mapping[str, str], send: "Send") -> Iterator[Outcome]:
    """Send the requests in their order, with these values of variables. One that needs the answer of a request that has
    failed is not sent."""
    variables, answers = {**file.variables, **given}, dict[str, Answer]()
    for request in file.requests:
        if missing := sorted(request.needs - answers.keys()):
            yield Outcome(request, None, f"not sent, since it needs the answer of {', '.join(missing)}")
            continue
        try:
            answer = _sent(send, request, variables, answers)
        except (urllib3.exceptions.HTTPError, LookupError, ValueError) as error:
            yield Outcome(request, None, " ".join(str(error).split()))
            continue
        if answer.status in request.expected:
            answers[request.name] = answer
            yield Outcome(request, answer.status)
        else:
            yield Outcome(request, answer.status, _reason(request, answer))


class Answer(NamedTuple):
    """An answer of a server."""

    status: int
    headers: Mapping[str, str]
    body: bytes


# Sends method, address, headers and body.
Send = Callable[[str, str, Mapping[str, str], str], Answer]


@contextmanager
def send_over_http() -> Iterator[Send]:
    """Send over the network, with connections that are kept."""
    with urllib3.PoolManager(timeout=_SECONDS, retries=False) as pool:

        def send(method: str, url: str, headers: Mapping[str, str], body: str) -> Answer:
            found = pool.request(method, url, headers=headers, body=body or None)
            return Answer(found.status, found.headers, found.data)

        yield send


def _sent(send: Send, request: ExampleRequest, variables: Mapping[str, str], answers: Mapping[str, Answer]) -> Answer:
    def filled(text: str) -> str:
        text = REFERENCE.sub(lambda found: _value(answers[found[1]], found[2], found[3]), text)
        return _VARIABLE.sub(lambda found: variables[found[1]], text)

    headers = {name: filled(value) for name, value in request.headers.items()}
    return send(request.method, filled(request.url), headers, filled(request.body))


def _value(answer: Answer, part: str, path: str) -> str:
    """Find a value in an answer. Raises LookupError if the answer has no such value."""
    if part == "headers":
        return str(answer.headers[path])
    found: Any = json.loads(answer.body)
    for name, position in _STEP.findall(path.removeprefix("$")):
        found = found[name] if name else found[int(position)]
    return str(found)


def _reason(request: ExampleRequest, answer: Answer) -> str:
    expected = " or ".join(map(str, request.expected))
    try:
        problem = json.loads(answer.body)
        said = " ".join(problem.get("hints") or problem.get("errors") or [problem.get("detail", "")])
    except (ValueError, AttributeError):
        said = ""
    return f"{expected} was expected. {said}".strip()


def collection(name: str, file: RequestFile) -> dict[str, Any]:
    """Return the requests as a collection of Postman (version 2.1), which Bruno imports too. What later requests take
    from an answer is kept in a variable of it."""
    texts = [text for each in file.requests for text in (each.url, *each.headers.values(), each.body)]
    taken = sorted({found for text in texts for found in REFERENCE.findall(text)})
    names = [*file.variables, *(_variable(*each) for each in taken)]
    return {
        "info": {"name": name, "description": file.about, "schema": _POSTMAN_SCHEMA},
        "variable": [{"key": each, "value": file.variables.get(each, "")} for each in names],
        "item": [_item(each, [found for found in taken if found[0] == each.name]) for each in file.requests],
    }


def _item(request: ExampleRequest, taken: list[tuple[str, str, str]]) -> dict[str, Any]:
    expected = ", ".join(map(str, request.expected))
    script = [f'pm.test("status", () => pm.expect([{expected}]).to.include(pm.response.code));']
    script += [f'pm.collectionVariables.set("{_variable(*each)}", {_expression(*each)});' for each in taken]
    sent: dict[str, Any] = {
        "method": request.method,
        "header": [{"key": name, "value": _filled(value)} for name, value in request.headers.items()],
        "url": _filled(request.url),
    }
    if request.body:
        sent["body"] = {"mode": "raw", "raw": _filled(request.body)}
    title = request.title or request.name
    return {
        "name": title,
        "event": [{"listen": "test", "script": {"type": "text/javascript", "exec": script}}],
        "request": sent,
    }


def _filled(text: str) -> str:
    return REFERENCE.sub(lambda found: "{{" + _variable(*found.groups()) + "}}", text)


def _variable(name: str, part: str, path: str) -> str:
    """Return `token_access_token` for `token.response.body.$.access_token`."""
    return "_".join([name, *re.findall(r"\w+", path)])


def _expression(_: str, part: str, path: str) -> str:
    return f'pm.response.headers.get("{path}")' if part == "headers" else f"pm.response.json(){path.removeprefix('$')}"
