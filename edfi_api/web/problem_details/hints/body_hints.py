"""Hints about the body of a request: its JSON, its members, its values."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from edfi_api.common import addresses
from edfi_api.common.conf import api_settings
from edfi_api.core.documents import dates_and_times
from edfi_api.core.documents import exceptions as documents
from edfi_api.core.documents.paths import steps_of
from edfi_api.core.documents.violations import Violation
from edfi_api.model.surface.json_schema import find_schema
from edfi_api.model.surface.naming import EXTENSIONS, is_descriptor_name
from edfi_api.model.surface.resource import Resource
from edfi_api.web.problem_details import http_exceptions as viewsets
from edfi_api.web.problem_details.hints.attempted_request import AttemptedRequest, listed, shown
from edfi_api.web.problem_details.hints.near_descriptors import near_names

# So many unknown members are compared with known ones.
_MOST_COMPARED = 5
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]")
_WITH_COMMAS = re.compile(r"[+-]?\d{1,20}(,\d{1,20})+(\.\d{1,20})?", re.ASCII)
MISSING = object()
_FORMATS = {
    "date": "a date like 2026-01-05",
    "date-time": "a date with a time, like 2026-01-05T08:15:00Z",
    "time": "a time of day like 08:15:00",
}
_SCALARS = {
    "integer": "a whole number{bounds}, without quotation marks",
    "number": "a number{bounds}, without quotation marks",
    "boolean": "true or false, without quotation marks",
}


def data_validation_failed(error: documents.DataValidationFailed, attempt: AttemptedRequest) -> Iterator[str]:
    return _of_violations(error.violations, attempt)


def _of_violations(violations: Iterable[Violation], attempt: AttemptedRequest) -> Iterator[str]:
    refused = set[str]()
    if attempt.document is not None and attempt.schema is not None:
        for violation in violations:
            refused.add(violation.path)
            yield from _of_violation(violation, attempt)
    yield from _of_unknown_members(attempt.unknown, refused, attempt)


def _of_violation(violation: Violation, attempt: AttemptedRequest) -> Iterator[str]:
    schema = attempt.schema and find_schema(attempt.schema, steps_of(violation.path))
    if violation.advice is not None or schema is None:
        if violation.advice:
            yield f"{violation.path}: {violation.advice}"
        return
    expected = f"Expected is {expectation(schema, _last(violation.path), attempt.resource)}."
    value = value_at(attempt.document, violation.path)
    if value is MISSING:
        yield f"{violation.path}: it was not sent. {expected}"
        return
    meant = what_to_write(str(value), schema) if isinstance(value, str | int) else ""
    yield f"{violation.path}: {shown(value)} was sent. {meant or expected}"


def what_to_write(text: str, schema: dict[str, Any]) -> str:
    """Return what a date, a time or a number may mean that could not be read; empty if nothing is known."""
    match schema:
        case {"type": "string", "format": format_}:
            return dates_and_times.advice(text, format_)
        case {"type": "integer" | "number" as type_} if _WITH_COMMAS.fullmatch(text.strip()):
            whole, decimal = text.strip().replace(",", ""), text.strip().replace(",", ".")
            is_decimal = type_ == "number" and decimal.count(".") == 1
            return f"It can be read in two ways: write {whole} or {decimal}." if is_decimal else f"Write {whole}."
    return ""


def _of_unknown_members(paths: Iterable[str], refused: Collection[str], attempt: AttemptedRequest) -> Iterator[str]:
    """`refused` are the paths that strict handling refuses, among others."""
    for number, path in enumerate(paths):
        known = _members_beside(path, attempt) if number < _MOST_COMPARED else {}
        near = near_names(_last(path), known)
        meant = f" Did you mean {listed(near).replace(' and ', ' or ')}?" if near else ""
        ignored = "" if path in refused else "; it is ignored"
        yield f"{path}: the resource has no such member{ignored}.{meant}"


def _members_beside(path: str, attempt: AttemptedRequest) -> dict[str, Any]:
    schema = attempt.schema and find_schema(attempt.schema, steps_of(path.rpartition(".")[0]))
    return {} if schema is None else schema.get("properties", {})


def expectation(schema: dict[str, Any], name: str, resource: Resource | None) -> str:
    """Return what a member takes, in words: `a text of at most 75 characters, in quotation marks`."""
    match schema.get("type"):
        case "array":
            return f"a list, [...], of which each item is {expectation(schema['items'], name, resource)}"
        case "object":
            needed = schema.get("required") or [each for each in schema.get("properties", {}) if each != EXTENSIONS]
            return f"an object, {{...}}, with {listed(needed)}"
        case "string":
            return _expected_text(schema, name, resource)
    return _SCALARS.get(schema.get("type", ""), "another value").format(bounds=_bounds(schema))


def _expected_text(schema: dict[str, Any], name: str, resource: Resource | None) -> str:
    if is_descriptor_name(name):
        return f"the URI of a descriptor, like uri://ed-fi.org/{_descriptor_type(name, resource)}#CODE VALUE"
    return _FORMATS.get(schema.get("format", ""), f"a text{_lengths(schema)}, in quotation marks")


def _lengths(schema: dict[str, Any]) -> str:
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if most is None:
        return ""
    return f" of {least} to {most} characters" if least > 1 else f" of at most {most} characters"


def _bounds(schema: dict[str, Any]) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is None or most is None:
        return ""
    return f" from {least} to {most}"


def _descriptor_type(name: str, resource: Resource | None) -> str:
    """`GradeLevelDescriptor` of the member `entryGradeLevelDescriptor`."""
    places = () if resource is None else (*resource.descriptors, *resource.key_descriptors)
    found = next((each.target.resource for each in places if each.path.steps[-1] == name), None)
    return found or f"{name[0].upper()}{name[1:]}"


def value_at(value: Any, path: str) -> Any:
    """The value at a concrete path, whose names may have been sent in another case; `MISSING` if there is none."""
    for name, index in _steps(path):
        if index:
            value = value[int(index)] if isinstance(value, list) and int(index) < len(value) else MISSING
        else:
            value = _member(value, name) if isinstance(value, dict) else MISSING
    return value


def _member(value: dict[str, Any], name: str) -> Any:
    if name in value:
        return value[name]
    return next((child for each, child in value.items() if each.lower() == name.lower()), MISSING)


def _steps(path: str) -> list[tuple[str, str]]:
    """`$.addresses[1].city` as pairs of which one is set: a member's name, an item's index."""
    return _STEP.findall(path.removeprefix("$"))


def _last(path: str) -> str:
    return path.rpartition(".")[2].partition("[")[0]


def empty_body(error: documents.EmptyBody, attempt: AttemptedRequest) -> Iterator[str]:
    yield f"No body was sent. Send the document as JSON, with Content-Type: application/json.{_least(attempt)}"


def _least(attempt: AttemptedRequest) -> str:
    if attempt.resource is None or attempt.schema is None:
        return ""
    return f" {attempt.resource.name.resource} has at least {listed(attempt.schema.get('required', ()))}."


def duplicate_property(error: documents.DuplicateProperty, attempt: AttemptedRequest) -> Iterator[str]:
    for path in error.paths:
        yield f"{path} was sent more than once, and a parser would keep only the last value. Leave one of them."


def client_assigned_id(error: documents.ClientAssignedId, attempt: AttemptedRequest) -> Iterator[str]:
    sent = next((value for name, value in (attempt.document or {}).items() if name.lower() == "id"), None)
    yield (
        f'"id": {shown(sent)} was sent. Leave it out: a POST creates the document, or replaces the one with the same '
        f"key. A document with a known id is replaced by PUT {attempt.path.rstrip('/')}/ID."
    )
    yield from _of_violations(error.violations, attempt)


def id_mismatch(error: documents.IdMismatch, attempt: AttemptedRequest) -> Iterator[str]:
    sent = (attempt.document or {}).get("id")
    yield f'"id": {shown(sent)} was sent to {attempt.path}. Both have to be the id that the server has given.'


def malformed_json(error: documents.MalformedJson, attempt: AttemptedRequest) -> Iterator[str]:
    if error.beginning:
        yield next((hint for is_it, hint in _FORMS if is_it(error.beginning)), "") or _at_the_error(error)


def _at_the_error(error: documents.MalformedJson) -> str:
    if error.is_complete:
        return f"JSON ends at the arrow: {error.before} ➜ {error.after}: {_ONE_DOCUMENT}"
    reason = next((hint for is_it, hint in _SLIPS if is_it(error.before.rstrip(), error.after)), _ANY_SLIP)
    return f"JSON ends at the arrow: {error.before} ➜ {error.after}: {reason}"


_BATCH_INSTEAD = f"; /{addresses.BATCH} takes many operations in one request"
# Hints by how the whole body begins.
_FORMS: tuple[tuple[Callable[[str], bool], str], ...] = (
    (lambda text: text.startswith("<"), "XML was sent; this API takes JSON. XML files of interchanges are loaded by "
     "the operator: manage.py load_interchange."),
    (lambda text: text.startswith("["), "A list was sent. Send each document by a request of its own"
     f"{_BATCH_INSTEAD if api_settings.BATCH else ''}."),
    (lambda text: text.startswith('"'), "A text in quotation marks was sent: the document was perhaps turned into JSON "
     "twice. Send the object itself, {...}."),
    (lambda text: re.match(r"[\w.%+-]+=", text) is not None, "A form was sent; this API takes JSON: "
     '{"name": "value"}.'),
    (lambda text: text[:1].isalnum() or text[:1] == "-", "The body is no JSON object, which begins with {."),
)  # fmt: skip
_QUOTATION_MARKS = "'\u2018\u2019\u201c\u201d"
# Hints by the text before the error, and from it on.
_ONE_DOCUMENT = f"one document for each request, and nothing behind it{_BATCH_INSTEAD if api_settings.BATCH else ''}."
_SLIPS: tuple[tuple[Callable[[str, str], bool], str], ...] = (
    (lambda before, after: not after, "brackets or quotation marks are not closed."),
    (lambda before, after: re.match(r",\s*[}\]]", after) is not None, "remove the comma behind the last one."),
    (lambda before, after: after[:1] in _QUOTATION_MARKS, 'names and texts have straight double quotation marks.'),
    (lambda before, after: after.startswith(("None", "True", "False")), "write null, true or false."),
    (lambda before, after: after.startswith(("NaN", "Infinity", "-Inf", "undefined")), "leave the member out."),
    (lambda before, after: after[:1] in "/#", "JSON has no comments."),
    (lambda before, after: after[:1] in '"{[', "a comma or a colon is missing in front."),
    (lambda before, after: after[:1].isalpha(), "names and texts have double quotation marks."),
    (lambda before, after: before.endswith("}"), _ONE_DOCUMENT),
)  # fmt: skip
_ANY_SLIP = "correct the body there; a JSON library writes it without such slips."


def body_too_large(error: viewsets.BodyTooLarge, attempt: AttemptedRequest) -> Iterator[str]:
    sent = attempt.meta.get("CONTENT_LENGTH")
    yield f"{sent or 'More'} bytes were sent; at most {error.limit} are accepted. Send fewer or smaller documents."
