"""A client that openapi-generator has made in Python: token, create, read, change, conditions, a query with an
operator, a refusal with its reason, delete. It prints what it saw as JSON.

The folder of the generated package is the argument.
"""

import json
import os
import sys

import urllib3

sys.path.insert(0, sys.argv[1])

import resources_client
from resources_client.api.students_api import StudentsApi
from resources_client.models import EdFiStudent

address, key, secret = (os.environ[name] for name in ("BASE_URL", "API_KEY", "API_SECRET"))
login = urllib3.PoolManager().request_encode_body(
    "POST",
    f"{address}/oauth/token",
    fields={"grant_type": "client_credentials"},
    headers=urllib3.make_headers(basic_auth=f"{key}:{secret}"),
    encode_multipart=False,
)
token = login.json()["access_token"]
configuration = resources_client.Configuration(host=f"{address}/data")
configuration.access_token = token
students = StudentsApi(resources_client.ApiClient(configuration))


def status_of(call, *arguments, **options):
    """The status of a call, and its problem details."""
    try:
        _, status, _ = call(*arguments, **options)
    except resources_client.exceptions.ApiException as error:
        return error.status, json.loads(error.body)
    return status, {}


def student(**changes):
    described = {
        "student_unique_id": "910002",
        "first_name": "Mae",
        "last_surname": "Ortiz",
        "birth_date": "2010-02-03",
    }
    return EdFiStudent(**{**described, **changes})


_, created, headers = students.post_student_with_http_info(student())
id_ = headers["Location"].rsplit("/", 1)[1]
read, _, headers = students.get_students_by_id_with_http_info(id_)
etag = headers["ETag"]
read.middle_name = "June"
changed, _ = status_of(students.put_student_with_http_info, id_, read, if_match=etag)
late, _ = status_of(students.put_student_with_http_info, id_, read, if_match=etag)
found = students.get_students(comparisons=["birthDate[gte]=2010-02-03", "birthDate[lt]=2010-02-04"])
refused, problem = status_of(students.post_student_with_http_info, student(last_surname=" "))
deleted, _ = status_of(students.delete_students_by_id_with_http_info, id_)
print(
    json.dumps(
        {
            "created": created,
            "multiple_birth": read.multiple_birth_status,
            "changed": changed,
            "late": late,
            "found": [[each.student_unique_id, each.middle_name] for each in found],
            "refused": refused,
            "reason": problem.get("validationErrors"),
            "deleted": deleted,
        }
    )
)
