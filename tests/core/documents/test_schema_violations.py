"""Violations found by validating a body path by path are those that the validator finds in the whole body."""

from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from edfi_api.core.documents.coercion import compile_coercion
from edfi_api.core.documents.dates_and_times import is_date, is_date_time, is_time
from edfi_api.core.documents.validation import SchemaPlace
from edfi_api.core.documents.violations import Leniency
from tests.whole.robustness.conftest import anything
from tests.whole.robustness.edge_cases import Raw, corrupted


@anything
@given(data=st.data())
def test_violations_are_at_the_paths_that_the_validator_finds(surface, documents, data):
    schema = data.draw(st.sampled_from(surface.resources), label="resource").json_schema
    resource = next(resource for resource in surface.resources if resource.json_schema is schema)
    body = _without_raw(data.draw(corrupted(documents.full_body(resource))))
    coerced = compile_coercion(schema)(body, Leniency())
    validator = Draft202012Validator(
        schema, validate_formats=True, formats={"date": is_date, "date-time": is_date_time, "time": is_time}
    )

    found = {violation.path for violation in SchemaPlace(schema).violations(coerced)}

    assert found == {_path(error) for error in validator.iter_errors(coerced)}


def _path(error):
    path = "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.instance_path)
    return f"{path}.{error.kind.property}" if error.kind.name == "required" else path


def _without_raw(value):
    """Replaces numbers that are kept as text, since they are too long for Python's JSON encoder, by their text."""
    match value:
        case Raw():
            return str(value)
        case dict():
            return {name: _without_raw(child) for name, child in value.items()}
        case list():
            return [_without_raw(child) for child in value]
        case int() if not isinstance(value, bool) and abs(value) >= 2**63:
            return float(min(value, 10**300))
        case str():
            return value.encode("utf-8", "replace").decode()
    return value
