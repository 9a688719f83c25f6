"""The cascade of a session's new name to its sections, concurrent with writes of a section."""

import pytest

from edfi_api.core.models import Document
from tests.conftest import item_path
from tests.whole.concurrency.concurrently import answer_after, at_once
from tests.whole.concurrency.integrity import assert_integrity


@pytest.fixture
def term(committing_api, documents, resource_named):
    """A session with a course offering and a section below it."""
    section = resource_named("Section")
    documents.store(section)
    return Term(committing_api, documents.minimal_body(resource_named("Session")), documents.minimal_body(section))


class Term:
    def __init__(self, api, session, section):
        self.api, self.session, self.section = api, session, section
        self.path = item_path(api.post("/sessions", session))

    def rename(self, name="New name"):
        return self.api.put(self.path, self.session | {"sessionName": name, "id": self.path.rsplit("/", 1)[1]})

    def post_section(self):
        return self.api.post("/sections", self.section | {"sectionIdentifier": "another"})

    def change_section(self):
        return self.api.post("/sections", self.section | {"sectionName": "changed"})

    def delete_section(self):
        document = Document.objects.get(resource_type__name="Section")
        return self.api.delete(f"/sections/{document.document_uuid}")


PAIRS = [
    ("rename", "post_section", 409, 201),
    ("rename", "change_section", 409, 200),
    ("post_section", "rename", 204, 204),
    ("change_section", "rename", 204, 204),
    ("delete_section", "rename", 204, 204),
    ("rename", "delete_section", 204, 204),
]


@pytest.mark.parametrize("is_committed", [True, False], ids=["committed", "taken back"])
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair[0]}, {pair[1]}")
def test_the_second_request_waits_for_the_first_and_depends_on_its_outcome(term, surface, pair, is_committed):
    first, second, if_committed, if_rolled_back = pair

    answer = answer_after(getattr(term, first), getattr(term, second), is_committed=is_committed)

    assert answer.status_code == (if_committed if is_committed else if_rolled_back), answer.content
    assert_integrity(surface)


def test_many_concurrent_renames_result_in_one_consistent_name(term, surface):
    names = ["New", "Newer", "Newest", "Value"]
    actions = [lambda name=name: term.rename(name) for name in names] + [term.change_section, term.post_section]

    answers = at_once(*actions)

    assert {answer.status_code for answer in answers[:4]} == {204}
    assert {answer.status_code for answer in answers[4:]} <= {200, 201, 409}
    assert_integrity(surface)
    final = term.api.get(term.path).json()["sessionName"]
    sections = Document.objects.filter(resource_type__name="Section").values_list("body", flat=True)
    assert {body["courseOfferingReference"]["sessionName"] for body in sections} == {final}
