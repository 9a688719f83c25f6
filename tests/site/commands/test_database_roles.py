"""`manage.py check --database default` about roles that may do more than they need."""

import pytest

from tests.support import superuser
from tests.support.management_commands import printed

PAGE = "see Roles in meadowlark/docs/operate/database.md."

pytestmark = pytest.mark.usefixtures("transactional_db")


def warnings() -> list[str]:
    """The texts of the checks of roles."""
    lines = "".join(printed("check", "--database", "default")).splitlines()
    return [line.partition(") ")[2] for line in lines if "W007" in line or "W008" in line]


def test_the_embedded_database_has_nothing_to_warn_of() -> None:
    assert warnings() == []


def test_a_superuser_as_application_is_a_warning() -> None:
    with superuser.connected():
        assert warnings() == [
            "The user of the database is a superuser; see Roles in meadowlark/docs/operate/database.md."
        ]


def test_an_application_that_may_read_files_of_the_server_is_a_warning() -> None:
    superuser.execute_elsewhere(
        f"CREATE ROLE reader_of_files LOGIN IN ROLE pg_read_server_files, {superuser.APPLICATION}"
    )
    try:
        with superuser.connected("reader_of_files"):
            [warning] = warnings()
    finally:
        superuser.execute_elsewhere("DROP ROLE reader_of_files")

    assert warning == f"The user of the database is a member of pg_read_server_files; {PAGE}"


@pytest.mark.parametrize(
    ("user", "warning"),
    [
        (superuser.NAME, "The login of rules is a superuser;"),
        (superuser.APPLICATION, "The login of rules can act as the user of the database;"),
        ("missing", "The login of rules cannot connect: "),
    ],
)
def test_a_login_of_rules_that_is_no_boundary_is_a_warning(settings, user: str, warning: str) -> None:
    settings.EDFI_API = {**settings.EDFI_API, "RULE_LOGIN": {"user": user}}

    [found] = warnings()

    assert found.startswith(warning)


def test_a_login_of_rules_that_reads_secrets_is_a_warning() -> None:
    superuser.execute_elsewhere("GRANT SELECT (client_secret) ON security_apiclient TO meadowlark_rules")
    try:
        [warning] = warnings()
    finally:
        superuser.execute_elsewhere("REVOKE SELECT (client_secret) ON security_apiclient FROM meadowlark_rules")

    assert (
        warning == "The login of rules can read security_apiclient; see Roles in meadowlark/docs/operate/database.md."
    )


def test_rules_that_are_not_run_are_a_warning(settings, tmp_path) -> None:
    settings.EDFI_API = {**settings.EDFI_API, "RULE_LOGIN": {}, "RULES": (str(tmp_path),)}

    [warning] = warnings()

    assert warning.startswith("MEADOWLARK_RULE_DATABASE_URL is not set: rules of MEADOWLARK_RULES are not run;")
