"""What another API offers: its resources in their order, and which of the ways to read them it has.

From its OpenAPI documents and its dependency order, which all Ed-Fi APIs have; nothing is concluded from its version.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urljoin

from edfi_api.exchange.remote_api import RemoteApi, RemoteFailed

_SPECIFICATIONS = frozenset({"resources", "descriptors"})
_CHANGE_QUERIES = "change-queries"
AVAILABLE_VERSIONS = "availableChangeVersions"
_DELETES, _KEY_CHANGES, _PARTITIONS = "deletes", "keyChanges", "partitions"


@dataclass(slots=True)
class RemoteResource:
    """A resource of the other side by its path, such as ed-fi/students: the query parameters of its collection, and
    the last segments of the paths below it. Later ones in `order` may depend on earlier ones."""

    path: str
    order: int = 0
    parameters: set[str] = field(default_factory=set)
    below: set[str] = field(default_factory=set)

    @property
    def has_windows(self) -> bool:
        return "minChangeVersion" in self.parameters

    @property
    def has_page_tokens(self) -> bool:
        return "pageToken" in self.parameters and _PARTITIONS in self.below

    @property
    def has_deletes(self) -> bool:
        return _DELETES in self.below

    @property
    def has_key_changes(self) -> bool:
        return _KEY_CHANGES in self.below


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The resources in the order in which they can be written; `change_queries` is the address that available change
    versions are below, empty if there is none."""

    resources: Mapping[str, RemoteResource]
    change_queries: str
    has_batch: bool

    @classmethod
    def read(cls, api: RemoteApi) -> Self:
        """Raises RemoteFailed."""
        discovery = api.discovery
        found: dict[str, RemoteResource] = {}
        change_queries = discovery.change_queries
        for name, address in _specifications(api):
            if name in _SPECIFICATIONS:
                _add(found, api.get_json(address))
            elif name == _CHANGE_QUERIES and not change_queries:
                change_queries = _server(api.get_json(address), address)
        if not found:
            raise RemoteFailed("its OpenAPI documents describe no resources")
        for path, order in _orders(api):
            if path in found:
                found[path].order = order
        in_order = sorted(found.values(), key=lambda resource: (resource.order, resource.path))
        return cls({resource.path: resource for resource in in_order}, change_queries, bool(discovery.batch))

    @property
    def lacking(self) -> list[str]:
        """What it does not have, in words."""
        resources = self.resources.values()
        found = []
        if not self.change_queries or not any(each.has_windows for each in resources):
            found.append("change queries")
        if not any(each.has_page_tokens for each in resources):
            found.append("page tokens")
        if not any(each.has_deletes for each in resources):
            found.append("/deletes")
        if not any(each.has_key_changes for each in resources):
            found.append("/keyChanges")
        if not self.has_batch:
            found.append("batches")
        return found


def _specifications(api: RemoteApi) -> Iterator[tuple[str, str]]:
    """Names in lower case, and addresses."""
    address = api.discovery.specifications
    if not address:
        raise RemoteFailed("its discovery names no openApiMetadata")
    listed = api.get_json(address)
    for each in listed if isinstance(listed, list) else []:
        name, endpoint = (each.get("name"), each.get("endpointUri")) if isinstance(each, dict) else (None, None)
        if isinstance(name, str) and isinstance(endpoint, str):
            yield name.lower(), urljoin(address, endpoint)


def _add(found: dict[str, RemoteResource], document: Any) -> None:
    paths = document.get("paths") if isinstance(document, dict) else None
    for path, item in paths.items() if isinstance(paths, dict) else ():
        project, endpoint, *below = path.strip("/").split("/")[:3] if path.count("/") >= 2 else ("", "")
        if not endpoint or not isinstance(item, dict):
            continue
        resource = found.setdefault(f"{project}/{endpoint}", RemoteResource(f"{project}/{endpoint}"))
        if below:
            resource.below.add(below[0])
        elif isinstance(get := item.get("get"), dict):
            resource.parameters |= set(_parameters([*_list(item.get("parameters")), *_list(get.get("parameters"))]))


def _parameters(listed: Iterable[Any]) -> Iterator[str]:
    """Their names; those of references to common parameters end with them."""
    for each in listed:
        if isinstance(each, dict) and isinstance(name := each.get("name") or each.get("$ref"), str):
            yield name.rsplit("/", 1)[-1]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _server(document: Any, address: str) -> str:
    """The address that the paths of an OpenAPI document follow."""
    try:
        return urljoin(address, str(document["servers"][0]["url"])).rstrip("/") + "/"
    except (KeyError, IndexError, TypeError):
        pass
    try:
        return urljoin(address, str(document["basePath"])).rstrip("/") + "/"
    except (KeyError, TypeError):
        return ""


def _orders(api: RemoteApi) -> Iterator[tuple[str, int]]:
    """The path of each resource and its first group."""
    address = api.discovery.dependencies
    if not address:
        raise RemoteFailed("its discovery names no dependencies")
    listed = api.get_json(address)
    seen = set()
    for each in _list(listed):
        path, order = (each.get("resource"), each.get("order")) if isinstance(each, dict) else (None, None)
        if isinstance(path, str) and isinstance(order, int) and path not in seen:
            seen.add(path)
            yield path.strip("/"), order
