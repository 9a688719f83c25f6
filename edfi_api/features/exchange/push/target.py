"""Sends documents to the remote API, singly or, if that is a Meadowlark, in batches: outbound changes → outcomes.

Everything may be repeated: a POST writes what is there, a DELETE of what is not there is done. What the remote API
refuses is an outcome; only what may pass by itself is raised, as RemoteFailed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlencode, urlsplit

from edfi_api.common.logs.printable import printable
from edfi_api.core.documents import json_text
from edfi_api.core.documents.paths import as_text, values_at
from edfi_api.features.exchange.push.outbound_changes import KeyValues, OutboundChange
from edfi_api.features.exchange.remote_api import RemoteAnswer, RemoteApi, RemoteFailed, plain_id
from edfi_api.features.exchange.resource_selection import DescriptorMapping
from edfi_api.model.surface.resource import Resource, ResourceName
from references.descriptor_uri import comparable

_LONGEST_NAME, _LONGEST_TEXT = 200, 1000
_MOST_PATHS, _MOST_TEXTS = 50, 10
# Characters of all texts of a problem.
_MOST_CHARACTERS = 6_000
_TEXTS = ("type", "title", "message", "error", "correlationId")


# Well within the limits that a Meadowlark has unless it is configured otherwise.
_MOST_OPERATIONS = 500
_MOST_BYTES = 8 * 2**20
# So many documents of a query are compared with the key that was asked for.
_FOUND_AT_MOST = 25
_TOO_LARGE = 413
_GONE = frozenset({404, 410})
# The status of a PUT with another key, if it does not change keys.
_KEEPS_KEYS = frozenset({400, 405})
# 401: also with a new token.
_TEMPORARY = frozenset({401, 408, 425, 429})


def bounded(said: Any) -> dict[str, Any]:
    """The members of a problem of the remote API that are used, without what exceeds the limits; empty for what is no
    problem. The problems of thousands of documents wait together until they are recorded."""
    if not isinstance(said, Mapping):
        return {}
    left = _MOST_CHARACTERS

    def text(value: Any, longest: int) -> str:
        nonlocal left
        found = printable(value[:longest])[: min(longest, left)] if isinstance(value, str) else ""
        left -= len(found)
        return found

    problem: dict[str, Any] = {name: text(said.get(name), _LONGEST_NAME) for name in _TEXTS}
    problem["detail"] = text(said.get("detail"), _LONGEST_TEXT)
    problem["errors"] = [found for each in _listed(said.get("errors")) if (found := text(each, _LONGEST_TEXT))]
    errors = said.get("validationErrors")
    paths = list(errors.items())[:_MOST_PATHS] if isinstance(errors, Mapping) else []
    problem["validationErrors"] = {
        text(path, _LONGEST_NAME): kept
        for path, texts in paths
        if (kept := [found for each in _listed(texts) if (found := text(each, _LONGEST_TEXT))])
    }
    return problem


def _listed(said: Any) -> list[Any]:
    return said[:_MOST_TEXTS] if isinstance(said, list) else []


@dataclass(frozen=True, slots=True)
class Attempt:
    """An outbound change, and the id of the document there if it is known. `is_of_former` says that the change deletes
    a document there that this one has replaced."""

    outbound: OutboundChange
    remote_id: str | None = None
    is_of_former: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of an attempt. `remote_id` is the id there now, if it is known; `former_id` that of a document there
    that this one has replaced. A refusal has the problem, as far as the remote API has sent one."""

    attempt: Attempt
    status: int
    remote_id: str | None = None
    former_id: str | None = None
    problem: Mapping[str, Any] | None = None
    correlation_id: str = ""

    @property
    def outbound(self) -> OutboundChange:
        return self.attempt.outbound

    @property
    def is_accepted(self) -> bool:
        return self.status < 300 or (self.outbound.is_delete and self.status in _GONE)


class Target:
    """The remote API of a connection. Methods may be called by several threads; all raise RemoteFailed."""

    def __init__(self, api: RemoteApi, mapping: DescriptorMapping, write_profile: str) -> None:
        self._api = api
        self._mapping = mapping
        self._write_profile = write_profile
        self._batch = api.discovery.batch
        self._takes_batches = bool(self._batch)
        # Resources whose keys the remote API has refused to change.
        self._keeps_keys: set[ResourceName] = set()

    def works(self, attempts: Sequence[Attempt]) -> list[Callable[[], list[Outcome]]]:
        """Calls that send these attempts, which do not depend on each other; each may have a thread of its own."""
        in_batches, alone = _divided(attempts) if self._takes_batches else ([], attempts)
        return [
            *(partial(self._send_batch, run) for run in self._runs(in_batches)),
            *(partial(self._send_alone, each) for each in alone),
        ]

    def send(self, attempt: Attempt) -> Outcome:
        """Send one by requests of its own."""
        outbound = attempt.outbound
        if outbound.is_delete:
            return self._delete(attempt)
        remote_id = attempt.remote_id
        if not outbound.former_keys:
            return self._post(attempt, remote_id)
        if remote_id is None:
            remote_id = self._found(outbound.resource, outbound.former_keys)
        if remote_id is None or outbound.resource.name in self._keeps_keys:
            return self._post(attempt, remote_id)
        return self._change_key(attempt, remote_id)

    def post(self, resource: Resource, body: Mapping[str, Any]) -> RemoteAnswer:
        """Send a body that is no document here."""
        return self._write("POST", self._address(resource), resource, self._mapped(body))

    def _change_key(self, attempt: Attempt, remote_id: str) -> Outcome:
        """Change a key by PUT; where the remote API does not change keys, by a new document, for which the former one
        is deleted.
        """
        outbound = attempt.outbound
        body = {"id": remote_id, **self._mapped(outbound.body or {})}
        answer = self._write("PUT", self._address(outbound.resource, remote_id), outbound.resource, body)
        if answer.is_success:
            return Outcome(attempt, answer.status, remote_id)
        outcome = self._post(attempt, remote_id)
        if outcome.is_accepted and answer.status in _KEEPS_KEYS:
            self._keeps_keys.add(outbound.resource.name)
        return outcome

    def _post(self, attempt: Attempt, known_id: str | None) -> Outcome:
        outbound = attempt.outbound
        answer = self._write(
            "POST", self._address(outbound.resource), outbound.resource, self._mapped(outbound.body or {})
        )
        if not answer.is_success:
            return _refused(attempt, answer)
        return _written(attempt, answer.status, _id_in(answer.headers.get("location", "")), known_id)

    def _delete(self, attempt: Attempt) -> Outcome:
        outbound, remote_id = attempt.outbound, attempt.remote_id
        if remote_id is None:
            keys = (*outbound.former_keys, *filter(None, [outbound.key_values]))
            remote_id = self._found(outbound.resource, keys)
        if remote_id is None:
            return Outcome(attempt, 404)
        answer = self._request("DELETE", self._address(outbound.resource, remote_id))
        if answer.is_success or answer.status in _GONE:
            return Outcome(attempt, answer.status)
        return _refused(attempt, answer, remote_id)

    def _found(self, resource: Resource, keys: Iterable[KeyValues]) -> str | None:
        """The id there of the document that has one of the keys, the last one first."""
        return next(filter(None, (self._found_by(resource, key) for key in reversed(tuple(keys)))), None)

    def _found_by(self, resource: Resource, key: KeyValues) -> str | None:
        wanted = dict(key)
        self._mapping.replace_ours(wanted)
        parameters = {name: as_text(value) for name, value in wanted.items()} | {"limit": str(_FOUND_AT_MOST)}
        answer = self._request("GET", f"{self._address(resource)}?{urlencode(parameters)}")
        if not answer.is_success:
            return None
        found = answer.json()
        if not isinstance(found, list):
            raise RemoteFailed("the answer to a query is not a list of documents")
        # An API may disregard parameters that it does not know.
        same = (each for each in found if isinstance(each, dict) and _has_key(resource, each, wanted))
        return next((id_ for each in same if (id_ := plain_id(each.get("id")))), None)

    def _send_alone(self, attempt: Attempt) -> list[Outcome]:
        return [self.send(attempt)]

    def _send_batch(self, run: Sequence[Attempt]) -> list[Outcome]:
        operations = json_text.dumps([self._operation(each) for each in run])
        answer = self._request("POST", f"{self._batch}?mode=independent", operations)
        if answer.status == _TOO_LARGE and len(run) > 1:
            middle = len(run) // 2
            return [*self._send_batch(run[:middle]), *self._send_batch(run[middle:])]
        if not answer.is_success:
            self._takes_batches = self._takes_batches and answer.status == _TOO_LARGE
            return [self.send(each) for each in run]
        results = answer.json()
        if not isinstance(results, list) or len(results) != len(run) + 1:
            raise RemoteFailed("the answer to a batch is not complete")
        return [_of_result(attempt, result) for attempt, result in zip(run, results[:-1], strict=True)]

    def _operation(self, attempt: Attempt) -> dict[str, Any]:
        outbound = attempt.outbound
        resource = {"resource": outbound.resource.url_path}
        if outbound.is_delete:
            return {"op": "delete", **resource, "id": attempt.remote_id}
        profile = {"profile": self._media_type(outbound.resource)} if self._write_profile else {}
        return {"op": "upsert", **resource, **profile, "document": self._mapped(outbound.body or {})}

    def _runs(self, attempts: Iterable[Attempt]) -> list[list[Attempt]]:
        """Return the attempts of one resource together, since these are written by few statements; bounded in number
        and size.
        """
        runs: list[list[Attempt]] = []
        size = 0
        for each in sorted(attempts, key=lambda each: each.outbound.resource.url_path):
            bytes_ = len(json_text.dumps(each.outbound.body))
            if not runs or len(runs[-1]) >= _MOST_OPERATIONS or size + bytes_ > _MOST_BYTES:
                runs.append([])
                size = 0
            runs[-1].append(each)
            size += bytes_
        return runs

    def _write(self, method: str, address: str, resource: Resource, body: Mapping[str, Any]) -> RemoteAnswer:
        headers = {"Content-Type": self._media_type(resource)} if self._write_profile else None
        return self._request(method, address, json_text.dumps(body), headers)

    def _request(
        self, method: str, address: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> RemoteAnswer:
        """An answer about the document. Raises RemoteFailed for those that say nothing about it."""
        answer = self._api.request(method, address, body, headers)
        if answer.is_success or (400 <= answer.status < 500 and answer.status not in _TEMPORARY):
            return answer
        raise RemoteFailed(f"{printable(address)} answers {answer.status} {answer.problem()}".strip())

    def _media_type(self, resource: Resource) -> str:
        name = resource.name.resource.lower()
        return f"application/vnd.{resource.project_endpoint}.{name}.{self._write_profile.lower()}.writable+json"

    def _address(self, resource: Resource, remote_id: str = "") -> str:
        return self._api.data_address(f"{resource.url_path}/{remote_id}".rstrip("/"))

    def _mapped(self, body: Mapping[str, Any]) -> dict[str, Any]:
        if not self._mapping.pairs:
            return dict(body)
        copied = deepcopy(dict(body))
        self._mapping.replace_ours(copied)
        return copied


def _divided(attempts: Iterable[Attempt]) -> tuple[list[Attempt], list[Attempt]]:
    """Return the attempts for which one operation is enough, and the others."""
    in_batches: list[Attempt] = []
    alone: list[Attempt] = []
    for each in attempts:
        is_enough = each.remote_id is not None if each.outbound.is_delete else not each.outbound.former_keys
        (in_batches if is_enough else alone).append(each)
    return in_batches, alone


def _written(attempt: Attempt, status: int, remote_id: str | None, known_id: str | None) -> Outcome:
    if remote_id is None or known_id is None:
        return Outcome(attempt, status, remote_id or known_id)
    return Outcome(attempt, status, remote_id, known_id if _is_another(known_id, remote_id) else None)


def _refused(attempt: Attempt, answer: RemoteAnswer, remote_id: str | None = None) -> Outcome:
    return Outcome(attempt, answer.status, remote_id, None, bounded(answer.refusal()), answer.correlation_id)


def _of_result(attempt: Attempt, result: Any) -> Outcome:
    """Raises RemoteFailed for an operation that was not carried out, and for what is no result."""
    status = result.get("status") if isinstance(result, dict) else None
    if type(status) is not int or not 100 <= status < 500 or status in _TEMPORARY:
        raise RemoteFailed("an operation of a batch was not carried out")
    if status < 300 and not attempt.outbound.is_delete:
        return _written(attempt, status, plain_id(result.get("id")), attempt.remote_id)
    said = bounded(result.get("problem"))
    return Outcome(attempt, status, attempt.remote_id, None, said, str(said.get("correlationId", "")))


def _has_key(resource: Resource, found: dict[str, Any], wanted: KeyValues) -> bool:
    values = {each.name: values_at(found, path.steps) for each, path in resource.key_fields}
    return all(
        values.get(name) and comparable(as_text(values[name][0][1])) == comparable(as_text(value))
        for name, value in wanted.items()
    )


def _id_in(location: str) -> str | None:
    return plain_id(urlsplit(location).path.rstrip("/").rpartition("/")[2])


def _is_another(one: str, other: str) -> bool:
    """Ids of one document may be written in several forms."""
    return one.replace("-", "").casefold() != other.replace("-", "").casefold()
