"""What each of the groups that `migrate` makes can see and do in the admin."""

import re
from datetime import UTC, datetime
from uuid import UUID

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.core.management import call_command
from django.db import connection
from oauth2_provider.models import get_access_token_model

from edfi_api.core.data_stores.models import DataStore, Tenant
from edfi_api.core.models import Document
from edfi_api.core.security.admin_groups import complete_groups, make_groups
from edfi_api.core.security.models import ApiClient, Application, ClaimSet, Grant, ResourceClaim, Vendor
from edfi_api.core.security.profiles.models import Profile
from edfi_api.features.changes.change_queries.models import ChangeConsumer, DeletedDocument
from edfi_api.features.changes.change_stream.models import DeadLetter
from edfi_api.features.exchange.models import Connection
from edfi_api.features.questions.models import Question, QuestionProfile, QuestionReader
from edfi_api.features.refusals.models import Refusal
from edfi_api.features.sql_views.models import SqlReader
from edfi_api.features.validation.models import ValidationRule, ValidationRun
from edfi_api.site.sign_in.models import AdminIdentity
from tests.support.admin_users import client_of, member
from tests.support.factories import STUDENT

KEY = "NK#studentUniqueId=Secret-604822"
ALL = "view add change delete"
# What each group can do on the pages of each model; actions of lists with a plus sign.
TABLE = {
    #                                  operator                  steward                             auditor
    "auth/group":                      ("",                      "",                                 "view"),
    "auth/user":                       ("",                      "",                                 "view"),
    "change_queries/changeconsumer":   ("view delete +delete_selected", "view",                      "view"),
    "change_queries/deleteddocument":  ("",                      "view +restore",                    ""),
    "change_stream/deadletter":        ("view delete +deliver_again +delete_selected",
                                        "view delete +deliver_again +delete_selected",               "view"),
    "data_stores/datastore":           (ALL,                     "",                                 "view"),
    "data_stores/tenant":              (ALL,                     "",                                 "view"),
    "descriptors/descriptor":          ("view",                  "view",                             "view"),
    "edfi_api/document":               ("",                      "view delete +delete_selected",     ""),
    "exchange/connection":             (f"{ALL} +delete_selected +follow +stop_following", "",          "view"),
    "oauth2_provider/accesstoken":     ("view delete +delete_selected", "",                          "view"),
    "oauth2_provider/grant":           ("",                      "",                                 ""),
    "oauth2_provider/idtoken":         ("",                      "",                                 ""),
    "oauth2_provider/refreshtoken":    ("",                      "",                                 ""),
    "profiles/profile":                (ALL,                     "view",                             "view"),
    "questions/question":              ("",                      "view",                             ""),
    "questions/questionprofile":       (ALL,                     "",                                 "view"),
    "questions/questionreader":        ("view add change",       "",                                 "view"),
    "refusals/refusal":                ("view +send_again",      "view +export_csv",                 "view"),
    "security/apiclient":              ("view add change +disable", "view",                          "view"),
    "security/application":            (ALL,                     "view",                             "view"),
    "security/claimset":               (ALL,                     "",                                 "view"),
    "security/grant":                  (ALL,                     "",                                 "view"),
    "security/resourceclaim":          (ALL,                     "",                                 "view"),
    "security/vendor":                 (ALL,                     "view",                             "view"),
    "sign_in/adminidentity":           ("",                      "",                                 "view"),
    "sql_views/sqlreader":             (ALL,                     "",                                 "view"),
    "tables/tableload":                ("",                      "view",                             ""),
    "validation/validationresult":     ("",                      "view",                             ""),
    "validation/validationrule":       ("view",                  "view change",                      "view"),
    "validation/validationrun":        ("view",                  "view",                             "view"),
}  # fmt: skip
DATA_STORES = "data_stores/datastore"
GROUPS = ("operator", "steward", "auditor")


@pytest.fixture
def rows(api_without_check) -> dict[str, object]:
    """The primary key of a row of each page, where it takes one."""
    now = datetime(2026, 1, 2, tzinfo=UTC)
    api_without_check.post("/students", STUDENT)
    student = Document.objects.get()
    api_without_check.post(
        "/sexDescriptors", {"namespace": "uri://ed-fi.org/SexDescriptor", "codeValue": "F", "shortDescription": "F"}
    )
    descriptor = Document.objects.exclude(pk=student.pk).get()
    deleted = DeletedDocument.objects.create(
        change_version=9, document_uuid=UUID(int=9), resource_type=student.resource_type, natural_key=KEY,
        key_values={}, aliases=[], body={}, created_at=now, last_change_version=8, last_operation="insert",
        last_modified_at=now, deleted_at=now,
    )  # fmt: skip
    rule = ValidationRule.objects.create(
        rule_uuid=UUID(int=1), identifier="r", is_active=True, modified_at=now, severity="error", language="sql"
    )
    run = ValidationRun.objects.create(
        run_uuid=UUID(int=2), run_identifier="2026", started_at=now, change_version=1, status="Completed"
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO validation_result (result_uuid, result_key, episode, rule_id, digest, message, first_run)"
            " VALUES (gen_random_uuid(), gen_random_uuid(), 1, %s, '', 'wrong', %s) RETURNING id",
            [rule.pk, run.pk],
        )
        result = cursor.fetchone()[0]
    refusal = Refusal.objects.create(
        id=UUID(int=5), client=ApiClient.objects.get().pk, data_store=0, resource="students", subject=UUID(int=6),
        has_identity=True, natural_key=KEY, operation="POST", is_batch=False, is_summary=False, status=400,
        problem="data", title="Data", paths={"$.birthDate": [KEY]}, errors=[], cause=UUID(int=7), cause_text=KEY,
        awaited_resource="", correlation_id="c", first_at=now, last_at=now, count=1, sequence=1,
    )  # fmt: skip
    letter = DeadLetter.objects.create(
        handler="h", change_version=1, resource="students", natural_key=KEY, change=KEY, error=f"Error: {KEY}",
        attempts=1,
    )  # fmt: skip
    return {
        "auth/group": Group.objects.get(name="auditor").pk,
        "auth/user": User.objects.create(username="someone", password="sha$abc$def").pk,
        "change_queries/changeconsumer": ChangeConsumer.objects.create(name="consumer").pk,
        "change_queries/deleteddocument": deleted.pk,
        "change_stream/deadletter": letter.pk,
        "data_stores/tenant": Tenant.objects.create(name="lakeside").pk,
        "descriptors/descriptor": descriptor.pk,
        "edfi_api/document": student.pk,
        "exchange/connection": Connection.objects.create(
            name="state", direction="push", address="https://state.example", api_client=ApiClient.objects.get()
        ).pk,
        "oauth2_provider/accesstoken": get_access_token_model().objects.get().pk,
        "profiles/profile": Profile.objects.create(name="p", definition="<Profile/>").pk,
        "questions/question": Question.objects.create(person="Ana", tool="ask", statement=KEY, students=[KEY]).pk,
        "questions/questionprofile": QuestionProfile.objects.create(name="without names").pk,
        "questions/questionreader": QuestionReader.objects.create(name="Ana").pk,
        "refusals/refusal": refusal.pk,
        "security/apiclient": ApiClient.objects.get().pk,
        "security/application": Application.objects.get().pk,
        "security/claimset": ClaimSet.objects.order_by("pk")[0].pk,
        "security/grant": Grant.objects.order_by("pk")[0].pk,
        "security/resourceclaim": ResourceClaim.objects.order_by("pk")[0].pk,
        "security/vendor": Vendor.objects.get().pk,
        "sign_in/adminidentity": AdminIdentity.objects.create(
            user=User.objects.create(username="maria"), issuer="https://id.example.org", subject="7"
        ).pk,
        "sql_views/sqlreader": SqlReader.objects.create(role="reader", organization=1).pk,
        "validation/validationresult": result,
        "validation/validationrule": rule.pk,
        "validation/validationrun": run.pk,
    }


def data_store() -> int:
    """Its primary key. Where there is one, pages of documents ask for a choice, so it is made after they were read."""
    return DataStore.objects.create(name="Grand Bend", connection="env:MEADOWLARK_SECRET_PLACE", state="offline").pk


def abilities(client, page: str, row: object) -> str:
    """Return what is not refused with 403, as in the table."""
    base = f"/admin/{page}/"
    listed = client.get(base, follow=True)
    may = {
        "view": listed.status_code,
        "add": client.get(f"{base}add/").status_code,
        "change": client.post(f"{base}{row}/change/", {}, follow=True).status_code,
        "delete": client.get(f"{base}{row}/delete/", follow=True).status_code,
    }
    assert set(may.values()) <= {200, 403}
    actions = re.findall(r'<option value="(\w+)"', _actions(listed.content.decode()))
    return " ".join([*(name for name, status in may.items() if status == 200), *(f"+{name}" for name in actions)])


def _actions(page: str) -> str:
    found = re.search(r'<select name="action".*?</select>', page, re.DOTALL)
    return found[0] if found else ""


def test_the_table_has_every_page_of_the_admin():
    admin.autodiscover()
    assert {f"{model._meta.app_label}/{model._meta.model_name}" for model in admin.site._registry} == set(TABLE)


@pytest.mark.parametrize("group", GROUPS)
def test_what_a_group_can_do(group, rows):
    client = member(group)

    done = {page: abilities(client, page, rows.get(page, 1)) for page in TABLE if page != DATA_STORES}
    done[DATA_STORES] = abilities(client, DATA_STORES, data_store())

    assert {page: set(can.split()) for page, can in done.items()} == {
        page: set(can[GROUPS.index(group)].split()) for page, can in TABLE.items()
    }


def test_natural_keys_of_refusals_and_dead_letters(rows):
    both = ("change_stream/deadletter", "refusals/refusal")
    clients = {group: member(group) for group in GROUPS}

    for address in ("/", "/{}/change/"):
        seen = {
            group: {page for page in both if "604822" in text(client, page, address.format(rows[page]))}
            for group, client in clients.items()
        }
        assert seen == {"operator": set(), "steward": set(both), "auditor": set()}


def text(client, page: str, rest: str) -> str:
    response = client.get(f"/admin/{page}{rest}")
    assert response.status_code == 200
    return response.content.decode()


def test_addresses_do_not_filter_by_what_is_hidden(rows):
    """A filter that was allowed would reveal a value character by character."""
    auditor = member("auditor")
    filters = (
        "refusals/refusal/?natural_key__startswith=NK",
        "refusals/refusal/?cause_text__startswith=NK",
        "refusals/refusal/?paths__icontains=604822",
        "change_stream/deadletter/?natural_key__startswith=NK",
        "change_stream/deadletter/?error__contains=604822",
        "data_stores/datastore/?connection__startswith=env",
        "security/apiclient/?client_secret__startswith=pbkdf2",
        "auth/user/?password__startswith=sha",
    )

    statuses = {address: auditor.get(f"/admin/{address}").status_code for address in filters}

    assert statuses == dict.fromkeys(filters, 400)


@pytest.mark.parametrize("group", ["operator", "auditor"])
def test_secrets_and_connection_strings_are_not_shown(group, rows):
    client, hidden = member(group), ApiClient.objects.get().client_secret

    rows[DATA_STORES] = data_store()
    pages = [text(client, page, f"/{rows[page]}/change/") for page in (DATA_STORES, "security/apiclient")]

    assert not any(hidden in page or "env:MEADOWLARK_SECRET_PLACE" in page for page in pages)


def test_an_auditor_rotates_no_secret(rows):
    address = f"/admin/security/apiclient/{rows['security/apiclient']}/rotate-secret/"

    assert member("auditor").post(address).status_code == 403
    assert member("operator").get(address).status_code == 200


def test_an_operator_deletes_a_claim_set_with_its_grants(rows):
    claim_set = ClaimSet.objects.create(name="Ours")
    grant = Grant.objects.create(claim_set=claim_set, resource_claim=ResourceClaim.objects.all()[0], actions=["Read"])

    member("operator").post(f"/admin/security/claimset/{claim_set.pk}/delete/", {"post": "yes"})

    assert not Grant.objects.filter(pk=grant.pk).exists()


def test_a_choice_of_data_stores_is_for_users_of_their_pages(db):
    nothing = client_of(User.objects.create(username="nothing", is_staff=True))

    assert nothing.get("/admin/choose-data-store/").status_code == 403
    assert member("steward").get("/admin/choose-data-store/").status_code == 200


def test_results_of_validation_need_their_permission_on_the_page_of_a_document(rows):
    reader = User.objects.create(username="reader", is_staff=True)
    reader.user_permissions.set(Permission.objects.filter(codename="view_document"))
    rest = f"/{rows['edfi_api/document']}/change/"

    of_steward = text(member("steward"), "edfi_api/document", rest)
    assert "Refused writes are not recorded. Validation has not run." in of_steward
    assert "Validation" not in text(client_of(reader), "edfi_api/document", rest)
    reader.user_permissions.add(Permission.objects.get(codename="view_validationresult"))
    assert 'id="problems">Validation has not run.' in text(client_of(reader), "edfi_api/document", rest)


def test_groups_of_a_database_stay_as_they_are(db):
    """Also those that were emptied or deleted: a migration makes groups once."""
    Group.objects.get(name="operator").permissions.clear()
    Group.objects.get(name="auditor").delete()

    call_command("migrate", verbosity=0)

    assert set(Group.objects.values_list("name", flat=True)) == {"operator", "steward"}
    assert not Group.objects.get(name="operator").permissions.exists()


def test_a_group_of_the_same_name_is_not_touched(db):
    Group.objects.all().delete()
    Group.objects.create(name="steward")

    make_groups("default")

    assert not Group.objects.get(name="steward").permissions.exists()
    assert Group.objects.get(name="auditor").permissions.count() == 28


def test_groups_of_1_0_get_what_1_1_adds_unless_somebody_has_changed_them(db):
    added = Permission.objects.filter(content_type__app_label__in=["questions", "tables"]) | Permission.objects.filter(
        codename__in=["add_causefollowup", "add_rulefollowup"]
    )
    for group in Group.objects.all():
        group.permissions.remove(*added)
    steward, operator, auditor = (Group.objects.get(name=name) for name in ("steward", "operator", "auditor"))
    operator.permissions.remove(Permission.objects.get(codename="delete_vendor"))
    auditor.permissions.add(Permission.objects.get(codename="view_document"))

    complete_groups("default")

    assert {"add_causefollowup", "add_rulefollowup", "import_table", "view_question"} <= {
        each.codename for each in steward.permissions.all()
    }
    assert not operator.permissions.filter(codename="add_causefollowup").exists()
    assert not auditor.permissions.filter(codename="view_questionprofile").exists()
