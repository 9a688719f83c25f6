"""What another API offers: its resources in their order, and which of the ways to read them it has.

From its OpenAPI documents and its dependency order, which all Ed-Fi APIs have; nothing is concluded from its version.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from edfi_api.features.exchange.remote_api import RemoteApi, RemoteFailed, joined

_SPECIFICATIONS = frozenset({"resources", "descriptors"})
_CHANGE_QUERIES, _PROFILES = "change-queries", "profiles"
AVAILABLE_VERSIONS = "availableChangeVersions"
_DELETES, _KEY_CHANGES, _PARTITIONS = "deletes", "keyChanges", "partitions"


@dataclass(slots=True)
class RemoteResource:
    """A resource of the remote API by its path, such as ed-fi/students: the query parameters of its collection, and
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
    versions are below, empty if there is none; `profiles` has the addresses of the OpenAPI documents of API profiles by
    name in lower case."""

    resources: Mapping[str, RemoteResource]
    change_queries: str
    has_batch: bool
    profiles: Mapping[str, str]

    @classmethod
    def read(cls, api: RemoteApi) -> Self:
        """Raises RemoteFailed."""
        discovery = api.discovery
        found: dict[str, RemoteResource] = {}
        change_queries, profiles = discovery.change_queries, {}
        for name, address, prefix in _specifications(api):
            if prefix == _PROFILES:
                profiles[name] = address
            elif name in _SPECIFICATIONS:
                _add(found, api.get_json(address))
            elif name == _CHANGE_QUERIES and not change_queries:
                change_queries = _server(api.get_json(address), address)
        if not found:
            raise RemoteFailed("its OpenAPI documents describe no resources")
        for path, order in _orders(api):
            if path in found:
                found[path].order = order
        in_order = sorted(found.values(), key=lambda resource: (resource.order, resource.path))
        resources = {resource.path: resource for resource in in_order}
        return cls(resources, change_queries, bool(discovery.batch), profiles)

    def of_profile(self, api: RemoteApi, name: str) -> set[str]:
        """The paths of the resources that an API profile is about. Raises RemoteFailed."""
        address = self.profiles.get(name.lower())
        if address is None:
            raise RemoteFailed(f"it has no API profile {name}")
        found: dict[str, RemoteResource] = {}
        _add(found, api.get_json(address))
        return set(found)

    @property
    def missing(self) -> list[str]:
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


def _specifications(api: RemoteApi) -> Iterator[tuple[str, str, str]]:
    """Names in lower case, addresses, and prefixes in lower case."""
    address = api.discovery.specifications
    if not address:
        raise RemoteFailed("its discovery names no openApiMetadata")
    listed = api.get_json(address)
    for each in listed if isinstance(listed, list) else []:
        name, endpoint = (each.get("name"), each.get("endpointUri")) if isinstance(each, dict) else (None, None)
        if isinstance(name, str) and isinstance(endpoint, str):
            yield name.lower(), joined(address, endpoint), str(each.get("prefix", "")).lower()


def _add(found: dict[str, RemoteResource], document: Any) -> None:
    paths = document.get("paths") if isinstance(document, dict) else None
    common = _common_parameters(document)
    for path, item in paths.items() if isinstance(paths, dict) else ():
        project, endpoint, below = [*path.strip("/").split("/")[:3], "", ""][:3]
        if not endpoint or not isinstance(item, dict):
            continue
        resource = found.setdefault(f"{project}/{endpoint}", RemoteResource(f"{project}/{endpoint}"))
        if below:
            resource.below.add(below)
        elif isinstance(get := item.get("get"), dict):
            parameters = [*_list(item.get("parameters")), *_list(get.get("parameters"))]
            resource.parameters |= set(_names(parameters, common))


def _common_parameters(document: Any) -> Mapping[str, Any]:
    """Return the parameters that others refer to, by the ends of their references; Swagger 2 has them at
    another place.
    """
    try:
        found = document["components"]["parameters"] if "components" in document else document["parameters"]
    except (KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def _names(parameters: Iterable[Any], common: Mapping[str, Any]) -> Iterator[str]:
    for each in parameters:
        reference = each.get("$ref") if isinstance(each, dict) else None
        found = common.get(reference.rsplit("/", 1)[-1]) if isinstance(reference, str) else each
        if isinstance(found, dict) and isinstance(name := found.get("name"), str):
            yield name


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _server(document: Any, address: str) -> str:
    """The address that the paths of an OpenAPI document follow."""
    try:
        return joined(address, str(document["servers"][0]["url"])).rstrip("/") + "/"
    except (KeyError, IndexError, TypeError):
        pass
    try:
        return joined(address, str(document["basePath"])).rstrip("/") + "/"
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
        if isinstance(path, str) and type(order) is int and path not in seen:
            seen.add(path)
            yield path.strip("/"), order
