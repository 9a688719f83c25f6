"""The requests that Swagger UI offers to send for an OpenAPI document."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode, urlsplit


def offered(document: dict[str, Any], parameters: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The query string that Swagger UI sends: examples, or defaults; an object without them has an invented one."""
    sent: list[tuple[str, str]] = []
    for each in parameters:
        parameter = document["components"]["parameters"][each["$ref"].rpartition("/")[2]] if "$ref" in each else each
        schema = parameter["schema"]
        invented = {"additionalProp1": "string"} if schema.get("type") == "object" else None
        value = parameter.get("example", schema.get("example", schema.get("default", invented)))
        if parameter["in"] != "query" or value is None:
            continue
        if isinstance(value, dict):
            sent += value.items()
        else:
            values = value if isinstance(value, list) else [value]
            sent += [(parameter["name"], str(one).lower() if isinstance(one, bool) else str(one)) for one in values]
    return sent


def offered_lists(document: dict[str, Any]) -> Iterator[str]:
    """The path and query string of each GET without path parameters."""
    server = urlsplit(document["servers"][0]["url"]).path
    for path, item in document["paths"].items():
        if "get" in item and "{" not in path:
            parameters = [*item.get("parameters", ()), *item["get"].get("parameters", ())]
            yield f"{server}{path}?{urlencode(offered(document, parameters))}"
