"""Values of members that nothing else determines."""

from typing import Any

import jsonschema_rs

from edfi_api.model.surface.resource import JsonPath

# The school year that a new database has as the current one.
SCHOOL_YEAR = 2026

_DATE = "2025-08-18"
_LATER_DATE = "2026-06-05"
_LATER = ("end", "exit", "expiration")
_TEXT = "Example"
# Far from the ids of real organizations.
_FIRST_ID = 1000
# By the name of the member, in whichever resource it is.
_BY_NAME: dict[str, Any] = {
    "birthDate": "2010-02-03",
    "city": "Lark Meadow",
    "contactUniqueId": "604823",
    "currentSchoolYear": True,
    "electronicMailAddress": "mae.ortiz@example.org",
    "firstName": "Mae",
    "fiscalYear": SCHOOL_YEAR,
    "lastSurname": "Ortiz",
    "nameOfInstitution": "Lark Meadow",
    "namespace": "uri://ed-fi.org/Example",
    "parentUniqueId": "604823",
    "postalCode": "78701",
    "schoolYear": SCHOOL_YEAR,
    "schoolYearDescription": f"{SCHOOL_YEAR - 1}-{SCHOOL_YEAR}",
    "staffUniqueId": "604824",
    "streetNumberName": "1 Meadow Road",
    "studentUniqueId": "604822",
    "telephoneNumber": "512-555-0100",
}


def scalar(schema: dict[str, Any], path: JsonPath) -> Any:
    """A value that the schema of a scalar allows; the same for every member of the same name and schema."""
    name = path.steps[-1]
    for value in _known(name):
        # An extension may have a member of the same name and another type, such as a school year that is a text. The
        # digits of a decimal are not in the schema.
        if schema["type"] != "number" and jsonschema_rs.is_valid(schema, value, validate_formats=True):
            return value
    match schema["type"]:
        case "string":
            return _string(schema, name)
        case "integer":
            return max(1, schema.get("minimum", 1))
        case "number":
            return 0.5  # Also in range where a decimal has no digits before its point.
    return True


def _known(name: str) -> tuple[Any, ...]:
    return (_BY_NAME[name], str(_BY_NAME[name])) if name in _BY_NAME else ()


def numbered(schema: dict[str, Any], number: int) -> Any:
    """A value of its own for each number from 1 to 28; a date is one of February."""
    if schema["type"] == "integer":
        return _FIRST_ID + number
    return f"2026-02-{number:02}" if schema.get("format") == "date" else f"{_TEXT} {number}"


def _string(schema: dict[str, Any], name: str) -> str:
    match schema.get("format"):
        case "date":
            return _LATER_DATE if name.lower().startswith(_LATER) else _DATE
        case "date-time":
            return f"{_DATE}T08:00:00Z"
        case "time":
            return "08:00:00"
    return _TEXT.ljust(schema.get("minLength", 0), "x")[: schema.get("maxLength")]
