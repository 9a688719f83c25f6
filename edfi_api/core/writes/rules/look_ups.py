"""How a rule reads other documents: in the transaction of the write, within a budget.

The budget of a rule is a number of look-ups, and a time: that of the processor in its own code, and what its look-ups
take. PostgreSQL ends a look-up that takes longer than the whole budget. Code that computes or waits for too long is
found out when it returns: Python cannot interrupt it.

What a rule waits for elsewhere, as in a request to another server, cannot be distinguished from waiting for the
processor of a busy machine. So this has a limit of its own: in all, a rule may take ten times its budget.
"""

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.db import OperationalError
from psycopg.errors import QueryCanceled

from edfi_api.common.conf import api_settings
from edfi_api.core.documents import json_text
from edfi_api.core.documents.document_validator import DocumentValidators, ValidatedDocument
from edfi_api.core.documents.violations import Leniency
from edfi_api.core.queries import collection
from edfi_api.core.queries.query_by_example import QueryByExample
from edfi_api.core.queries.selection import all_documents
from edfi_api.core.storage.driver.execution import execute
from edfi_api.core.storage.driver.sql import Sql
from edfi_api.core.storage.stored import StoredDocument, stored_documents
from edfi_api.core.writes.rules.ruled_write import BudgetExceeded
from edfi_api.model.surface.resource import JsonPath, Resource, ResourceName, Surface

MOST_FOUND = 500
# Stored documents by referential id.
Known = Mapping[UUID, StoredDocument]
NOTHING: Known = MappingProxyType({})
# What may be exceeded.
LOOK_UPS, TIME = "look-ups", "time"
# How many times its budget a rule may take with all that it waits for.
_WITH_WAITING = 10

# The limit of the transaction, with which the setting ends. What was set before is restored for the statements of the
# write.
_LIMIT = Sql(
    "SELECT current_setting('statement_timeout'), set_config('statement_timeout', %(milliseconds)s::text, true)"
)
_RESTORE = Sql("SELECT set_config('statement_timeout', %(before)s::text, true)")


class Budget:
    """What one rule may take for one write; look-ups alone if it is not timed."""

    def __init__(self, *, is_timed: bool = True) -> None:
        self._look_ups = api_settings.WRITE_RULE_LOOKUPS
        self._seconds = api_settings.WRITE_RULE_MILLISECONDS / 1000 if is_timed else math.inf
        self._waited = 0.0
        self._began = time.thread_time()
        self._ends = time.monotonic() + _WITH_WAITING * self._seconds
        # This is set also if the rule caught the exception.
        self.exceeded: BudgetExceeded | None = None

    @contextmanager
    def look_up(self) -> Iterator[None]:
        """Takes one look-up. Raises BudgetExceeded."""
        if self._look_ups == 0:
            self._raise_exceeded(LOOK_UPS)
        self.check_time()
        self._look_ups -= 1
        began, of_processor = time.monotonic(), time.thread_time()
        try:
            yield
        except OperationalError as error:
            if isinstance(error.__cause__, QueryCanceled):
                self._raise_exceeded(TIME)
            raise
        finally:
            self._waited += (time.monotonic() - began) - (time.thread_time() - of_processor)
        self.check_time()

    @contextmanager
    def not_counted(self) -> Iterator[None]:
        """Take nothing of the budget for what is done within it, once in a process."""
        began, of_processor = time.monotonic(), time.thread_time()
        try:
            yield
        finally:
            self._began += time.thread_time() - of_processor
            self._ends += time.monotonic() - began

    def check_time(self) -> None:
        """Raises BudgetExceeded."""
        own = time.thread_time() - self._began + self._waited
        if own > self._seconds or time.monotonic() > self._ends:
            self._raise_exceeded(TIME)

    def _raise_exceeded(self, what: str) -> None:
        self.exceeded = self.exceeded or BudgetExceeded(what)
        raise self.exceeded


class LookedUpResources:
    """The resources of a surface as rules look them up, each compiled at its first look-up."""

    def __init__(self, surface: Surface) -> None:
        self._by_name = {
            f"{resource.project_endpoint}/{resource.name.resource}".lower(): resource for resource in surface.resources
        }
        self._surface = surface
        self._queries: dict[ResourceName, QueryByExample] = {}
        self.validators = DocumentValidators(surface)

    def find(self, named: str) -> Resource | None:
        """The resource of this path, `ed-fi/students`, or of this name, `ed-fi/Student`, in any case."""
        return self._surface.resource_at(named) or self._by_name.get(named.strip("/").lower())

    def __getitem__(self, named: str) -> Resource:
        """Return what `find` returns. Raises KeyError."""
        found = self.find(named)
        if found is None:
            raise KeyError(named)
        return found

    def named(self, name: ResourceName) -> Resource | None:
        """The resource of this name; None if it is an abstract one."""
        return self._surface.by_name.get(name)

    def query(self, resource: Resource) -> QueryByExample:
        if resource.name not in self._queries:
            self._queries[resource.name] = QueryByExample(resource)
        return self._queries[resource.name]


class LookUps:
    """Implements `OtherDocuments` for a write; `budget` is that of the rule that runs."""

    def __init__(
        self,
        resources: LookedUpResources,
        document: ValidatedDocument,
        using: str,
        known: Known = NOTHING,
        *,
        is_timed: bool = True,
    ) -> None:
        self._known = known
        self._is_timed = is_timed
        self._resources = resources
        self._document = document
        self._using = using
        self._timeout_before: str | None = None
        self.budget = Budget()

    def by_key(self, resource: str, key: Mapping[str, Any]) -> dict[str, Any] | None:
        with self.budget.not_counted():
            validator = self._resources.validators[self._resources[resource].name]
        id_ = validator.extractor.own_identity(dict(key)).referential_id
        return next(iter(self._stored([id_])), None)

    def referenced(self, path: str) -> list[dict[str, Any]]:
        steps = JsonPath.parse(path).steps
        ids = [each.referential_id for each in self._document.references if each.steps == steps]
        return self._stored(ids) if ids else []

    def where(self, resource: str, filters: Mapping[str, Any], most: int = 25) -> list[dict[str, Any]]:
        found = self._resources[resource]
        with self.budget.not_counted():
            compiled = self._resources.query(found)
        query = {name: _text(value) for name, value in filters.items()}
        with self.looking_up():
            everything = all_documents(found, self._using)
            wanted = compiled.narrow(everything, query, frozenset(), Leniency(is_strict=True))
            size = min(most, MOST_FOUND)
            return [_with_id(each) for each in islice(collection.page(wanted, size, 0), size)]

    def restore_timeout(self) -> None:
        """Give the session its timeout back: no rule looks anything up any more."""
        if self._timeout_before is not None:
            execute(_RESTORE.with_values(before=self._timeout_before), self._using)
            self._timeout_before = None

    def _stored(self, ids: list[UUID]) -> list[dict[str, Any]]:
        with self.budget.look_up():
            found: Known = {id_: self._known[id_] for id_ in ids if id_ in self._known}
            if len(found) < len(ids):
                self._set_timeout()
                found = stored_documents(ids, self._using)
            return [_with_id(found[id_]) for id_ in dict.fromkeys(ids) if id_ in found]

    @contextmanager
    def looking_up(self) -> Iterator[None]:
        """Takes a look-up, which PostgreSQL ends in time. Raises BudgetExceeded."""
        with self.budget.look_up():
            self._set_timeout()
            yield

    def _set_timeout(self) -> None:
        if self._is_timed and self._timeout_before is None:
            milliseconds = str(api_settings.WRITE_RULE_MILLISECONDS)
            [(self._timeout_before, _)] = execute(_LIMIT.with_values(milliseconds=milliseconds), self._using)


class NoLookUps:
    """Stands in place of `LookUps` for rules that have declared to read the document only."""

    budget: Budget

    def by_key(self, resource: str, key: Mapping[str, Any]) -> dict[str, Any] | None:
        raise LooksUpDespiteDeclaration

    def referenced(self, path: str) -> list[dict[str, Any]]:
        raise LooksUpDespiteDeclaration

    def where(self, resource: str, filters: Mapping[str, Any], most: int = 25) -> list[dict[str, Any]]:
        raise LooksUpDespiteDeclaration


class LooksUpDespiteDeclaration(Exception):
    """A rule with `reads_document_only` looks up other documents."""


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(_text, value)) if isinstance(value, list | tuple) else str(value)


def _with_id(document: StoredDocument) -> dict[str, Any]:
    return {"id": document.document_uuid, **json_text.loads(document.text)}
