"""The routing table resolves as a scan of all data stores does, and addresses are split at their fixed word."""

import pytest
from django.db import connections
from hypothesis import given
from hypothesis import strategies as st

from edfi_api.core.data_stores import databases
from edfi_api.core.data_stores.connection_strings import destination
from edfi_api.core.data_stores.exceptions import AmbiguousDataStore, DataStoreNotFound
from edfi_api.core.data_stores.models import State
from edfi_api.core.data_stores.routing import (
    FIXED,
    OUTSIDE,
    AddressForm,
    Database,
    NamedTenant,
    RoutingTable,
    Store,
    context_of,
    has_encoded_separator,
)
from edfi_api.core.data_stores.routing_cache import RoutingCache

_NAMES = st.sampled_from(["districtId", "DISTRICTID", "schoolYear", "straße"])
_VALUES = st.sampled_from(["2027", "Lakeside", "LAKESIDE", "STRASSE", "straße"])
_CONTEXTS = st.dictionaries(_NAMES, _VALUES, max_size=3)
_TENANTS = st.sampled_from([None, 1, 2])


@given(st.lists(st.tuples(_TENANTS, _CONTEXTS), max_size=12), st.sets(st.integers(0, 11)), _TENANTS, _CONTEXTS)
def test_the_table_finds_what_a_scan_finds(made, ids, tenant, context):
    stores = [
        Store(
            number,
            of and NamedTenant(of, f"tenant {of}"),
            str(number),
            State.ONLINE,
            context_of(pairs.items()),
            {},
            Database(f"s{number}", number, None),
            {},
        )
        for number, (of, pairs) in enumerate(made)
    ]
    folded = {(key.casefold(), value.casefold()) for key, value in context.items()}
    scanned = [
        number
        for number, (of, pairs) in enumerate(made)
        if number in ids and of == tenant and {(k.casefold(), v.casefold()) for k, v in pairs.items()} == folded
    ]
    table = RoutingTable.of(1, stores)

    if len(scanned) == 1:
        assert table.find(ids, tenant, context_of(context.items())).id == scanned[0]
    else:
        with pytest.raises(AmbiguousDataStore if scanned else DataStoreNotFound):
            table.find(ids, tenant, context_of(context.items()))


READING = AddressForm(2, FIXED | {"v5.2"}, OUTSIDE | {"admin"})


@pytest.mark.parametrize(
    ("path", "segments", "rest"),
    [
        ("/", (), "/"),
        ("/4410", ("4410",), "/"),
        ("/4410/2027", ("4410", "2027"), "/"),
        ("/4410/2027/", ("4410", "2027"), "/"),
        ("/4410/2027/data/ed-fi/students", ("4410", "2027"), "/data/ed-fi/students"),
        ("/4410/2027/DATA/v3/ed-fi", ("4410", "2027"), "/DATA/v3/ed-fi"),
        ("/4410/metadata", ("4410",), "/metadata"),
        ("/4410/2027/v5.2/ed-fi/students", ("4410", "2027"), "/v5.2/ed-fi/students"),
        ("/data/ed-fi/data", (), "/data/ed-fi/data"),
        ("/OAuth/token", (), "/OAuth/token"),
        ("/health/live", (), "/health/live"),
        ("/Admin/login", (), "/Admin/login"),
        ("/static/data/x", (), "/static/data/x"),
        ("/a/b/c/data/ed-fi", (), "/a/b/c/data/ed-fi"),
        ("/a/b/c", (), "/a/b/c"),
        ("/alpha/health", (), "/alpha/health"),
        ("/4410/Docs", (), "/4410/Docs"),
        ("/4410/admin/data/x", (), "/4410/admin/data/x"),
        ("//data", (), "//data"),
    ],
)
def test_the_segments_before_the_fixed_word(path, segments, rest):
    assert READING.split(path) == (segments, rest)


@pytest.mark.parametrize(
    ("path", "number", "expected"),
    [
        ("/4410%2F2027/data/ed-fi", 2, True),
        ("/4410/2027%2fdata/ed-fi", 2, True),
        ("/4410/data/ed-fi/a%2Fb", 2, False),
        ("/44%2E10/data", 2, False),
        ("", 2, False),
    ],
)
def test_encoded_separators_before_the_fixed_word(path, number, expected):
    assert has_encoded_separator(path, number) is expected


@pytest.mark.django_db
def test_the_table_at_hand_is_used_while_the_admin_database_does_not_answer(
    store_databases,
):
    """In place of the admin database, one that is dropped."""
    databases.add("store_control", destination(store_databases.create()), "tests")
    with connections["store_control"].cursor() as cursor:
        for table, columns in (
            ("data_stores_version", "id int, version bigint"),
            ("tenant", "id bigint, name text"),
            ("data_store", "id bigint, tenant_id bigint, name text, state text, revision bigint, connection text"),
            ("data_store_context", "id bigint, data_store_id bigint, key text, value text"),
            ("data_store_derivative", "id bigint, data_store_id bigint, type text, revision bigint, connection text"),
        ):
            cursor.execute(f"CREATE TABLE {table} ({columns})")
        cursor.execute("INSERT INTO data_stores_version VALUES (1, 7)")
        cursor.execute("INSERT INTO data_store VALUES (1, NULL, 'x', 'online', 1, NULL)")
    routes = RoutingCache("store_control")
    store_databases.drop_all()
    routes._checked_at -= 11  # As if the seconds had passed.

    assert routes.table().version == 7
    assert [store.name for store in routes.table().stores.values()] == ["x"]
