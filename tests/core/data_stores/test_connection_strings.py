"""Connection strings as people and other servers write them, and what is not taken from them."""

import pytest
from django.db import connections

from edfi_api.core.data_stores import connection_strings
from edfi_api.core.data_stores.connection_strings import decrypt, destination, encrypt, is_masked
from edfi_api.core.data_stores.databases import allowed_destination
from edfi_api.core.data_stores.exceptions import ConnectionNotAllowed, ConnectionUnusable, NoStoreKey

PASSWORD = "p@ss;w'rd"


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://edfi:p%40ss;w'rd@db7.internal:5433/lakeside_2027?sslmode=require",
        'host=db7.internal;port=5433;username=edfi;password="p@ss;w\'rd";database=lakeside_2027;sslmode=Require;',
        "Server=db7.internal; Port=5433; User Id=edfi; Pwd='p@ss;w''rd'; Database=lakeside_2027; SSL Mode=Require",
        r"host=db7.internal port=5433 user=edfi password='p@ss;w\'rd' dbname=lakeside_2027 sslmode=require",
    ],
    ids=["URL", "ADO.NET", "ADO.NET with other names", "libpq"],
)
def test_the_forms_of_a_connection_string(text):
    found = destination(text)

    assert (found.host, found.port, found.user, found.database) == ("db7.internal", "5433", "edfi", "lakeside_2027")
    assert found.password == PASSWORD
    assert found.options == {"sslmode": "require"}
    assert PASSWORD not in repr(found)
    assert str(found) == "db7.internal:5433/lakeside_2027"


def test_several_hosts_for_failover_and_a_pooler():
    found = destination("postgresql://edfi@db1,db2:6432/lakeside?target_session_attrs=read-write&pool=transaction")

    assert (found.host, found.port) == ("db1,db2", ",6432")
    assert found.options == {"target_session_attrs": "read-write"}
    assert found.is_pooled


def test_a_socket_folder():
    assert destination("postgresql://edfi@/lakeside?host=/run/postgresql").host == "/run/postgresql"


def test_what_would_read_files_of_the_server_is_dropped():
    found = destination("host=db dbname=x passfile=/etc/shadow sslkey=/root/key options='-c role=x' service=other")

    assert found.options == {}
    assert found.dropped == ("options", "passfile", "service", "sslkey")


def test_the_value_of_an_environment_variable(monkeypatch):
    monkeypatch.setenv("MEADOWLARK_STORE_LAKESIDE", "postgresql://edfi@db7/lakeside")

    assert destination("env:MEADOWLARK_STORE_LAKESIDE").database == "lakeside"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "lakeside",
        "postgresql://edfi:hidden@db7",
        "host=db7;password=hidden;nonsense",
        "dbname=x user=edfi password=hidden unknown=1",
        "postgresql://edfi:hidden@db7/x?pool=session",
        "env:MEADOWLARK_SECRET_KEY",
        "env:MEADOWLARK_STORE_UNSET",
        "file:/etc/passwd",
        "file:/run/secrets/../../etc/passwd",
        "dbname=hidden\0",
        "dbname=" + "x" * 1000,
    ],
)
def test_the_reason_quotes_no_part_of_the_string(text):
    with pytest.raises(ConnectionUnusable) as error:
        destination(text)

    assert "hidden" not in str(error.value)
    assert error.value.__cause__ is None


@pytest.mark.parametrize(
    ("host", "is_allowed"),
    [
        ("DB7.internal", True),
        ("10.1.2.3", True),
        ("db7.internal,10.1.2.3", True),
        ("db7.internal,evil.example", False),
        ("11.1.2.3", False),
        ("evil.example", False),
        ("/run/postgresql", False),
    ],
)
def test_only_allowed_hosts(configured, host, is_allowed):
    configured(STORE_HOSTS=("db7.internal", "10.0.0.0/8"))
    text = f"host={host} dbname=x"

    if is_allowed:
        assert allowed_destination(text).host == host
    else:
        with pytest.raises(ConnectionUnusable):
            allowed_destination(text)


@pytest.mark.parametrize(
    ("host", "port", "is_allowed"),
    [
        ("db1", "5432", True),
        ("db1", "", True),
        ("DB2,db1", "5433,5432", True),
        ("db2", "5433", True),
        ("db2", "5432", False),
        ("db1", "22", False),
        ("db1,db3", "5432", False),
        ("", "5432", False),
        ("db1:5432", "", False),
    ],
)
def test_without_the_setting_only_the_server_of_the_admin_database(configured, monkeypatch, host, port, is_allowed):
    configured(STORE_HOSTS=())
    control = connections.settings["default"] | {"HOST": "db1,db2", "PORT": "5432,5433"}
    monkeypatch.setitem(connections.settings, "default", control)
    text = f"host='{host}' port='{port}' dbname=x"

    if is_allowed:
        assert allowed_destination(text).host == host
    else:
        with pytest.raises(ConnectionNotAllowed):
            allowed_destination(text)


def test_any_host_if_the_setting_says_so(configured):
    configured(STORE_HOSTS=("*",))

    assert allowed_destination("host=/run/postgresql,db8 dbname=x").host == "/run/postgresql,db8"


@pytest.mark.parametrize(
    ("text", "is_not_usable"),
    [
        ("host=db7;port=5432;username=edfi;database=x;password=***", True),
        ("host=db7;database=x;Pwd='***'", True),
        ("host=db7 dbname=x password=****", True),
        ("host=db7 dbname=x password='***'", True),
        ("postgresql://edfi:%2A%2A%2A@db7/x", True),
        ("postgresql://edfi:***@db7/x", True),
        ("***", True),
        ("host=db7;password=***;nonsense", True),
        ("postgresql://edfi:a***b@db7/x", False),
        ("host=db7 dbname=x", False),
    ],
)
def test_a_password_of_asterisks_is_a_mask(text, is_not_usable):
    assert is_masked(text) is is_not_usable


def test_any_of_the_keys_decrypts_and_the_first_one_encrypts(configured):
    configured(STORE_KEYS=("old",))
    old = encrypt("dbname=x")
    configured(STORE_KEYS=("new", "old"))
    new = encrypt("dbname=x")

    assert (decrypt(old), decrypt(new)) == ("dbname=x", "dbname=x")
    configured(STORE_KEYS=("new",))
    assert decrypt(new) == "dbname=x"
    with pytest.raises(ConnectionUnusable):
        decrypt(old)


def test_nothing_is_encrypted_with_a_key_that_ends_with_the_process(configured):
    configured(STORE_KEYS=())

    with pytest.raises(NoStoreKey):
        encrypt("dbname=x")


@pytest.fixture
def secrets(tmp_path, monkeypatch):
    """The folder of secrets, as a container mounts it: a name is a link to the file of a version."""
    folder = tmp_path / "run" / "secrets"
    (folder / "..data").mkdir(parents=True)
    (folder / "..data" / "lakeside").write_text("postgresql://edfi:of-a-file@db7/lakeside\n")
    (folder / "lakeside").symlink_to("..data/lakeside")
    (tmp_path / "outside").write_text("dbname=outside")
    (folder / "escaping").symlink_to(tmp_path / "outside")
    monkeypatch.setattr(connection_strings, "_SECRETS", folder)
    return folder


def test_a_file_of_the_folder_of_secrets_is_read_each_time(secrets):
    found = destination(f"file:{secrets}/lakeside")
    (secrets / "..data" / "lakeside").write_text("host=db8 dbname=lakeside")

    assert (found.host, found.database, found.password) == ("db7", "lakeside", "of-a-file")
    assert destination(f"file:{secrets}/lakeside").host == "db8"


@pytest.mark.parametrize("name", ["escaping", "missing", "../../outside", "..data", ""])
def test_files_elsewhere_are_not_read(secrets, name):
    with pytest.raises(ConnectionUnusable, match="its file"):
        destination(f"file:{secrets}/{name}")
