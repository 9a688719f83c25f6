"""What a client does not use is not called while its requests are answered."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from edfi_api.common.conf import api_settings
from tests.support.factories import STUDENT
from tests.whole.architecture.request_path import RequestPath
from tests.whole.architecture.requests import forget_removed_databases, new_gateway, send, warm
from tests.whole.architecture.source import TOP

_STUDENTS = "/data/ed-fi/students"
_PROFILES = ("edfi_api/core/security/profiles/", "edfi_api/model/profiles/")
_DATA_STORES = (
    "edfi_api/core/data_stores/",
    "edfi_api/core/security/requests/data_stores.py",
    "edfi_api/web/context.py",
)
_OTHER_IDENTITIES = ("edfi_api/core/security/federation/", "edfi_api/core/security/issuers")
_RULES = ("edfi_api/core/writes/rules/",)
_LEDGER = ("edfi_api/features/refusals/",)
_LONG_WAY = (
    "edfi_api/site/observability/middleware.py __call__",
    "edfi_api/web/middleware.py",
    "edfi_api/web/viewsets/router.py",
    "edfi_api/web/viewsets/resource_viewset.py",
    "edfi_api/web/viewsets/edfi_view.py",
    "meadowlark/serving/environ.py",
    "meadowlark/serving/lean_handler.py",
)
_REFUSALS = ("edfi_api/web/problem_details/", "edfi_api/web/problem_details/hints/")


def test_requests_call_nothing_that_their_client_does_not_use(transactional_db: None, insert_client: Any) -> None:
    """No profile, data store or identity provider, no custom rules, and no ledger of refusals."""
    unused = (*_PROFILES, *_DATA_STORES, *_OTHER_IDENTITIES, *_RULES, *_LEDGER, *_REFUSALS)

    called = {name: _calls(path, unused) for name, path in _successes(insert_client())}

    assert called == {name: {} for name in called}
    assert len(called) == 7


def test_a_success_is_counted_by_its_hour_if_nothing_of_the_resource_is_open(
    transactional_db: None, insert_client: Any, recorder: Any
) -> None:
    called = {name: _calls(path, _LEDGER) for name, path in _successes(insert_client())}

    counted = {
        "edfi_api/features/refusals/recorder.py accepted": 1,
        "edfi_api/features/refusals/pending.py count_accepted": 1,
    }
    assert called == {name: counted if name.startswith(("POST", "PUT", "DELETE")) else {} for name in called}


def test_of_a_cause_with_many_refusals_only_the_number_is_kept(
    transactional_db: None, insert_client: Any, recorder: Any
) -> None:
    """The document is not looked at, although others of the resource have succeeded since the last entries."""
    token, numbers = insert_client(), count()

    def refused() -> None:
        student = STUDENT | {"studentUniqueId": f"fast-{next(numbers)}", "birthDate": "2010-02-30"}
        with pytest.raises(ValueError, match="400"):
            send(token, "POST", _STUDENTS, student)

    forget_removed_databases()
    for _ in range(api_settings.REFUSALS_PER_SECOND + 1):
        refused()
    send(token, "POST", _STUDENTS, STUDENT)
    called = _calls(warm(refused), _LEDGER)

    assert recorder.pending.taken_parts()[-1].accepted
    assert not any(name.startswith("edfi_api/features/refusals/entries.py") for name in called)
    assert sum(called.values()) <= 9


def test_a_prepared_get_calls_no_middleware_route_or_view(transactional_db: None, insert_client: Any) -> None:
    """And few functions in all: what runs once in a request finds cold caches."""
    token = insert_client()
    forget_removed_databases()
    with ThreadPoolExecutor(1) as thread:  # Which is lent a connection, unlike that of the test.
        path, answers = thread.submit(_prepared_get, token).result()

    assert _calls(path, ("edfi_api/common/logs/correlation.py",)) == {
        "edfi_api/common/logs/correlation.py chosen_correlation_id": 1,
        "edfi_api/common/logs/correlation.py new_correlation_id": 1,
    }
    assert _calls(path, _LONG_WAY) == {}
    assert len(path.calls) <= 52
    assert [status for status, *_ in answers] == [200] * len(answers)
    assert len({body for *_, body in answers}) == 1


class _Protocol:
    """Of the engine, for requests without a body."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, list[tuple[str, str]], bytes]] = []

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.answers.append((status, headers, body))


def _prepared_get(token: str) -> tuple[RequestPath, list[Any]]:
    """The path of a GET by id that others have prepared, and all answers."""
    protocol = _Protocol()
    address = send(token, "POST", _STUDENTS, STUDENT | {"studentUniqueId": "prepared"})
    headers = {"host": "testserver", "authorization": f"Bearer {token}"}
    scope = SimpleNamespace(
        client="127.0.0.1:80", headers=headers, http_version="1.1", method="GET", path=address, query_string=""
    )
    with new_gateway() as gateway:
        path = warm(lambda: gateway.handle(scope, protocol))
    return path, protocol.answers


def _successes(token: str) -> Iterator[tuple[str, RequestPath]]:
    forget_removed_databases()
    numbers = count()

    def student(**changes: Any) -> dict[str, Any]:
        return STUDENT | {"studentUniqueId": f"fast-{next(numbers)}"} | changes

    def changed() -> dict[str, Any]:
        return same | {"firstName": f"Mae {next(numbers)}"}

    same = student()
    address = send(token, "POST", _STUDENTS, same)
    id_ = address.rpartition("/")[2]
    yield "POST, new", warm(lambda: send(token, "POST", _STUDENTS, student()))
    yield "POST, again", warm(lambda: send(token, "POST", _STUDENTS, same))
    yield "POST, changed", warm(lambda: send(token, "POST", _STUDENTS, changed()))
    yield "PUT", warm(lambda: send(token, "PUT", address, changed() | {"id": id_}))
    yield "GET by id", warm(lambda: send(token, "GET", address))
    yield "page", warm(lambda: send(token, "GET", f"{_STUDENTS}?limit=5"))
    yield "DELETE", warm(_deletion(token, [send(token, "POST", _STUDENTS, student()) for _ in range(9)]))


def _deletion(token: str, addresses: list[str]) -> Callable[[], str]:
    return lambda: send(token, "DELETE", addresses.pop())


def _calls(path: RequestPath, of: tuple[str, ...]) -> dict[str, int]:
    """How often which functions of these modules were called."""
    names = (f"{code.co_filename.removeprefix(f'{TOP}/')} {code.co_name}" for code in path.calls)
    return dict(Counter(name for name in names if name.startswith(of)))
