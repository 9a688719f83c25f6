"""Writes under a profile in a batch, which are those of single requests."""

from typing import Any

from edfi_api.core.models import Document
from tests.conftest import item_path
from tests.web.batch.batch_client import BatchClient
from tests.web.batch.operations import student

RULE = 'ExcludeOnly:<Property name="middleName"/>'
MEDIA_TYPE = "application/vnd.ed-fi.student.part.writable+json"


def middle_names() -> list[str | None]:
    students = Document.objects.filter(resource_type__name="Student").order_by("natural_key")
    return [each.body.get("middleName") for each in students]


def test_what_the_clients_profile_hides_is_kept(api, narrow):
    BatchClient(api.token).results([student(number, middleName="Elena") for number in range(6)])
    client = BatchClient(narrow("Student", RULE).token)

    results = client.results([student(number, firstName="Ida", middleName="Other") for number in range(6)])

    assert [result["status"] for result in results] == [200] * 6
    assert middle_names() == ["Elena"] * 6


def test_operations_name_a_profile_each(api, store):
    store("Part", "Student", read=RULE, write=RULE)
    batch = BatchClient(api.token)
    batch.results([student(number, middleName="Elena") for number in range(6)])

    named = [student(number, middleName="Other") | {"profile": MEDIA_TYPE} for number in range(3)]
    plain = [student(number, middleName="Other") for number in range(3, 6)]
    refused = student(7) | {"profile": MEDIA_TYPE.replace("writable", "readable")}
    results = batch.independent(*named, *plain, refused)

    assert [result["status"] for result in results] == [200] * 6 + [400]
    assert middle_names() == ["Elena"] * 3 + ["Other"] * 3


def test_a_batch_that_fails_does_not_tell_whether_a_guess_equals_a_hidden_member(api, store, client_of) -> None:
    """It is written as a whole by a client that reads a part of it; conditions behind that must not tell."""
    sent = {"studentUniqueId": "604822", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
    path = item_path(api.post("/students", sent))
    store("Names", "Student", read='ExcludeOnly:<Property name="birthDate"/>', write="IncludeAll")
    client = client_of("Names")
    tag = client.get(path)["ETag"]
    newest = "/changeQueries/v1/availableChangeVersions"

    def tried(birth_date: str, condition: str) -> tuple[Any, int]:
        before = api.get(newest).json()["newestChangeVersion"]
        upsert = {"resource": "/ed-fi/students", "document": sent | {"birthDate": birth_date}}
        response = BatchClient(client.token).send([upsert, upsert | {condition: tag}, {"resource": "/ed-fi/students"}])
        failed = [(each["index"], each["status"]) for each in response.json()["failedOperations"]]
        return failed, api.get(newest).json()["newestChangeVersion"] - before

    for condition, failed in (("ifMatch", [(1, 412), (2, 400)]), ("ifNoneMatch", [(2, 400)])):
        equal, different = tried("2010-02-03", condition), tried("2011-11-11", condition)
        assert equal == different
        assert equal[0] == failed
    assert client.get(path)["ETag"] == tag
