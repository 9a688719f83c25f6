"""What pages call resources, for people who do not know the names of the API."""

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.core.models import Document
from edfi_api.core.security.models import ResourceClaim
from edfi_api.web.admin_kit.kinds import Kind, _read_file, check_own_words, claim_in_words, kind_at, kind_in_words
from tests.support.admin_users import client_of

LIST = "/admin/edfi_api/document/"


@pytest.fixture
def steward(db):
    return client_of(User.objects.create(username="steward", is_staff=True, is_superuser=True))


@pytest.fixture
def enrolment(api, documents, resource_named):
    documents.store(resource_named("StudentSchoolAssociation"))
    return Document.objects.select_related("resource_type").get(resource_type__name="StudentSchoolAssociation")


@pytest.fixture
def own_words(settings, tmp_path: Path):
    def named(text: str) -> Path:
        file = tmp_path / "words.toml"
        file.write_text(text)
        settings.EDFI_API = {**settings.EDFI_API, "KIND_WORDS": str(file)}
        return file

    return named


@pytest.mark.parametrize(
    ("name", "one", "several"),
    [
        ("StudentSchoolAssociation", "Enrolment", "Enrolments"),
        ("Staff", "Staff member", "Staff"),
        ("CourseOffering", "Course offering", "Course offerings"),
        ("Person", "Person", "People"),
        ("LocalEducationAgency", "Local education agency", "Local education agencies"),
        ("StudentIEPGoal", "Student IEP goal", "Student IEP goals"),
        ("Section504Plan", "Section 504 plan", "Section 504 plans"),
        ("GradeLevelDescriptor", "Grade level descriptor", "Grade level descriptors"),
    ],
)
def test_a_resource_has_words_of_its_own_or_those_of_its_name(name: str, one: str, several: str) -> None:
    assert kind_in_words(name) == (one, several)


def test_in_a_sentence_only_acronyms_keep_their_capitals() -> None:
    assert [kind_in_words(name).in_a_sentence for name in ("StudentSchoolAssociation", "IDEAEvent")] == [
        "enrolment",
        "IDEA event",
    ]


def test_a_resource_is_known_by_its_path_and_what_is_not_served_by_its_last_segment() -> None:
    assert kind_at("/ed-fi/studentSchoolAssociations") == ("Enrolment", "Enrolments")
    assert kind_at("/elsewhere/busRoutes") == ("Bus routes", "Bus routes")
    assert kind_at("") == ("", "")


def test_a_claim_has_the_words_of_its_resource_and_a_domain_has_none() -> None:
    assert claim_in_words("ed-fi/studentSchoolAssociation") == "Enrolments"
    assert claim_in_words("elsewhere/busRoute") == "Bus routes"
    assert claim_in_words("domains/people") == claim_in_words("services/identity") == ""


def test_all_words_are_of_resources_of_a_bundled_standard() -> None:
    known = {path.stem for path in BUNDLED_STANDARDS.rglob("*.metaed")} | {"SchoolYearType"}

    assert _read_file(BUNDLED_STANDARDS / "words.toml").keys() - known == set()


def test_pages_of_documents_have_words_in_place_of_names(steward, enrolment) -> None:
    listed = steward.get(LIST).content.decode()
    page = steward.get(f"{LIST}{enrolment.pk}/change/").content.decode()
    by_kind = steward.get(f"{LIST}by-kind/").content.decode()

    assert '<td class="field-kind">Enrolment</td>' in listed
    assert "StudentSchoolAssociation" not in listed
    assert "<h1>Enrolment</h1>" in page
    assert ">Enrolments<" in by_kind


def test_claims_and_the_page_of_refused_writes_have_words_beside_names(steward, settings) -> None:
    claim = ResourceClaim.objects.get(name="ed-fi/studentSchoolAssociation")
    claims = steward.get("/admin/security/resourceclaim/?q=studentSchoolAssociation").content.decode()
    tree = steward.get("/admin/security/resourceclaim/tree/").content.decode()
    [line] = re.findall(rf'resourceclaim/{claim.pk}/change/">(.*)', tree)
    settings.EDFI_API = {**settings.EDFI_API, "WRITE_RECORDER": "edfi_api.features.refusals.recorder.Recorder"}
    page = steward.get("/submissions").content.decode()

    assert '<td class="field-kind">Enrolments</td>' in claims
    assert line == 'ed-fi/studentSchoolAssociation</a> <span class="quiet">Enrolments</span>'
    assert '"/ed-fi/studentSchoolAssociations": ["StudentSchoolAssociation", "Enrolment", "Enrolments"]' in page


def test_an_operator_names_what_extensions_have(own_words) -> None:
    own_words('BusRoute = ["Bus line", "Bus lines"]\nStudentSchoolAssociation = "Enrollment"\n')

    assert kind_in_words("BusRoute") == ("Bus line", "Bus lines")
    assert kind_in_words("StudentSchoolAssociation") == Kind("Enrollment", "Enrollments")
    assert kind_in_words("Staff") == ("Staff member", "Staff")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("BusRoute = ", ": not TOML: Invalid value"),
        ("BusRoute = 7", ": BusRoute has to be a text, or a list of two: for one document, and for several"),
        ('BusRoute = ["Bus line"]', ": BusRoute has to be a text, or a list of two"),
        ('BusRoute = ""', ": BusRoute has to be a text, or a list of two"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error_of_the_check(own_words, text: str, problem: str) -> None:
    file = own_words(text)

    with pytest.raises(ImproperlyConfigured, match=re.escape(str(file)) + ".*" + re.escape(problem)):
        check_own_words()
