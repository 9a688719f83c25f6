"""Rules, runs and results in the admin."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.utils import timezone

from edfi_api.core.models import Document
from tests.conftest import ApiTestClient
from tests.features.validation.api import RULES
from tests.features.validation.conftest import student
from tests.features.validation.rules import EACH, PAIRS, STUDENTS, write

ADMIN = "/admin/validation"
# Whether the only result is found.
FILTERS = {"q=1": True, "q=2": False, "organization=1": True, "organization=2": False, "state=resolved": False}
REFUSED = {
    '{"day": "1"}': "There is no parameter day.",
    '{"days": "x"}': "is not a value of the parameter days",
    "[1]": "An object of texts is needed.",
}


@pytest.fixture
def admin_client(rules, committing_api) -> Client:
    """After a run that found a violation."""
    text = STUDENTS.replace("[incremental]", '[parameters]\ndays = {type = "integer", default = 1}\n[incremental]')
    rules.write("s1.sql", text.replace("WHERE NOT", "WHERE :days > 0 AND NOT"))
    student(committing_api, "1")
    rules.run()
    client = Client()
    client.force_login(User.objects.create_superuser("administrator"))
    return client


def test_results_link_to_their_documents(admin_client, rows) -> None:
    listed = admin_client.get(f"{ADMIN}/validationresult/").content.decode()
    [(number,)] = rows("SELECT id FROM validation_result")
    page = admin_client.get(f"{ADMIN}/validationresult/{number}/change/").content.decode()

    assert ">studentUniqueId=1<" in listed
    assert f'href="{ADMIN}/validationresult/overview/"' in listed
    assert f"/admin/edfi_api/document/{Document.objects.get(natural_key='NK#studentUniqueId=1').pk}/change/" in page
    for query, is_there in FILTERS.items():
        found = admin_client.get(f"{ADMIN}/validationresult/?{query}").content.decode()
        assert (">studentUniqueId=1<" in found) == is_there, query


def test_looks_at_results_are_audited(admin_client, rows, log) -> None:
    [(number,)] = rows("SELECT id FROM validation_result")
    stranger = Client()
    stranger.force_login(User.objects.create_user("stranger", is_staff=True))
    for path in ("", f"{number}/change/"):
        assert stranger.get(f"{ADMIN}/validationresult/{path}").status_code == 403
        assert admin_client.get(f"{ADMIN}/validationresult/{path}").status_code == 200

    looks = [line for line in log.of("meadowlark.audit") if line["event"].startswith("validation result")]

    assert [(line["event"], line["by"], line.get("result")) for line in looks] == [
        ("validation results listed", "administrator", None),
        ("validation result shown", "administrator", str(number)),
    ]


def test_the_page_of_a_document_has_its_open_results(admin_client, rules, committing_api) -> None:
    document = Document.objects.get(natural_key="NK#studentUniqueId=1")
    address = f"/admin/edfi_api/document/{document.pk}/change/"
    assert 'no middle name <span class="quiet">open</span>' in admin_client.get(address).content.decode()

    student(committing_api, "1", middleName="Ann")
    rules.run()

    assert 'no middle name <span class="quiet">resolved' in admin_client.get(address).content.decode()


def test_runs_show_their_rules(admin_client, rows) -> None:
    [(number, identifier)] = rows("SELECT id, run_identifier FROM validation_run")

    assert identifier in admin_client.get(f"{ADMIN}/validationrun/").content.decode()
    page = admin_client.get(f"{ADMIN}/validationrun/{number}/change/").content.decode()
    assert "tests/S-1: published (first run), full" in page


def test_a_rule_is_switched_off_and_its_parameters_set(admin_client, rules, committing_api, rows, log) -> None:
    [(number,)] = rows("SELECT id FROM validation_rule")
    address = f"{ADMIN}/validationrule/{number}/change/"
    assert "1 found, 1 appeared" in admin_client.get(address).content.decode()

    for parameters, message in REFUSED.items():
        refused = admin_client.post(address, {"parameters": parameters})
        assert message in refused.content.decode()
    assert admin_client.post(address, {"parameters": '{"days": "0"}'}).status_code == 302
    rules.run()
    assert rows("SELECT count(*) FROM validation_result WHERE resolved_at IS NULL") == [(0,)]
    assert admin_client.post(address, {"is_switched_off": "on", "parameters": "{}"}).status_code == 302
    rules.run()

    last = "SELECT count(*) FROM validation_run_rule WHERE run_id = (SELECT max(id) FROM validation_run)"
    assert rows(last) == [(0,)]
    assert any(line["event"] == "rule changed" for line in log.of("meadowlark.audit"))


def test_a_rule_that_is_not_active_in_its_file_is_switched_on(admin_client, rules, committing_api, rows, log) -> None:
    rules.write("s1.sql", STUDENTS.replace("S-1", "S-2").replace("short =", "active = false\nshort ="))
    rules.run()
    [(number,)] = rows("SELECT id FROM validation_rule WHERE identifier = 'S-2'")
    address = f"{ADMIN}/validationrule/{number}/change/"
    assert "inactive" in admin_client.get(address).content.decode()
    assert status(committing_api, "S-2") == "Inactive"
    both = {"is_switched_on": "on", "is_switched_off": "on", "parameters": "{}"}
    assert "cannot be switched both off and on" in admin_client.post(address, both).content.decode()

    assert admin_client.post(address, {"is_switched_on": "on", "parameters": "{}"}).status_code == 302
    rules.run()

    assert "switched on" in admin_client.get(address).content.decode()
    assert status(committing_api, "S-2") == "Active"
    assert rows("SELECT rule_id FROM validation_result WHERE resolved_at IS NULL") == [(number,)]
    [changed] = [line["changed"] for line in log.audit if line["event"] == "rule changed"]
    assert str(changed).startswith("is_switched_on")
    assert admin_client.post(address, {"parameters": "{}"}).status_code == 302
    rules.run()
    assert rows("SELECT count(*) FROM validation_result WHERE resolved_at IS NULL") == [(0,)]
    assert status(committing_api, "S-2") == "Inactive"


def status(api: ApiTestClient, rule: str) -> str:
    [found] = api.get(f"{RULES}?ruleIdentifier={rule}").json()
    return str(found["ruleStatusDescriptor"]).partition("#")[2]


def test_a_switch_changes_the_etag_of_the_rule(admin_client, committing_api, rows) -> None:
    [before] = committing_api.get(RULES).json()
    [(number,)] = rows("SELECT id FROM validation_rule")
    address = f"{ADMIN}/validationrule/{number}/change/"

    admin_client.post(address, {"is_switched_off": "on", "parameters": "{}"})

    [after] = committing_api.get(RULES).json()
    assert after["ruleStatusDescriptor"] != before["ruleStatusDescriptor"]
    assert after["_etag"] != before["_etag"] and after["_lastModifiedDate"] > before["_lastModifiedDate"]


def test_results_link_to_their_other_documents(rules, committing_api, enroll, rows) -> None:
    enroll("C", 77)
    gone = enroll("C", 88)
    write(rules, "R-1", PAIRS)
    rules.run()
    others = "SELECT r.id, d.id FROM validation_result r JOIN document d ON d.document_uuid = r.other_documents[1]"
    [(number, other)] = rows(f"{others} WHERE r.organization = 77")
    client = Client()
    client.force_login(User.objects.create_superuser("administrator"))
    address = f"{ADMIN}/validationresult/{number}/change/"

    assert f'href="/admin/edfi_api/document/{other}/change/">' in client.get(address).content.decode()
    assert committing_api.delete(gone).status_code == 204
    assert f"/admin/edfi_api/document/{other}/" not in client.get(address).content.decode()


def test_results_are_filtered_by_the_day_on_which_they_appeared(admin_client) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE validation_result SET appeared_at = '2026-03-02 12:00+00'")
    for query, is_there in {
        "appeared_at__gte=2026-03-02T00:00Z&appeared_at__lt=2026-03-03T00:00Z": True,
        "appeared_at__gte=2026-03-03T00:00Z": False,
        "appeared_at__lt=2026-03-02T00:00Z": False,
    }.items():
        answer = admin_client.get(f"{ADMIN}/validationresult/?{query}")
        assert answer.status_code == 200, answer["Location"]
        assert (">studentUniqueId=1<" in answer.content.decode()) == is_there, query
        assert "Appeared at" in answer.content.decode()


@pytest.fixture
def agency(committing_api, documents, resource_named) -> int:
    """The id of a local education agency."""
    documents.store(resource_named("LocalEducationAgency"))
    return int(committing_api.get("/localEducationAgencies").json()[0]["localEducationAgencyId"])


def test_the_same_finding_in_many_documents_is_one_line_of_a_page(rules, committing_api, enroll, rows) -> None:
    for name in ("A", "B", "C"):
        enroll(name, 77)
    write(rules, "R-1", EACH)
    rules.run()
    client = Client()
    client.force_login(User.objects.create_superuser("administrator"))
    row = Document.objects.get(natural_key="NK#schoolId=77").pk

    page = client.get(f"/admin/edfi_api/document/{row}/change/").content.decode()
    [address] = re.findall(r'<a href="([^"]+)">and 2 more like it</a>', page)

    assert page.partition('id="problems"')[2].partition("</section>")[0].count("<li>") == 1
    assert "3 validation results" in client.get(unescape(address)).content.decode()


def test_the_overview_counts_by_rule_and_organization_and_links_to_the_results(
    rules, committing_api, enroll, rows, agency
) -> None:
    for name, school in (("A", 77), ("B", 77), ("C", 78)):
        enroll(name, school)
    for id_ in (77, 78):
        found = committing_api.get(f"/schools?schoolId={id_}").json()[0]
        body = found | {"localEducationAgencyReference": {"localEducationAgencyId": agency}}
        assert committing_api.put(f"/schools/{found['id']}", body).status_code == 204
    write(rules, "R-1", EACH)
    rules.run()
    client = Client()
    client.force_login(User.objects.create_superuser("administrator"))
    [(rule,)] = rows("SELECT id FROM validation_rule")

    by_school = client.get(f"{ADMIN}/validationresult/overview/").content.decode()
    by_agency = client.get(f"{ADMIN}/validationresult/overview/?by=LocalEducationAgency").content.decode()

    page_of_school = f"/admin/edfi_api/document/{Document.objects.get(hierarchy__0=78).pk}/change/"
    of_school = client.get(page_of_school).content.decode()
    assert of_school.partition('id="problems"')[2].partition("</section>")[0].count(">open</span>") == 1
    link = f'<a href="{ADMIN}/validationresult/?rule__id__exact={rule}&amp;organization='
    assert f'{link}77">2</a>' in by_school and f'{link}78">1</a>' in by_school
    assert f'{link}{agency}">3</a>' in by_agency and f"{link}77" not in by_agency
    assert '<td class="number">1</td><td class="number">3</td><td class="number">0</td>' in by_school
    listed = client.get(f"{ADMIN}/validationresult/?rule__id__exact={rule}&organization={agency}")
    assert listed.context["cl"].result_count == 3


def test_the_overview_needs_the_permission_for_results(admin_client) -> None:
    stranger = Client()
    stranger.force_login(User.objects.create_user("stranger", is_staff=True))

    assert stranger.get(f"{ADMIN}/validationresult/overview/").status_code == 403
    assert stranger.get(f"{ADMIN}/validationresult/").status_code == 403


def test_open_results_are_counted_as_they_are(rules, committing_api, rows) -> None:
    rules.write("s1.sql", STUDENTS)
    paths = [student(committing_api, str(number)) for number in range(4)]
    rules.run()
    student(committing_api, "1", middleName="Ann")
    rules.run()
    committing_api.delete(paths[2])
    rules.run()
    student(committing_api, "1")
    rules.run()

    assert rows("SELECT organization, entries FROM open_validation_results") == [(1, 3)]
    assert rows("SELECT count(*) FROM validation_result WHERE resolved_at IS NULL") == [(3,)]
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM validation_result WHERE natural_key = 'NK#studentUniqueId=3'")
    assert rows("SELECT entries FROM open_validation_results") == [(2,)]


def test_a_result_is_dismissed_until_a_day(admin_client, rows, log) -> None:
    [(number,)] = rows("SELECT id FROM validation_result")
    page = f"{ADMIN}/validationresult/{number}/dismiss/"
    until = (timezone.localdate() + timedelta(days=30)).isoformat()
    assert f'href="{page}"' in admin_client.get(f"{ADMIN}/validationresult/{number}/change/").content.decode()

    answer = admin_client.post(page, {"reason": "The student moved.", "until": until}, follow=True)

    assert f"until {until} by administrator" in answer.content.decode()
    document = Document.objects.get(natural_key="NK#studentUniqueId=1")
    of_document = admin_client.get(f"/admin/edfi_api/document/{document.pk}/change/").content.decode()
    assert "No finding about it is open after the validation of <time" in of_document
    dismissed = of_document.partition('<details class="module" id="results">')[2].partition("</details>")[0]
    assert f'no middle name <span class="quiet">dismissed until {until}</span>' in dismissed
    overview = admin_client.get(f"{ADMIN}/validationresult/overview/").content.decode()
    assert "Nothing is open." in overview and '<td class="number">0</td>' in overview
    listed = {state: admin_client.get(f"{ADMIN}/validationresult/?state={state}") for state in ("open", "dismissed")}
    assert [">studentUniqueId=1<" in each.content.decode() for each in listed.values()] == [False, True]
    of_rules = admin_client.get(f"{ADMIN}/validationrule/").content.decode()
    assert "rule__id__exact=" in of_rules and '">1</a>' not in of_rules
    assert "validation result dismissed" in [line["event"] for line in log.of("meadowlark.audit")]

    with connection.cursor() as cursor:
        cursor.execute("UPDATE validation_dismissal SET until = current_date - 1")
    assert ">studentUniqueId=1<" in admin_client.get(f"{ADMIN}/validationresult/").content.decode()


@pytest.mark.parametrize(
    "form", [{"reason": "", "until": "2999-01-01"}, {"reason": "x", "until": "2020-01-01"}, {"reason": "x"}]
)
def test_a_dismissal_needs_a_reason_and_a_day_within_a_year(admin_client, rows, form) -> None:
    [(number,)] = rows("SELECT id FROM validation_result")

    answer = admin_client.post(f"{ADMIN}/validationresult/{number}/dismiss/", form)

    assert answer.status_code == 200
    assert rows("SELECT count(*) FROM validation_dismissal") == [(0,)]


def test_dismissing_needs_a_permission(admin_client, rows) -> None:
    [(number,)] = rows("SELECT id FROM validation_result")
    reader = Client()
    user = User.objects.create_user("reader", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_validationresult"))
    reader.force_login(user)

    assert reader.get(f"{ADMIN}/validationresult/{number}/dismiss/").status_code == 403
    assert "/dismiss/" not in reader.get(f"{ADMIN}/validationresult/{number}/change/").content.decode()


def test_the_document_of_a_result_has_the_values_marked(admin_client, rows) -> None:
    [(number,)] = rows("SELECT id FROM validation_result")
    with connection.cursor() as cursor:
        cursor.execute("""UPDATE validation_result SET context = '{"first": "Mae"}'""")
    page = admin_client.get(f"{ADMIN}/validationresult/{number}/change/").content.decode()
    [address] = re.findall(r'href="(/admin/edfi_api/document/\d+/change/\?mark=Mae)#marked"', page)
    document = admin_client.get(address).content.decode()

    assert "<mark>  &quot;firstName&quot;: &quot;Mae&quot;,</mark>" in document
    assert '<tr><th scope="row">First name</th><td><mark id="marked">Mae</mark></td></tr>' in document
    assert document.count('id="marked"') == 1


def test_the_overview_counts_by_rule(admin_client) -> None:
    page = admin_client.get(f"{ADMIN}/validationresult/overview/").content.decode()
    table = page.partition("<caption>By rule</caption>")[2].partition("</table>")[0]

    assert re.findall(r'class="number">(?:<a[^>]*>)?(\d+)', table) == ["1", "1", "0"]
