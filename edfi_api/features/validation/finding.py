"""A rule → its violations, each as a row to be staged."""

import hashlib
import json
import logging
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb
from uuid_utils.compat import uuid7

from edfi_api.features.validation.connections import BATCH, NoLogin, Reading
from edfi_api.features.validation.rule import Rule, RuleViolation, Scope
from edfi_api.features.validation.values import ROW_LIMIT, QueryFault, UnusableValue, violations_statement
from edfi_api.model.surface.resource import Resource, Surface

_LONGEST_MESSAGE = 1024
_LONGEST_NAME, _LONGEST_VALUE = 60, 4000
_INTEGERS, _TEXTS, _UUIDS, _JSON, _ARRAYS = {20, 21, 23}, {25, 1042, 1043, 18, 19}, {2950}, {3802}, {1016, 1007}
# Column → the types that it may have.
COLUMNS: Mapping[str, set[int]] = {
    "document_id": _INTEGERS,
    "document_uuid": _UUIDS,
    "education_organization_id": _INTEGERS,
    "student_unique_id": _TEXTS,
    "staff_unique_id": _TEXTS,
    "contact_unique_id": _TEXTS,
    "namespace": _TEXTS,
    "key": _TEXTS,
    "message": _TEXTS,
    "context": _JSON,
    "other_document_ids": _ARRAYS,
}
_DOCUMENTS = """
SELECT id, document_uuid, resource_type_id, d.natural_key, organization, student, staff, contact, namespace
  FROM document d WHERE id = ANY (%(ids)s::bigint[]) OR document_uuid = ANY (%(uuids)s::uuid[])
"""
_PEOPLE = """
SELECT d.student, d.staff, d.contact, d.document_uuid, d.resource_type_id FROM document d
 WHERE d.is_person AND (d.student = ANY (%(student)s::text[]) OR d.staff = ANY (%(staff)s::text[])
       OR d.contact = ANY (%(contact)s::text[]))
"""
_PERSONS = ("student", "staff", "contact")


class RuleFault(Exception):
    """The rule returned something that cannot be a violation; the text has no values of documents."""


class Staged(NamedTuple):
    """A row of `staged_violation`, without run and rule."""

    digest: bytes
    result_uuid: UUID
    document_uuid: UUID | None
    resource_type_id: int | None
    natural_key: str | None
    other_documents: list[UUID]
    organization: int | None
    student: str | None
    staff: str | None
    contact: str | None
    namespace: str | None
    key: str
    message: str
    context: Jsonb


@dataclass(slots=True)
class Found:
    """The findings besides the rows: how many have no organization, the types of all documents that they name, and
    whether there was more than the limit."""

    count: int = 0
    unplaced: int = 0
    is_truncated: bool = False
    types: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Context:
    """The context that a rule in Python gets: see `rule.RuleContext`."""

    reading: Reading
    parameters: Mapping[str, Any]
    scope: list[Any] | None
    surface: Surface
    log: logging.Logger

    def rows(self, sql: str, parameters: Mapping[str, Any] | None = None) -> Iterator[tuple[Any, ...]]:
        return self.reading.rows(sql, {} if parameters is None else parameters)


@dataclass(frozen=True)
class Finder:
    """Finds the violations of a rule within a transaction; `resource` is that of the offending documents, `number` its
    type. With a scope only violations about its values are found."""

    rule: Rule
    resource: Resource
    number: int
    surface: Surface
    parameters: Mapping[str, Any]
    scope: list[Any] | None = None

    def staged(self, reading: Reading, found: Found) -> Iterator[Staged]:
        """The rows, each violation once. Raises RuleFault, OutOfTime, and what the rule raises."""
        seen: set[bytes] = set()
        violations = islice(self._violations(reading), self.rule.row_limit + 1)
        while some := list(islice(violations, BATCH)):
            for each in self._located(some, reading, found):
                if each.digest in seen:
                    continue
                if found.count == self.rule.row_limit:
                    found.is_truncated = True
                    return
                seen.add(each.digest)
                found.count += 1
                found.unplaced += each.organization is None
                yield each

    def _violations(self, reading: Reading) -> Iterable[RuleViolation]:
        if self.rule.find:
            log = logging.getLogger(f"{__name__}.{self.rule.name}")
            context = Context(reading, self.parameters, self.scope, self.surface, log)
            return self.rule.find(context)
        return self._queried(reading)

    def _queried(self, reading: Reading) -> Iterator[RuleViolation]:
        statement = violations_statement(self.rule.text, self.rule.types)
        given = {**self.parameters, "scope": self.scope, ROW_LIMIT: self.rule.row_limit + 1}
        with reading.cursor(statement, given) as cursor:
            names = checked_columns(cursor.description or ())
            while rows := reading.fetch(cursor):
                for row in rows:
                    yield RuleViolation(**dict(zip(names, row, strict=True)))

    def _located(self, some: list[RuleViolation], reading: Reading, found: Found) -> Iterator[Staged]:
        documents = self._documents(some, reading)
        people = self._people(some, reading)
        for each in some:
            yield self._staged(each, documents, people, found)

    def _documents(self, some: list[RuleViolation], reading: Reading) -> dict[Any, tuple[Any, ...]]:
        ids = {each.document_id for each in some} | {other for each in some for other in each.other_document_ids or ()}
        uuids = {each.document_uuid for each in some}
        rows = reading.all(_DOCUMENTS, {"ids": list(ids - {None}), "uuids": list(uuids - {None})})
        return {row[0]: row for row in rows} | {row[1]: row for row in rows}

    def _people(self, some: list[RuleViolation], reading: Reading) -> dict[tuple[str, str], tuple[UUID, int]]:
        """The documents of the persons that violations name themselves."""
        named = {kind: list({getattr(each, f"{kind}_unique_id") for each in some} - {None}) for kind in _PERSONS}
        if not any(named.values()):
            return {}
        found: dict[tuple[str, str], tuple[UUID, int]] = {}
        for *ids, uuid, number in reading.all(_PEOPLE, named):
            found |= {(kind, value): (uuid, number) for kind, value in zip(_PERSONS, ids, strict=True) if value}
        return found

    def _staged(
        self,
        violation: RuleViolation,
        documents: Mapping[Any, tuple[Any, ...]],
        people: Mapping[tuple[str, str], tuple[UUID, int]],
        found: Found,
    ) -> Staged:
        wanted = violation.document_id if violation.document_uuid is None else violation.document_uuid
        document = documents.get(wanted, (None,) * 9)
        if wanted is not None and document[0] is None:
            raise RuleFault("returned a document that does not exist")
        _, uuid, number, natural_key, organization, *values = document
        if uuid is not None and number != self.number:
            raise RuleFault(f"returned a document of another resource than {self.rule.resource}")
        own = dict(zip((*_PERSONS[:2], "contact", "namespace"), values, strict=True))
        others = self._others(violation, documents)
        named: dict[str, str | None] = {}
        for kind in _PERSONS:
            given = getattr(violation, f"{kind}_unique_id")
            named[kind] = own[kind] if given is None else given
            if given is not None and given != own[kind]:
                if (kind, given) not in people:
                    raise RuleFault(f"returned a {kind} that does not exist")
                others.add(people[kind, given])
        if violation.education_organization_id is not None:
            organization = violation.education_organization_id
        key = violation.key or ""
        self._check_scope({**named, Scope.ORGANIZATION: organization, Scope.DOCUMENT: uuid})
        found.types |= {number} - {None} | {each for _, each in others}
        place = [number, natural_key] if uuid is not None else ["", organization]
        return Staged(
            digest=hashlib.sha256(json.dumps([self.rule.name, *place, key]).encode()).digest(),
            result_uuid=uuid7(),
            document_uuid=uuid,
            resource_type_id=number,
            natural_key=natural_key,
            other_documents=sorted(each for each, _ in others),
            organization=organization,
            student=named["student"],
            staff=named["staff"],
            contact=named["contact"],
            namespace=own["namespace"] if violation.namespace is None else violation.namespace,
            key=key,
            message=(violation.message or self.rule.short)[:_LONGEST_MESSAGE],
            context=Jsonb(_context(violation.context)),
        )

    @staticmethod
    def _others(violation: RuleViolation, documents: Mapping[Any, tuple[Any, ...]]) -> set[tuple[UUID, int]]:
        others = set()
        for row in violation.other_document_ids or ():
            if row not in documents:
                raise RuleFault("returned another document that does not exist")
            others.add((documents[row][1], documents[row][2]))
        return others

    def _check_scope(self, values: Mapping[str, Any]) -> None:
        """Results without a value of the scope, or of other values, would be resolved or kept wrongly."""
        if self.rule.incremental is None:
            return
        value = values[self.rule.incremental.scope]
        if value is None:
            raise RuleFault(f"returned a violation without {self.rule.incremental.scope}, its scope")
        if self.scope is not None and value not in self._scope_values:
            raise RuleFault("returned a violation outside :scope")

    @cached_property
    def _scope_values(self) -> frozenset[Any]:
        return frozenset(self.scope or ())


def checked_columns(description: Iterable[Any]) -> list[str]:
    """The names of the columns of a query. Raises RuleFault if they are not those of violations."""
    columns = {column.name: column.type_code for column in description}
    wrong = [name for name in columns if name not in COLUMNS]
    if wrong:
        raise RuleFault(f"returns unknown columns: {', '.join(wrong)}; there are {', '.join(COLUMNS)}")
    # 705: a bare NULL or literal.
    if unusable := [name for name, type_ in columns.items() if type_ not in COLUMNS[name] | {705}]:
        raise RuleFault(f"returns columns of a wrong type: {', '.join(unusable)}")
    if not columns.keys() & {"document_id", "document_uuid", "education_organization_id"}:
        raise RuleFault("returns neither document_id, document_uuid nor education_organization_id")
    return list(columns)


def _context(given: Mapping[str, Any] | None) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise RuleFault("returned a context that is not an object")
    return {
        str(name)[:_LONGEST_NAME]: ("" if value is None else str(value))[:_LONGEST_VALUE]
        for name, value in given.items()
    }


def resource_of(rule: Rule, surface: Surface) -> Resource:
    """The resource of the offending documents. Raises RuleFault."""
    resource = surface.resource_at(rule.resource)
    if resource is None:
        raise RuleFault(f"the standard has no resource {rule.resource}; one reads like ed-fi/students")
    return resource


def fault_of(error: BaseException, rule: Rule) -> str:
    """Return why a rule failed, without values of documents. Class 42 is about the rule's own text."""
    if isinstance(error, RuleFault | QueryFault | UnusableValue | NoLogin):
        return str(error)
    if isinstance(error, psycopg.Error):
        state = error.sqlstate or ""
        text = error.diag.message_primary if state.startswith("42") or state == "25006" else ""
        return f"{type(error).__name__}{f': {text}' if text else ''} ({state})"
    lines = [step.lineno for step in traceback.extract_tb(error.__traceback__) if step.filename == str(rule.path)]
    return f"{type(error).__name__}{f' in line {lines[-1]}' if lines else ''}"
