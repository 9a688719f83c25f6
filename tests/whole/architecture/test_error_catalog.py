"""Each exception that a request can raise has a text in the catalog, and the catalog lists modules with other texts."""

import inspect
import re
from types import ModuleType

import pytest

from edfi_api.core.data_stores import exceptions as data_stores
from edfi_api.core.documents import exceptions as documents
from edfi_api.core.queries import exceptions as queries
from edfi_api.core.security import exceptions as security
from edfi_api.core.security.profiles import exceptions as profiles
from edfi_api.core.storage import exceptions as storage
from edfi_api.core.storage.driver import execution as driver
from edfi_api.web.problem_details import catalog, http_exceptions
from edfi_api.web.problem_details.catalog import problem_of
from references import exceptions as references
from tests.whole.architecture.source import MODULES, TOP

_ANSWERED = (data_stores, documents, http_exceptions, profiles, queries, references, security, storage, driver)
NOT_ANSWERED = {
    # Raised only where a connection string is stored.
    data_stores.NoStoreKey,
    # Raised only when the admin restores a deleted document that exists.
    storage.DocumentExists,
    # Statements that had no effect are tried again, and those that took too long have an answer where they are allowed
    # to.
    driver.StatementAborted,
    driver.ConnectionLost,
    driver.TookTooLong,
    # Raised again with the name of the profile.
    documents.CannotBeCreated,
    documents.ContradictsHidden,
}

# Its argument is sentences.
_WORDED = re.compile(r"raise ParameterValidationFailed\(")


def _exceptions(module: ModuleType) -> list[type[Exception]]:
    classes = vars(module).values()
    return [
        each
        for each in classes
        if inspect.isclass(each) and issubclass(each, Exception) and each.__module__ == module.__name__
    ]


@pytest.mark.parametrize(
    "error",
    [error for module in _ANSWERED for error in _exceptions(module) if error not in NOT_ANSWERED],
    ids=lambda e: e.__name__,
)
def test_every_exception_has_a_text_in_the_catalog(error: type[Exception]) -> None:
    assert problem_of.dispatch(error) is not problem_of.dispatch(object)


def test_modules_listed_by_the_catalog_exist() -> None:
    places = _places()

    assert len(places) > 5
    assert [place for place in places if not (TOP / place).exists()] == []


def test_modules_that_word_errors_of_parameters_are_listed_by_the_catalog() -> None:
    modules = [path.relative_to(TOP).as_posix() for path in MODULES if _WORDED.search(path.read_text())]

    assert modules
    assert set(modules) <= set(_places())


def _places() -> list[str]:
    return re.findall(r"`([\w/]+(?:\.py|/))`", catalog.__doc__ or "")
