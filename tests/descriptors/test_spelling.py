"""A stored descriptor keeps the spelling of its key, whoever writes it again in another case, and by whatever way."""

import csv
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.management import call_command
from django.db import connections

from edfi_api.core.models import Document
from edfi_api.core.storage import store
from edfi_api.core.storage.write_requests import WriteRequest
from edfi_api.features.changes.change_queries import restoring
from edfi_api.features.loading.bulk import Candidate, bulk_writer
from edfi_api.features.loading.bulk.candidates import PreservedFields
from edfi_api.features.loading.bulk.dry_run import AcceptedDocuments
from tests.conftest import ApiTestClient, item_path, new_token
from tests.support.databases import DOCUMENTS
from tests.support.factories import STORED_URIS
from tests.web.batch.batch_client import BatchClient

NAMESPACE = "uri://lakeside.example/ProgramTypeDescriptor"
CHESS = {"namespace": NAMESPACE, "codeValue": "Chess", "shortDescription": "Chess"}
LOUD = {
    "namespace": "URI://Lakeside.example/programTYPEDescriptor",
    "codeValue": "CHESS",
    "shortDescription": "Chess, again",
}
KEPT = CHESS | {"shortDescription": "Chess, again"}
XML = """<?xml version="1.0" encoding="UTF-8"?>
<InterchangeDescriptors xmlns="http://ed-fi.org/5.2.0">
<ProgramTypeDescriptor><CodeValue>{codeValue}</CodeValue><ShortDescription>{shortDescription}</ShortDescription>
<Namespace>{namespace}</Namespace></ProgramTypeDescriptor>
</InterchangeDescriptors>
"""


@pytest.fixture
def chess(api) -> str:
    """The path of the descriptor, which a program uses."""
    path = item_path(api.post("/programTypeDescriptors", CHESS))
    for name, code in (("EducationOrganizationCategory", "School"), ("GradeLevel", "Ninth grade")):
        body = {"namespace": f"uri://ed-fi.org/{name}Descriptor", "codeValue": code, "shortDescription": code}
        api.post(f"/{name[0].lower()}{name[1:]}Descriptors", body)
    school = {
        "schoolId": 1,
        "nameOfInstitution": "Lakeside",
        "educationOrganizationCategories": [
            {
                "educationOrganizationCategoryDescriptor": "uri://ed-fi.org/EducationOrganizationCategoryDescriptor#School"
            }
        ],
        "gradeLevels": [{"gradeLevelDescriptor": "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade"}],
    }
    assert api.post("/schools", school).status_code == 201
    program = {
        "programName": "Chess club",
        "programTypeDescriptor": f"{NAMESPACE}#chess",
        "educationOrganizationReference": {"educationOrganizationId": 1},
    }
    assert api.post("/programs", program).status_code == 201
    return path


def descriptors() -> list[dict]:
    rows = Document.objects.using(DOCUMENTS).filter(resource_type__name="ProgramTypeDescriptor").order_by("id")
    return [row.body for row in rows]


def post(api, path, folder):
    assert api.post("/programTypeDescriptors", LOUD).status_code == 200


def put(api, path, folder):
    assert api.put(path, LOUD | {"id": path.rsplit("/", 1)[1]}).status_code == 204


def _batch(api, *operations, **options):
    results = BatchClient(api.token).results(list(operations), **options)
    assert [each["status"] for each in results] == [200] * len(operations)


def _upsert(body):
    return {"op": "upsert", "resource": "/ed-fi/programTypeDescriptors", "document": body}


def single_of_a_batch(api, path, folder):
    _batch(api, _upsert(LOUD), mode="independent")


def set_of_a_batch(api, path, folder):
    api.post("/programTypeDescriptors", CHESS | {"codeValue": "Go", "shortDescription": "?"})
    go = CHESS | {"codeValue": "GO", "shortDescription": "Go"}
    _batch(api, _upsert(LOUD), _upsert(go), mode="independent")
    api.delete(item_path(api.post("/programTypeDescriptors", go)))


def batch_as_a_whole(api, path, folder):
    _batch(api, _upsert(LOUD | {"shortDescription": "?"}), _upsert(LOUD), mode="atomic")


def update_in_a_batch(api, path, folder):
    update = {"op": "update", "resource": "/ed-fi/programTypeDescriptors", "document": LOUD}
    update["naturalKey"] = {"namespace": LOUD["namespace"], "codeValue": LOUD["codeValue"]}
    results = BatchClient(api.token).results([update, update], mode="independent")
    assert [each["status"] for each in results] == [204, 204]


def load_of_json_lines(api, path, folder):
    (folder / "ed-fi.programTypeDescriptors.jsonl").write_text(json.dumps(LOUD))
    call_command("load_documents", str(folder))


def load_of_csv(api, path, folder):
    with (folder / "programTypeDescriptors.csv").open("w", newline="") as file:
        csv.writer(file).writerows([LOUD.keys(), LOUD.values()])
    call_command("load_documents", str(folder))


def load_of_xml(api, path, folder):
    (folder / "Descriptors.xml").write_text(XML.format(**LOUD))
    call_command("load_interchange", str(folder))


def load_of_descriptors(api, path, folder):
    (folder / "Descriptors.xml").write_text(XML.format(**LOUD))
    call_command("load_descriptors", str(folder))


@pytest.mark.parametrize(
    "write",
    [
        post,
        put,
        single_of_a_batch,
        set_of_a_batch,
        batch_as_a_whole,
        update_in_a_batch,
        load_of_json_lines,
        load_of_csv,
        load_of_xml,
        load_of_descriptors,
    ],
    ids=lambda write: write.__name__,
)
def test_a_descriptor_keeps_the_spelling_of_its_key(api, chess, tmp_path, write) -> None:
    write(api, chess, tmp_path)

    assert descriptors() == [KEPT]
    assert Document.objects.using(DOCUMENTS).get(body=KEPT).namespace == NAMESPACE
    found = api.get("/programs?programTypeDescriptor=uri://lakeside.example/ProgramTypeDescriptor%23CHESS").json()
    assert [each["programTypeDescriptor"] for each in found] == [f"{NAMESPACE}#Chess"]

    version = api.get(chess)["ETag"]
    write(api, chess, tmp_path)
    assert api.get(chess)["ETag"] == version or write is batch_as_a_whole  # Which changes it twice.


def test_a_load_that_spells_a_new_key_in_two_ways_keeps_the_first(api, tmp_path, capsys) -> None:
    lines = "\n".join(json.dumps(each) for each in (CHESS, LOUD, CHESS | {"codeValue": "cHESS"}))
    (tmp_path / "ed-fi.programTypeDescriptors.jsonl").write_text(lines)

    call_command("load_documents", str(tmp_path), dry_run=True)
    assert capsys.readouterr().out.splitlines()[1].split() == ["ProgramTypeDescriptor", "1", "0", "2", "0"]
    call_command("load_documents", str(tmp_path))

    assert descriptors() == [CHESS]


def test_a_dry_run_finds_unchanged_what_differs_in_the_case_of_the_key_only(api, chess, tmp_path, capsys) -> None:
    (tmp_path / "ed-fi.programTypeDescriptors.jsonl").write_text(json.dumps(LOUD | {"shortDescription": "Chess"}))

    call_command("load_documents", str(tmp_path), dry_run=True)

    assert capsys.readouterr().out.splitlines()[1].split() == ["ProgramTypeDescriptor", "0", "0", "1", "0"]


def test_a_dry_run_accepts_a_new_descriptor_with_its_key(api, resource_named) -> None:
    candidate = Candidate.of(resource_named("ProgramTypeDescriptor"), CHESS, "")

    with AcceptedDocuments() as accepted, bulk_writer(DOCUMENTS, processes=0, dry_run=accepted) as writer:
        [written] = writer.write([candidate])
        body = accepted.body(written.aliases[0])

    assert json.loads(body or "") == CHESS


def test_an_import_keeps_the_spelling_and_gives_the_envelope(api, chess, resource_named) -> None:
    envelope = {"created": "2020-01-01T00:00:00Z", "modified": "2021-01-01T00:00:00Z"}
    body = LOUD | {"id": "3f0a9e5e1f4b4f7fb7a1d4c26a0e3a11", "_envelope": envelope}
    candidate = Candidate.of(resource_named("ProgramTypeDescriptor"), body, "")

    with bulk_writer(DOCUMENTS, processes=0, preserved=PreservedFields.ENVELOPES) as writer:
        outcomes = [written.result for _ in range(2) for written in writer.write([candidate])]

    assert [str(each) for each in outcomes] == ["updated", "unchanged"]
    assert descriptors() == [KEPT]
    assert str(Document.objects.using(DOCUMENTS).get(body=KEPT).last_modified_at) == "2021-01-01 00:00:00+00:00"


def test_an_earlier_version_is_restored_in_the_stored_spelling(api, chess, resource_named) -> None:
    """That of a version which an older release had spelt anew."""
    row = Document.objects.using(DOCUMENTS).get(body=CHESS)
    Document.objects.using(DOCUMENTS).filter(pk=row.pk).update(body=LOUD, namespace=LOUD["namespace"])
    loud = Document.objects.using(DOCUMENTS).get(pk=row.pk)
    Document.objects.using(DOCUMENTS).filter(pk=row.pk).update(body=CHESS, namespace=NAMESPACE)

    restoring.restore_version(
        resource_named("ProgramTypeDescriptor"), row.document_uuid, loud.change_version, using=DOCUMENTS
    )

    assert descriptors() == [KEPT]


def test_nobody_locks_the_owner_of_a_namespace_out(api, chess) -> None:
    owner = ApiTestClient(new_token("owner", namespace_prefixes=["uri://lakeside.example"]))
    zoom = {"namespace": "uri://lakeside.example/AccommodationDescriptor", "codeValue": "Z", "shortDescription": "Zoom"}
    other = zoom | {"namespace": "URI://Lakeside.example/AccommodationDescriptor", "shortDescription": "Other"}
    path = item_path(owner.post("/accommodationDescriptors", zoom))

    assert api.post("/accommodationDescriptors", other).status_code == 200
    assert owner.get(path).json()["namespace"] == zoom["namespace"]
    assert owner.post("/accommodationDescriptors", other).status_code == 200
    assert owner.put(path, zoom | {"id": path.rsplit("/", 1)[1], "shortDescription": "Mine"}).status_code == 204


def test_the_same_in_another_case_changes_nothing(api, chess) -> None:
    first = api.get(chess)["ETag"]

    assert api.post("/programTypeDescriptors", LOUD | {"shortDescription": "Chess"})["ETag"] == first
    put = api.put(chess, LOUD | {"shortDescription": "Chess", "id": chess.rsplit("/", 1)[1]}, HTTP_IF_MATCH=first)
    assert (put.status_code, put["ETag"]) == (204, first)


@pytest.mark.parametrize(
    ("stored", "sent", "is_same"),
    [
        ("Straße", "STRAẞE", True),
        ("Straße", "STRASSE", False),
        ("İzmir", "i̇zmir", True),
        ("İzmir", "izmir", False),
        ("ﬁrst", "FIRST", False),
        ("ﬁrst", "ﬁRST", True),
        ("ÉCOLE", "école", True),
        ("Дети", "ДЕТИ", True),
    ],
)
def test_case_is_that_of_unicode_one_character_for_each(api, stored, sent, is_same) -> None:
    path = item_path(api.post("/programTypeDescriptors", CHESS | {"codeValue": stored}))

    response = api.post("/programTypeDescriptors", CHESS | {"codeValue": sent})

    assert response.status_code == (200 if is_same else 201)
    assert api.get(path).json()["codeValue"] == stored
    query = f"/programTypeDescriptors?codeValue={stored}"
    assert len(api.get(query).json()) == 1


def test_those_who_create_a_descriptor_at_once_leave_one_spelling(committing_api, resource_named, validators) -> None:
    """And none changes what another one has written."""
    validator = validators[resource_named("ProgramTypeDescriptor").name]
    spellings = ["Chess", "CHESS", "chess", "cHess"]

    def write(code: str) -> str:
        try:
            incoming = validator.validate(CHESS | {"codeValue": code}, STORED_URIS)
            return store.upsert(WriteRequest(incoming, using=DOCUMENTS)).outcome
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(spellings)) as pool:
        outcomes = sorted(pool.map(write, spellings * 3))

    assert outcomes == ["inserted", *["unchanged"] * 11]
