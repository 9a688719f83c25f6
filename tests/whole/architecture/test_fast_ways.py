"""What a client does not use is not called while its requests are answered."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from edfi_api.common.conf import api_settings
from tests.support.factories import STUDENT
from tests.whole.architecture.request_path import RequestPath
from tests.whole.architecture.requests import content, engine_in_a_thread, forget_removed_databases, send, warm
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
_MIDDLEWARE = (
    "edfi_api/site/observability/middleware.py __call__",
    "edfi_api/web/middleware.py",
    "edfi_api/web/viewsets/router.py",
    "edfi_api/core/security/requests/authentication.py authenticate",
    "edfi_api/core/security/claims/compile.py strategies",
    "meadowlark/serving/environ.py",
)
_LONG_WAY = (
    *_MIDDLEWARE,
    "edfi_api/web/viewsets/resource_viewset.py",
    "edfi_api/web/viewsets/edfi_view.py",
    "meadowlark/serving/lean_handler.py",
)
# Of functions of the project, by requests that others have prepared. They rise only for a reason: what runs once in a
# request finds cold caches, so that each call costs more than a measurement in a loop shows.
_MOST_CALLS = {"GET by id": 52, "POST, new": 144, "POST, again": 129, "PUT": 134, "page": 128}
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
        "edfi_api/features/refusals/recorder.py count_accepted": 1,
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

    assert recorder.pending.take_parts()[-1].accepted
    assert not any(name.startswith("edfi_api/features/refusals/entries.py") for name in called)
    assert sum(called.values()) <= 9


def test_a_prepared_get_calls_no_middleware_route_or_view(transactional_db: None, insert_client: Any) -> None:
    """And few functions in all: what runs once in a request finds cold caches."""
    token = insert_client()
    address = send(token, "POST", _STUDENTS, STUDENT | {"studentUniqueId": "prepared"})

    path, answers = _prepared(token, "GET", address, lambda: b"")

    assert _calls(path, ("edfi_api/common/logs/correlation.py",)) == {
        "edfi_api/common/logs/correlation.py chosen_correlation_id": 1,
        "edfi_api/common/logs/correlation.py new_correlation_id": 1,
    }
    assert _calls(path, _LONG_WAY) == {}
    assert len(path.calls) <= _MOST_CALLS["GET by id"]
    assert [status for status, *_ in answers] == [200] * len(answers)
    assert len({body for *_, body in answers}) == 1


def test_prepared_writes_and_pages_call_no_middleware_or_route(transactional_db: None, insert_client: Any) -> None:
    """Budgets of functions, which rise only for a reason: those of a page are for one document."""
    token, numbers = insert_client(), count()
    address = send(token, "POST", _STUDENTS, STUDENT | {"studentUniqueId": "prepared"})
    same = STUDENT | {"studentUniqueId": "prepared"}
    requests: dict[str, tuple[str, str, Callable[[], Any]]] = {
        "POST, new": ("POST", _STUDENTS, lambda: same | {"studentUniqueId": f"new-{next(numbers)}"}),
        "POST, again": ("POST", _STUDENTS, lambda: same),
        "PUT": ("PUT", address, lambda: same | {"id": address.rpartition("/")[2], "firstName": f"{next(numbers)}"}),
        "page": ("GET", f"{_STUDENTS}?limit=1", lambda: None),
    }

    called, statuses = {}, set()
    for name, (method, path, body) in requests.items():
        called[name], answers = _prepared(token, method, path, lambda body=body: content(body()))
        statuses |= {status for status, *_ in answers}

    unused = (*_MIDDLEWARE, *_REFUSALS)
    assert {name: _calls(path, unused) for name, path in called.items()} == {name: {} for name in called}
    assert statuses == {200, 201, 204}
    assert {name: len(path.calls) for name, path in called.items() if len(path.calls) > _MOST_CALLS[name]} == {}


def _prepared(token: str, method: str, address: str, body: Callable[[], bytes]) -> tuple[RequestPath, list[Any]]:
    """The shorter path of two requests that others have prepared, and all answers: one of them may be the first in a
    while, which reads what is kept for a while."""
    with engine_in_a_thread(token) as engine:
        paths = [engine.called(lambda: warm(lambda: engine.handle(method, address, body()))) for _ in range(2)]
    return min(paths, key=lambda path: len(path.calls)), engine.answers


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
