"""If-Match prevents lost updates; If-None-Match avoids sending unchanged documents."""

from uuid import uuid4

import pytest

from edfi_api.core.models import Document
from tests.conftest import item_path
from tests.support.factories import STUDENT

STALE = '"0-l"'


@pytest.fixture
def created(api):
    return api.post("/students", STUDENT)


def replacement(path, **changes):
    return STUDENT | {"id": path.rsplit("/", 1)[1]} | changes


@pytest.mark.parametrize("form", ['"{}"', "{}", '"7-l", "{}"', "*"])
def test_a_write_with_the_current_etag_succeeds(api, created, form):
    tag = form.format(created["ETag"].strip('"'))

    response = api.put(item_path(created), replacement(item_path(created), firstName="May"), HTTP_IF_MATCH=tag)

    assert response.status_code == 204
    assert response["ETag"] != created["ETag"]


@pytest.mark.parametrize("tag", [STALE, '"x"', 'W/"{}"', '""', '"9999999999999999999999"'])
def test_a_write_with_another_etag_is_refused_with_412(api, created, tag):
    path, tag = item_path(created), tag.format(created["ETag"].strip('"'))

    put = api.put(path, replacement(path, firstName="May"), HTTP_IF_MATCH=tag)
    post = api.post("/students", STUDENT | {"firstName": "May"}, HTTP_IF_MATCH=tag)
    delete = api.delete(path, HTTP_IF_MATCH=tag)

    for response in (put, post, delete):
        assert response.status_code == 412
        assert response.json()["type"] == "urn:ed-fi:api:optimistic-lock-failed"
        assert response.json()["detail"] == "The item has been modified by another user."
    assert Document.objects.get().body == STUDENT


def test_a_stale_etag_is_refused_even_if_nothing_would_change(api, created):
    assert api.post("/students", STUDENT, HTTP_IF_MATCH=STALE).status_code == 412


def test_a_delete_with_the_current_etag_succeeds(api, created):
    assert api.delete(item_path(created), HTTP_IF_MATCH=created["ETag"]).status_code == 204


@pytest.mark.parametrize(("tag", "status"), [(STALE, 404), ("*", 412)])
def test_if_match_on_a_missing_document_is_412_for_a_star_and_else_404(api, tag, status):
    path = f"/students/{uuid4()}"

    assert api.put(path, replacement(path), HTTP_IF_MATCH=tag).status_code == status
    assert api.delete(path, HTTP_IF_MATCH=tag).status_code == status


@pytest.mark.parametrize("tag", [STALE, "*"])
def test_a_new_document_cannot_match_anything(api, tag):
    response = api.post("/students", STUDENT, HTTP_IF_MATCH=tag)

    assert response.status_code == 412
    assert response.json()["detail"] == "The If-Match precondition failed because the resource does not exist."
    assert not Document.objects.exists()


def test_if_none_match_star_creates_but_never_replaces(api):
    first = api.post("/students", STUDENT, HTTP_IF_NONE_MATCH="*")
    second = api.post("/students", STUDENT | {"firstName": "May"}, HTTP_IF_NONE_MATCH="*")

    assert first.status_code == 201
    assert second.status_code == 412
    assert second.json()["type"] == "urn:ed-fi:api:precondition-failed:if-none-match"
    assert Document.objects.get().body == STUDENT


def test_if_match_takes_precedence_over_if_none_match(api, created):
    headers = {"HTTP_IF_MATCH": created["ETag"], "HTTP_IF_NONE_MATCH": "*"}

    assert api.post("/students", STUDENT | {"firstName": "May"}, **headers).status_code == 200


def test_a_stale_etag_is_reported_before_an_unresolved_reference(api, documents, resource_named):
    resource = resource_named("StudentSchoolAssociation")
    documents.store(resource)
    body = documents.minimal_body(
        resource, calendarReference={"calendarCode": "x", "schoolId": 1008, "schoolYear": 2026}
    )

    assert api.post("/studentSchoolAssociations", body).status_code == 409
    assert api.post("/studentSchoolAssociations", body, HTTP_IF_MATCH=STALE).status_code == 412


@pytest.mark.parametrize("form", ['"{}"', 'W/"{}"', '"7", "{}"', "*"])
def test_a_read_with_the_current_etag_is_304(api, created, form):
    response = api.get(item_path(created), HTTP_IF_NONE_MATCH=form.format(created["ETag"].strip('"')))

    assert response.status_code == 304
    assert response.content == b""
    assert response["ETag"] == created["ETag"]


def test_a_read_with_another_etag_gets_the_document(api, created):
    assert api.get(item_path(created), HTTP_IF_NONE_MATCH=STALE).status_code == 200
    assert api.get(f"/students/{uuid4()}", HTTP_IF_NONE_MATCH="*").status_code == 404
    assert api.get("/students", HTTP_IF_NONE_MATCH="*").status_code == 200
