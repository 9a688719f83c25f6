"""`verify_integrity` finds every kind of disagreement between rows and bodies."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from edfi_api.core.models import Document, OrganizationClosure, ReachedDocument, ResourceType
from edfi_api.core.storage import database_state, integrity
from edfi_api.features.loading.bulk import Candidate, write_documents
from references.models import Alias, Reference
from tests.support.plans import begin_with_new_tables

ROWS = 2000


@pytest.fixture
def association(api_without_check, documents, resource_named):
    documents.store(resource_named("StudentSchoolAssociation"))
    return Document.objects.get(resource_type__name="StudentSchoolAssociation")


def failure_of_verification(capsys):
    with pytest.raises(CommandError, match=r"^1 disagreement"):
        call_command("verify_integrity")
    return capsys.readouterr().err


def test_documents_written_by_the_api_are_consistent(association, capsys):
    call_command("verify_integrity")

    assert capsys.readouterr().out == f"{Document.objects.count()} documents agree with their rows\n"


def test_a_reference_without_a_row_is_found(association, capsys):
    Reference.objects.filter(document=association, alias__document__natural_key="NK#studentUniqueId=Value").delete()

    assert "1 reference(s) of the body have no row" in failure_of_verification(capsys)


def test_a_row_without_a_reference_is_found(association, capsys):
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO reference (document_id, resource_type_id, alias_id)"
            " SELECT document_id, %s, referential_id FROM alias WHERE document_id = %s",
            [association.resource_type_id, association.pk],
        )

    assert "1 row(s) of references are not in the body" in failure_of_verification(capsys)


def test_a_link_to_another_document_is_found(association, capsys):
    Document.objects.filter(pk=association.pk).update(linked_ids=association.linked_ids[::-1])

    assert "its links do not lead to the targets of its references" in failure_of_verification(capsys)


def test_a_missing_alias_is_found(association, capsys):
    Alias.objects.filter(document=association).delete()

    assert "its aliases are not those of its identity" in failure_of_verification(capsys)


def test_a_wrong_natural_key_is_found(association, capsys):
    ResourceType.objects.filter(pk=association.resource_type_id).update(key_paths=["entryDate"])

    assert f"NK#entryDate=2025-08-20: the body's natural key is {association.natural_key}" in failure_of_verification(
        capsys
    )


@pytest.mark.parametrize(
    ("column", "value"), [("organization", 7), ("student", "Other"), ("namespace", "uri://x"), ("opens_pathway", None)]
)
def test_a_wrong_securable_column_is_found(association, capsys, column, value):
    Document.objects.filter(pk=association.pk).update(**{column: value})

    assert (
        f"the column {column} is {value} instead of the body's {getattr(association, column)}"
        in failure_of_verification(capsys)
    )


def test_a_wrong_organization_closure_is_found(association, capsys):
    school = Document.objects.get(resource_type__name="School").organization
    OrganizationClosure.objects.filter(descendant_id=school).delete()

    assert f"EducationOrganization {school}: organization_closure has other ancestors" in failure_of_verification(
        capsys
    )


def test_a_wrong_person_authorization_row_is_found(association, capsys):
    ReachedDocument.objects.filter(association_id=association.pk).delete()

    assert "Student NK#studentUniqueId=Value: reached_document has other organizations" in failure_of_verification(
        capsys
    )


def test_a_body_without_its_identity_is_found(association, capsys):
    body = {name: value for name, value in association.body.items() if name != "entryDate"}
    Document.objects.filter(pk=association.pk).update(body=body)

    assert "its identity cannot be read: entryDate is required." in failure_of_verification(capsys)


def spell_descriptor(name, code_value, namespace=None):
    """Spell a descriptor as versions before 1.1 did."""
    row = Document.objects.get(resource_type__name=name)
    namespace = namespace or row.body["namespace"]
    Document.objects.filter(pk=row.pk).update(
        body=row.body | {"codeValue": code_value, "namespace": namespace}, namespace=namespace
    )


def test_a_descriptor_spelt_otherwise_than_in_documents_is_found_and_mended(association, capsys):
    before = Document.objects.get(resource_type__name="GradeLevelDescriptor")
    used = association.body["entryGradeLevelDescriptor"]
    spell_descriptor("GradeLevelDescriptor", before.body["codeValue"].upper(), before.body["namespace"].upper())
    loud = f"{before.body['namespace'].upper()}#{before.body['codeValue'].upper()}"

    with pytest.raises(CommandError, match="disagreement"):
        call_command("verify_integrity")
    found = f"$.entryGradeLevelDescriptor is {used}, the key of the descriptor is spelt {loud}"
    assert found in capsys.readouterr().err

    call_command("verify_integrity", mend_spelling=True)

    assert capsys.readouterr().out.startswith("1 descriptor and 0 documents spelt anew\n")
    after = Document.objects.get(pk=before.pk)
    assert (after.body, after.namespace) == (before.body, before.namespace)
    assert after.change_version > before.change_version
    call_command("verify_integrity")


def test_documents_in_two_spellings_get_that_of_the_majority(api_without_check, resource_named, capsys):
    sex = {"namespace": "uri://ed-fi.org/SexDescriptor", "codeValue": "Female", "shortDescription": "Female"}
    required = {"firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
    api_without_check.post("/sexDescriptors", sex)
    for number, code in enumerate(("FEMALE", "Female", "Female")):
        body = required | {"studentUniqueId": str(number), "birthSexDescriptor": f"{sex['namespace']}#Female"}
        assert api_without_check.post("/students", body).status_code == 201
        spelt = body | {"birthSexDescriptor": f"{sex['namespace']}#{code}"}
        Document.objects.filter(body__studentUniqueId=str(number)).update(body=spelt)
    spell_descriptor("SexDescriptor", "FEMALE")

    call_command("verify_integrity", mend_spelling=True)

    assert capsys.readouterr().out.startswith("1 descriptor and 1 document spelt anew\n")
    students = Document.objects.filter(resource_type__name="Student").order_by("id")
    assert {row.body["birthSexDescriptor"] for row in students} == {f"{sex['namespace']}#Female"}
    database_state.forget()
    found = api_without_check.get(f"/students?birthSexDescriptor={sex['namespace']}%23female").json()
    assert len(found) == 3


def test_a_descriptor_in_the_key_of_a_reference_is_compared_too(api_without_check, documents, resource_named, capsys):
    documents.store(resource_named("StudentProgramAssociation"))
    spell_descriptor("ProgramTypeDescriptor", "VALUE")

    with pytest.raises(CommandError):
        call_command("verify_integrity")
    assert "$.programReference.programTypeDescriptor is " in capsys.readouterr().err
    call_command("verify_integrity", mend_spelling=True)


@pytest.fixture
def another_standard(association):
    """Act as after a change to a standard without the resource of the document."""
    ResourceType.objects.filter(pk=association.resource_type_id).update(name="PupilSchoolAssociation")
    database_state.forget()
    yield
    database_state.forget()


def test_documents_of_a_resource_that_is_not_served_are_reported(another_standard, association, capsys):
    report = failure_of_verification(capsys)

    assert (
        f"PupilSchoolAssociation {association.natural_key}: the standard that is served has no such resource" in report
    )


def test_each_row_is_read_once_however_many_batches_there_are(db, resource_named, monkeypatch):
    begin_with_new_tables()
    sex = {"namespace": "uri://ed-fi.org/SexDescriptor", "codeValue": "X", "shortDescription": "X"}
    member = {"birthDate": "2010-01-13", "firstName": "Mae", "lastSurname": "Ortiz"}
    member["birthSexDescriptor"] = "uri://ed-fi.org/SexDescriptor#X"
    students = [member | {"studentUniqueId": str(number)} for number in range(ROWS)]
    for resource, bodies in (("SexDescriptor", [sex]), ("Student", students)):
        list(write_documents(Candidate.of(resource_named(resource), body, "") for body in bodies))
    monkeypatch.setattr(integrity, "_BATCH", ROWS // 20)

    with connection.cursor() as cursor:
        cursor.execute("ANALYZE document, alias, reference")
        before = rows_read(cursor)
        call_command("verify_integrity")
        read = rows_read(cursor)

    assert {table: read[table] - before[table] < 5 * ROWS for table in read} == {"alias": True, "reference": True}


def rows_read(cursor) -> dict[str, int]:
    """Return the rows read in the transaction of the test."""
    cursor.execute(
        "SELECT relname, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables"
        " WHERE relname IN ('alias', 'reference')"
    )
    return dict(cursor.fetchall())
