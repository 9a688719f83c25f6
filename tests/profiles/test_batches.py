"""Writes under a profile in a batch, which are those of single requests."""

from edfi_api.models import Document
from tests.batch.batch_client import BatchClient
from tests.batch.operations import student

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
