"""Clients of an ODS/API keep their keys and secrets, and have the same rights."""

from base64 import b64encode
from hashlib import pbkdf2_hmac, sha256
from io import StringIO
from itertools import count

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from edfi_api.core.security.claim_names import Action, claim_uri
from edfi_api.core.security.claims.compile import granted_strategies
from edfi_api.core.security.claims.model import lineage
from edfi_api.core.security.claims.stored_claims import stored_claims
from edfi_api.core.security.models import ApiClient, Application, ClaimSet, ResourceClaim, Vendor
from edfi_api.features.ods_import.models import OwnershipToken
from tests.conftest import http
from tests.features.ods_import.ods import Ods
from tests.support.management_commands import run

SECRET = "a secret of 1 client"


def hashed(secret: str, digest: str, name: str, iterations: int, salt: bytes) -> str:
    """Return the hash of a secret as the ODS/API stores it."""
    number = sha256(name.encode()).digest()[:4]
    header = b"\0" + number + iterations.to_bytes(4, "little") + len(salt).to_bytes(4, "little")
    return b64encode(header + salt + pbkdf2_hmac(digest, secret.encode(), salt, iterations, 32)).decode()


HASHES = {
    "of 7.x": hashed(SECRET, "sha256", "PBKDF2-HMACSHA256", 600_000, bytes(range(128, 144))),
    "of earlier versions": hashed(SECRET, "sha1", "PBKDF2-HMACSHA1", 10_000, b"\0" * 16),
}


def insert_client(admin: Ods, key: str, secret: str, *, is_hashed: bool, organizations=(1, 2), number=1) -> None:
    admin.run(
        "INSERT INTO dbo.apiclients (apiclientid, key, secret, name, isapproved, usesandbox, sandboxtype,"
        " application_applicationid, secretishashed) VALUES (%s, %s, %s, %s, true, false, 0, 1, %s)",
        [number, key, secret, key, is_hashed],
    )
    for each in organizations:
        admin.run("INSERT INTO dbo.apiclientapplicationeducationorganizations VALUES (%s, %s)", [number, each])


def import_clients(admin: Ods, security: Ods, *options: str) -> list[str]:
    return run("import_ods", "clients", "--admin", admin.address, "--security", security.address, *options)


def import_with_losses(admin: Ods, security: Ods, *options: str) -> tuple[list[str], str]:
    """The lines of a command that fails at its end, and why it does."""
    out = StringIO()
    with pytest.raises(CommandError) as failed:
        call_command(
            "import_ods", "clients", "--admin", admin.address, "--security", security.address, *options, stdout=out
        )
    return out.getvalue().splitlines(), str(failed.value)


def token_status(key: str, secret: str) -> int:
    form = {"grant_type": "client_credentials", "client_id": key, "client_secret": secret}
    return http().post("/oauth/token", form, content_type="application/json").status_code


@pytest.mark.django_db
@pytest.mark.parametrize("stored", [*HASHES.values(), None], ids=[*HASHES, "plain"])
def test_the_old_secret_gives_a_token_and_is_then_hashed_as_ours(admin, security, stored) -> None:
    insert_client(admin, "old-key", stored or SECRET, is_hashed=stored is not None)

    import_clients(admin, security)

    assert token_status("old-key", "another") == 401
    assert token_status("old-key", SECRET) == 200
    assert ApiClient.objects.get(client_id="old-key").client_secret.startswith("pbkdf2_sha256$1000$")
    assert token_status("old-key", SECRET) == 200
    assert token_status("old-key", "another") == 401


@pytest.mark.django_db
def test_no_secret_is_printed_or_logged(admin, security, log) -> None:
    insert_client(admin, "old-key", SECRET, is_hashed=False)

    out = import_clients(admin, security)

    assert SECRET not in "\n".join(out)
    assert SECRET not in log.text and "to read" not in log.text


@pytest.mark.django_db
def test_vendor_application_and_organizations_are_as_they_were(admin, security) -> None:
    insert_client(admin, "old-key", SECRET, is_hashed=False)

    import_clients(admin, security)

    client = ApiClient.objects.get(client_id="old-key")
    assert client.application.name == "Roster"
    assert client.application.claim_set == ClaimSet.objects.get(name="Roster vendor")
    assert client.application.education_organization_ids == [255901, 255902]
    assert client.application.vendor.namespace_prefixes == ["uri://riverside.example"]


@pytest.mark.django_db
def test_a_client_of_fewer_organizations_than_its_application_gets_no_more(admin, security) -> None:
    insert_client(admin, "whole", SECRET, is_hashed=False)
    insert_client(admin, "part", SECRET, is_hashed=False, organizations=(2,), number=2)

    import_clients(admin, security)

    part = ApiClient.objects.get(client_id="part").application
    assert (part.name, part.education_organization_ids) == ("Roster (255902)", [255902])


@pytest.mark.django_db
def test_a_key_that_is_here_stays_as_it_is(admin, security) -> None:
    insert_client(admin, "old-key", SECRET, is_hashed=False)
    import_clients(admin, security)
    admin.run("UPDATE dbo.apiclients SET secret = 'another', isapproved = false")

    out = import_clients(admin, security)

    assert "conflict: client old-key is here already, and stays as it is" in out
    assert out[-1] == "0 changes"
    assert token_status("old-key", SECRET) == 200


@pytest.mark.django_db
def test_a_dry_run_says_what_would_change_and_changes_nothing(admin, security) -> None:
    insert_client(admin, "old-key", SECRET, is_hashed=False)
    before = Vendor.objects.count(), Application.objects.count(), ClaimSet.objects.count()

    out = import_clients(admin, security, "--dry-run")

    assert {"+ vendor Riverside", "+ application Roster", "+ client old-key", "+ claim set Roster vendor"} <= set(out)
    assert (Vendor.objects.count(), Application.objects.count(), ClaimSet.objects.count()) == before
    assert not ApiClient.objects.filter(client_id="old-key").exists()


@pytest.mark.django_db
def test_a_claim_set_grants_what_it_did_and_never_by_a_weaker_strategy(admin, security, with_losses) -> None:
    out, reason = import_with_losses(admin, security)

    granted = granted_strategies(ClaimSet.objects.get(name="Roster vendor"))
    assert granted["ed-fi/student"] == {
        "Create": ("NamespaceBased",),
        "Read": ("NoFurtherAuthorizationRequired",),
    }
    # Reading staff needs a strategy that there is not: that of all people must not count instead.
    assert granted["ed-fi/staff"] == {"Read": ("OfTheStateOnly",)}
    assert reason == "not all was imported: 3 things lost"
    assert [line for line in out if line.startswith("lost: ")] == [
        "lost: Roster vendor: Create of ed-fi/staff: there is no strategy OfTheStateOnly",
        "lost: Roster vendor: Read of ed-fi/staff: there is no strategy OfTheStateOnly",
        "lost: Roster vendor: Read of state/gone: there is no such resource",
    ]
    assert "left out: the resource claim state/gone: there is no such resource" in out
    assert not ResourceClaim.objects.filter(name="state/gone").exists()
    [note] = [line for line in out if line.startswith("note: ")]
    assert note.startswith("note: the ODS has no resource claim for ed-fi/absenceEventCategoryDescriptor, ")


@pytest.fixture
def of_an_earlier_version(admin, security, with_losses, altered) -> None:
    """The tables of both databases that earlier versions do not have are gone; the claims are in the others."""
    for name in ("claimsetresourceclaimactions", "resourceclaimactions"):
        altered(f"ALTER TABLE dbo.{name} RENAME TO x_{name}", f"ALTER TABLE dbo.x_{name} RENAME TO {name}", security)
    for name in (
        "apiclientodsinstances",
        "apiclientownershiptokens",
        "odsinstancecontexts",
        "odsinstancederivatives",
    ):
        altered(f"ALTER TABLE dbo.{name} RENAME TO x_{name}", f"ALTER TABLE dbo.x_{name} RENAME TO {name}", admin)
    security.run(
        "INSERT INTO dbo.resourceclaimauthorizationmetadatas VALUES (1, 2, 1, 1, NULL);"
        "INSERT INTO dbo.claimsetresourceclaims VALUES"
        " (1, 2, 1, 1, NULL, NULL), (2, 1, 1, 2, 2, NULL), (3, 2, 1, 3, 3, NULL), (4, 1, 1, 3, 3, NULL)"
    )


@pytest.mark.django_db
def test_claim_sets_of_an_earlier_version_grant_what_they_did(admin, security, of_an_earlier_version) -> None:
    insert_client(admin, "old-key", SECRET, is_hashed=False)

    out, _ = import_with_losses(admin, security)

    assert "EdFi_Security is of an earlier version, which has one strategy for each action" in out
    granted = granted_strategies(ClaimSet.objects.get(name="Roster vendor"))
    assert granted["ed-fi/student"] == {
        "Create": ("NamespaceBased",),
        "Read": ("NoFurtherAuthorizationRequired",),
    }
    assert granted["ed-fi/staff"] == {"Read": ("OfTheStateOnly",)}
    assert token_status("old-key", SECRET) == 200


@pytest.mark.django_db
def test_what_an_earlier_version_says_in_another_form_is_named(admin, security, of_an_earlier_version) -> None:
    admin.run("INSERT INTO dbo.odsinstances VALUES (1, 'Year 2027', '', ''), (2, 'Year 2028', '', '')")

    out, _ = import_with_losses(admin, security)

    assert any("left out: which data stores each client uses" in line for line in out)


@pytest.mark.django_db
def test_a_database_without_known_tables_of_claims_is_refused_with_the_way_out(admin, altered) -> None:
    with pytest.raises(CommandError, match="load_claim_sets takes claim sets from a file"):
        import_clients(admin, admin)


PROFILE = """
<Profile name="Names">
  <Resource name="Student">
    <ReadContentType memberSelection="IncludeOnly"><Property name="firstName"/></ReadContentType>
  </Resource>
</Profile>
"""


@pytest.mark.django_db
def test_a_profile_binds_the_application_that_it_bound(admin, security) -> None:
    admin.run("INSERT INTO dbo.profiles VALUES (1, 'Names', %s)", [PROFILE])
    admin.run("INSERT INTO dbo.profileapplications VALUES (1, 1)")
    insert_client(admin, "old-key", SECRET, is_hashed=False)

    import_clients(admin, security)

    application = Application.objects.get(name="Roster")
    assert [profile.name for profile in application.profiles.all()] == ["Names"]


@pytest.mark.django_db
def test_a_profile_hides_what_the_ods_hid(admin, security, documents, resource_named, api) -> None:
    """The rules for these members say nothing here; the ODS removes the members."""
    part = """
      <{} memberSelection="ExcludeOnly">
        <Property name="BirthCity"/>
        <Collection name="StudentIdentificationDocuments" memberSelection="IncludeAll"/>
        <Collection name="StudentOtherNames" memberSelection="ExcludeOnly"><Property name="MiddleName"/></Collection>
      </{}>"""
    parts = part.format(*["ReadContentType"] * 2) + part.format(*["WriteContentType"] * 2)
    text = f'<Profile name="Names"><Resource name="Student">{parts}</Resource></Profile>'
    admin.run("INSERT INTO dbo.profiles VALUES (1, 'Names', %s)", [text])
    admin.run("INSERT INTO dbo.profileapplications VALUES (1, 1)")

    out = import_clients(admin, security)

    assert "note: profile Names: StudentIdentificationDocuments of Student is hidden as a whole, as in the ODS" in out
    student = resource_named("Student")
    body = documents.full_body(student)
    documents.store_targets(student, body)
    stored = api.post("/students", body)
    assert stored.status_code == 201, stored.content
    media = {"HTTP_ACCEPT": "application/vnd.ed-fi.student.names.readable+json"}
    shown = api.get(stored["Location"].partition("testserver")[2], **media).json()
    assert "identificationDocuments" in body
    assert "identificationDocuments" not in shown
    assert "birthCity" not in shown
    assert "middleName" in body["otherNames"][0]
    assert shown["otherNames"] == [{name: each for name, each in body["otherNames"][0].items() if name != "middleName"}]


@pytest.mark.django_db
def test_a_profile_that_names_a_member_which_there_is_not_is_not_imported(admin, security) -> None:
    admin.run(
        "INSERT INTO dbo.profiles VALUES (1, 'Names', %s)",
        [PROFILE.replace("IncludeOnly", "ExcludeOnly").replace("firstName", "Shoes")],
    )
    admin.run("INSERT INTO dbo.profileapplications VALUES (1, 1)")

    out, reason = import_with_losses(admin, security)

    assert reason == "not all was imported: 2 things lost"
    assert "lost: the profile Names: Property 'Shoes' in read content type does not exist in resource 'Student'." in out
    assert Application.objects.get(name="Roster").claim_set is None


@pytest.mark.django_db
def test_an_application_whose_profile_cannot_be_read_has_no_rights(admin, security) -> None:
    admin.run("INSERT INTO dbo.profiles VALUES (1, 'Names', '<Profile/>')")
    admin.run("INSERT INTO dbo.profileapplications VALUES (1, 1)")
    insert_client(admin, "old-key", SECRET, is_hashed=False)

    out, _ = import_with_losses(admin, security)

    assert Application.objects.get(name="Roster").claim_set is None
    assert "lost: the rights of application Roster: its profile Names was not imported" in out


@pytest.mark.django_db
def test_an_instance_becomes_a_data_store_to_provision(admin, security) -> None:
    admin.run(
        "INSERT INTO dbo.odsinstances VALUES (1, 'Year 2027', 'Production', 'host=ods'), (2, 'Year 2028', NULL, NULL);"
        "INSERT INTO dbo.odsinstancecontexts VALUES (1, 1, 'schoolYear', '2027'), (2, 2, 'schoolYear', '2028');"
        "INSERT INTO dbo.odsinstancederivatives VALUES (1, 1, 'ReadReplica', 'host=replica')"
    )
    insert_client(admin, "old-key", SECRET, is_hashed=False)
    admin.run("INSERT INTO dbo.apiclientodsinstances VALUES (1, 1, 1)")

    out = import_clients(admin, security)

    [store] = ApiClient.objects.get(client_id="old-key").data_stores.all()
    assert (store.name, store.connection, store.state) == ("Year 2027", None, "preparing")
    assert [(each.key, each.value) for each in store.contexts.all()] == [("schoolYear", "2027")]
    assert "to provision, by --provision or provision_data_store: Year 2027, Year 2028" in out
    assert "host=" not in "\n".join(out)


@pytest.mark.django_db
def test_what_has_no_place_here_is_named(admin, security) -> None:
    insert_client(admin, "one", SECRET, is_hashed=False)
    insert_client(admin, "two", SECRET, is_hashed=False, number=2)
    insert_client(admin, "unknown-hash", "bm8gaGFzaA==", is_hashed=True, number=3)
    admin.run(
        "INSERT INTO dbo.ownershiptokens VALUES (7, 'shared'), (8, 'other');"
        "UPDATE dbo.apiclients SET creatorownershiptokenid_ownershiptokenid = 7 WHERE apiclientid IN (1, 2);"
        "INSERT INTO dbo.apiclientownershiptokens VALUES (1, 1, 8);"
        "UPDATE dbo.applications SET operationalcontexturi = 'uri://elsewhere'"
    )

    out, _ = import_with_losses(admin, security)

    assert [line for line in out if ": client" in line or "context" in line] == [
        "lost: client unknown-hash: its secret has a form that is not known",
        "left out: client one owns documents of the ownership tokens 8 too, and here only its own",
        "left out: client two shares the ownership token 7 with one, which owns its documents here",
        "left out: the operational context uri://elsewhere of Roster",
    ]
    assert OwnershipToken.objects.get(token=7).api_client == ApiClient.objects.get(client_id="one").pk


@pytest.mark.django_db
def test_a_check_names_what_would_be_left_out(admin, security, with_losses, ods) -> None:
    with pytest.raises(CommandError, match="4 things would be lost or refused"):
        run("import_ods", "check", "--from", ods.address, "--admin", admin.address, "--security", security.address)

    assert not Vendor.objects.filter(name="Riverside").exists()


@pytest.mark.django_db
def test_all_claim_sets_of_ours_come_back_as_they_are(admin, security) -> None:
    admin.empty()
    security.empty()
    fill_with_our_claims(security)

    out = import_clients(admin, security)

    assert out[-1] == "0 changes"


def fill_with_our_claims(security: Ods) -> None:
    """Actions, strategies, resource claims and claim sets, numbered in the order of their names."""
    claims = stored_claims()
    names = sorted(claims.resource_claims, key=lambda name: len(lineage(claims.resource_claims, name)))
    defaults = [each.defaults or {} for each in claims.resource_claims.values()]
    granted = [actions for each in claims.claim_sets.values() for actions in each.grants.values()]
    found = {name for by_action in [*defaults, *granted] for used in by_action.values() for name in used}
    strategies, actions, claim_sets = sorted(found), [action.value for action in Action], sorted(claims.claim_sets)
    rows, overriding = count(1), count(1)
    with security.connect() as connection:
        insert = connection.cursor().executemany
        insert("INSERT INTO dbo.actions VALUES (%s, %s, 'uri://action')", list(enumerate(actions)))
        insert("INSERT INTO dbo.authorizationstrategies VALUES (%s, '', %s)", list(enumerate(strategies)))
        for number, name in enumerate(names):
            parent = claims.resource_claims[name].parent
            above = None if parent is None else names.index(parent)
            insert("INSERT INTO dbo.resourceclaims VALUES (%s, '', %s, %s)", [(number, claim_uri(name), above)])
            for action, used in (claims.resource_claims[name].defaults or {}).items():
                row = next(rows)
                insert(
                    "INSERT INTO dbo.resourceclaimactions VALUES (%s, %s, %s)", [(row, number, actions.index(action))]
                )
                insert(
                    "INSERT INTO dbo.resourceclaimactionauthorizationstrategies VALUES (%s, %s, %s)",
                    [(next(overriding), row, strategies.index(each)) for each in used],
                )
        for number, name in enumerate(claim_sets):
            insert("INSERT INTO dbo.claimsets VALUES (%s, %s, true, false)", [(number, name)])
            for claim, by_action in claims.claim_sets[name].grants.items():
                for action, used in by_action.items():
                    row = next(rows)
                    insert(
                        "INSERT INTO dbo.claimsetresourceclaimactions VALUES (%s, %s, %s, %s)",
                        [(row, number, names.index(claim), actions.index(action))],
                    )
                    insert(
                        "INSERT INTO dbo.claimsetresourceclaimactionauthorizationstrategyoverrides VALUES (%s, %s, %s)",
                        [(next(overriding), row, strategies.index(each)) for each in used],
                    )
