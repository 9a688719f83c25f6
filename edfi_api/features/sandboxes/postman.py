"""The requests of a `.http` file as a collection of Postman (version 2.1), which Bruno imports too."""

import re
from typing import Any

from edfi_api.features.sandboxes.request_files import REFERENCE, ExampleRequest, RequestFile

_SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"


def collection(name: str, file: RequestFile) -> dict[str, Any]:
    """The collection; what later requests take from an answer is kept in a variable of it."""
    texts = [text for each in file.requests for text in (each.url, *each.headers.values(), each.body)]
    taken = sorted({found for text in texts for found in REFERENCE.findall(text)})
    names = [*file.variables, *(_variable(*each) for each in taken)]
    return {
        "info": {"name": name, "description": file.about, "schema": _SCHEMA},
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
    """`token_access_token` for `token.response.body.$.access_token`."""
    words = re.findall(r"\w+", path)
    return "_".join([name, *words])


def _expression(_: str, part: str, path: str) -> str:
    return f'pm.response.headers.get("{path}")' if part == "headers" else f"pm.response.json(){path.removeprefix('$')}"
