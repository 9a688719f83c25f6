"""The same requests get the same answers whether documents lie in the admin database or in a data store, which is
reached without a context or with one. `make test IN_A_STORE=yes` does the same with all tests of the API."""

import json
import re

from django.db import connections

from tests.conftest import new_token
from tests.core.data_stores.conftest import StoreClient

STUDENTS = "/students"
STUDENT = {"studentUniqueId": "1", "firstName": "Ada", "lastSurname": "Diaz", "birthDate": "2010-01-01"}
SEX = {"namespace": "uri://ed-fi.org/SexDescriptor", "codeValue": "Z", "shortDescription": "Zeta"}
ASSOCIATION = {"studentReference": {"studentUniqueId": "1"}, "schoolReference": {"schoolId": 7}}
VERSIONS = "/changeQueries/v1/availableChangeVersions"
# Differ from run to run; their presence and place are compared.
_OF_THE_RUN = {"_etag", "_lastModifiedDate", "changeVersion", "newestChangeVersion", "pageTokens", "at", "client"}
_HEADERS_OF_THE_RUN = {"ETag", "Last-Modified", "Content-Length"}
_UUID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")

# Method, path, body and headers; {id} is that of the first student.
SCRIPT = [
    ("post", STUDENTS, STUDENT, {}),
    ("post", STUDENTS, STUDENT | {"lastSurname": "Dias"}, {}),
    ("post", STUDENTS, STUDENT | {"studentUniqueId": "2"}, {"HTTP_IF_NONE_MATCH": "*"}),
    ("post", STUDENTS, STUDENT, {"HTTP_IF_NONE_MATCH": "*"}),
    ("post", STUDENTS, STUDENT | {"birthDate": "never", "unknown": 1}, {}),
    ("post", STUDENTS, "no object", {}),
    ("post", "/sexDescriptors", SEX, {}),
    ("post", STUDENTS, STUDENT | {"birthSexDescriptor": "uri://ed-fi.org/sexdescriptor#z"}, {}),
    ("post", STUDENTS, STUDENT | {"birthSexDescriptor": "uri://ed-fi.org/SexDescriptor#None"}, {}),
    ("post", "/studentSchoolAssociations", ASSOCIATION | {"entryDate": "2026-08-20"}, {}),
    ("get", f"{STUDENTS}/{{id}}", None, {}),
    ("get", f"{STUDENTS}?totalCount=true&limit=1&offset=1", None, {}),
    ("get", f"{STUDENTS}?birthSexDescriptor=uri://ed-fi.org/SexDescriptor%23Z", None, {}),
    ("get", f"{STUDENTS}?minChangeVersion=1&lastSurname=Diaz", None, {}),
    ("get", f"{STUDENTS}?unknown=1", None, {}),
    ("get", f"{STUDENTS}?limit=-1", None, {}),
    ("get", f"{STUDENTS}/partitions?number=2", None, {}),
    ("put", f"{STUDENTS}/{{id}}", STUDENT | {"id": "{id}", "firstName": "Ida"}, {}),
    ("put", f"{STUDENTS}/{{id}}", STUDENT | {"id": "{id}"}, {"HTTP_IF_MATCH": '"0"'}),
    ("put", f"{STUDENTS}/{{id}}", STUDENT | {"id": "{id}", "studentUniqueId": "3"}, {}),
    ("get", "/history/v1/ed-fi/students/{id}", None, {}),
    ("get", "/relations/v1/ed-fi/students/{id}", None, {}),
    ("delete", f"{STUDENTS}/{{id}}", None, {}),
    ("delete", f"{STUDENTS}/{{id}}", None, {}),
    ("get", f"{STUDENTS}/{{id}}", None, {}),
    ("get", f"{STUDENTS}/deletes", None, {}),
    ("get", f"{STUDENTS}/keyChanges", None, {}),
    ("get", VERSIONS, None, {}),
    ("patch", STUDENTS, {}, {}),
    ("get", "/nothing", None, {}),
    ("get", "/oauth/token_info", None, {}),
]


# Of documents and what is kept about them.
_TABLES = (
    "document", "alias", "reference", "resource_type", "deleted_document", "superseded_document", "key_change",
    "key_field", "organization_closure", "reached_document", "recent_writer", "change_consumer", "dead_letter",
    "validation_result",
)  # fmt: skip


def test_answers_are_the_same(configured, make_store, client_of):
    embedded = _answers(StoreClient(new_token("embedded")))
    with connections["default"].cursor() as cursor:
        for table in _TABLES:
            cursor.execute(f"ALTER TABLE {table} RENAME TO hidden_{table}")

    configured()
    without_context = _answers(client_of(make_store("one"), name="one"))
    configured("schoolYear")
    with_context = _answers(client_of(make_store("2027", schoolYear="2027"), name="2027").at("/2027"))

    assert [text.partition(" ")[0] for text in embedded[:4]] == ["201", "200", "201", "412"]
    assert without_context == embedded
    assert with_context == embedded


def _answers(client):
    """Statuses, headers and bodies, without what differs from run to run."""
    first, found = "", []
    for method, path, body, headers in SCRIPT:
        sent = json.loads(json.dumps(body).replace("{id}", first)) if isinstance(body, dict) else body
        response = client.request(method, path.replace("{id}", first), sent, **headers)
        first = first or response["Location"].rpartition("/")[2]
        kept = {name: value for name, value in response.items() if name not in _HEADERS_OF_THE_RUN}
        # It has the number of a row.
        kept |= {"Next-Page-Token": "*"} if "Next-Page-Token" in kept else {}
        found.append(f"{response.status_code} {method} {path} {kept} {_comparable(response.content)}")
    numbers = {}
    text = "\n".join(found).replace("http://testserver" + client.context, "http://testserver")
    text = text.replace(f" {client.context}/data/", " /data/")  # In hints.
    return _UUID.sub(lambda id_: str(numbers.setdefault(id_[0].replace("-", ""), len(numbers))), text).split("\n")


def _comparable(content):
    """The body without the values that differ from run to run."""

    def cleared(value):
        if isinstance(value, list):
            return [cleared(each) for each in value]
        if isinstance(value, dict):
            return {name: "*" if name in _OF_THE_RUN else cleared(each) for name, each in value.items()}
        return value

    return cleared(json.loads(content)) if content else ""
