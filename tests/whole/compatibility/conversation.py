"""The requests to which an ODS/API 7.3 has answered, and how they are sent here.

`answers.jsonl` has them in order; they follow each other on one database. A line without `status` only makes the
state that later requests need. `body` is a text, an object, or the name of a body below with the members that differ
and the names of those that are left out. `keep` is the word by which later requests have the id of what was written;
`{tag}` is the last `ETag` that was read.

Of the answer there are its status, its problem type and what clients match on: `says` (`validationErrors`, else
`errors`, else `detail`), `detail` beside the lists, `as` (the media type, if it is not `application/json`), `error` (of
a token request) and `answer` (what was read, without `_etag`, `_lastModifiedDate` and change versions).
"""

import json
from base64 import b64encode
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conftest import http

FILE = Path(__file__).with_name("answers.jsonl")
ROOT = "/data/v3/ed-fi/"

_NINTH_GRADE = "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade"
_SCHOOL_CATEGORY = "uri://ed-fi.org/EducationOrganizationCategoryDescriptor#School"
_COURSE_CODE = "uri://ed-fi.org/CourseIdentificationSystemDescriptor#LEA course code"
BODIES: dict[str, dict[str, Any]] = {
    "student": {"studentUniqueId": "X1", "firstName": "A", "lastSurname": "B", "birthDate": "2010-01-02"},
    "school": {
        "schoolId": 777003,
        "nameOfInstitution": "S",
        "educationOrganizationCategories": [{"educationOrganizationCategoryDescriptor": _SCHOOL_CATEGORY}],
        "gradeLevels": [{"gradeLevelDescriptor": _NINTH_GRADE}],
    },
    "enrollment": {
        "studentReference": {"studentUniqueId": "X1"},
        "schoolReference": {"schoolId": 255901001},
        "entryDate": "2024-08-01",
        "entryGradeLevelDescriptor": _NINTH_GRADE,
    },
    "bell": {
        "bellScheduleName": "B",
        "schoolReference": {"schoolId": 255901001},
        "classPeriods": [{"classPeriodReference": {"classPeriodName": "P2", "schoolId": 255901001}}],
    },
    "course": {
        "courseCode": "C1",
        "courseTitle": "t",
        "numberOfParts": 1,
        "educationOrganizationReference": {"educationOrganizationId": 255901001},
        "identificationCodes": [{"identificationCode": "1", "courseIdentificationSystemDescriptor": _COURSE_CODE}],
    },
    "session": {
        "sessionName": "F",
        "schoolReference": {"schoolId": 255901001},
        "schoolYearTypeReference": {"schoolYear": 2025},
        "beginDate": "2024-08-01",
        "endDate": "2024-12-20",
        "totalInstructionalDays": 80,
        "termDescriptor": "uri://ed-fi.org/TermDescriptor#Fall Semester",
    },
    "sex": {"codeValue": "Z1", "namespace": "uri://ed-fi.org/SexDescriptor", "shortDescription": "Z1"},
}


@dataclass(frozen=True)
class Caller:
    """A client of the conversation."""

    key: str
    secret: str
    token: str


@dataclass
class Conversation:
    """Sends the requests as their clients, and remembers ids and the last tag."""

    callers: dict[str, Caller]
    ids: dict[str, str] = field(default_factory=dict)
    tag: str = ""

    def answer_to(self, line: dict[str, Any]) -> Any:
        """The response to the request of a line."""
        caller = self.callers[line.get("client", "full")]
        method, _, path = line["send"].partition(" ")
        path = self._filled(path if path.startswith("/") else ROOT + path, caller)
        headers = {"Authorization": f"Bearer {caller.token}"} | line.get("headers", {})
        sent = {name: self._filled(value, caller) for name, value in headers.items() if value}
        type_ = sent.pop("Content-Type", "application/json")
        response = http().generic(method, path, self._filled(_text(line.get("body")), caller), type_, headers=sent)
        if method == "GET":
            self.tag = response.headers.get("ETag", self.tag)
        if "keep" in line:
            self.ids[line["keep"]] = response.headers["Location"].rpartition("/")[2]
        return response

    def _filled(self, text: str, caller: Caller) -> str:
        words = {
            "token": caller.token,
            "token:full": self.callers["full"].token,
            "key": caller.key,
            "secret": caller.secret,
            "basic": _basic(caller.key, caller.secret),
            "basic:wrong secret": _basic(caller.key, "wrong"),
            "basic:wrong key": _basic("wrong", caller.secret),
            "tag": self.tag,
        }
        for word, value in (words | self.ids).items():
            text = text.replace(f"{{{word}}}", value)
        return text


def lines() -> list[dict[str, Any]]:
    """All lines of the file."""
    return [json.loads(line) for line in FILE.read_text().splitlines()]


def _basic(key: str, secret: str) -> str:
    return b64encode(f"{key}:{secret}".encode()).decode()


def _text(body: Any) -> str:
    match body:
        case None:
            return ""
        case str():
            return body
        case [str() as name, changes]:
            return json.dumps(BODIES[name] | changes)
        case [str() as name, changes, left_out]:
            whole = BODIES[name] | changes
            return json.dumps({key: value for key, value in whole.items() if key not in left_out})
    return json.dumps(body)
