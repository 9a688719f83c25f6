"""The routing table resolves as a scan of all data stores does, and addresses are split at their fixed word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edfi_api.data_stores.addresses import FIXED, OUTSIDE, Reading
from edfi_api.data_stores.exceptions import AmbiguousDataStore, DataStoreNotFound
from edfi_api.data_stores.models import State
from edfi_api.data_stores.routing import Database, RoutingTable, Store, context_of

_NAMES = st.sampled_from(["districtId", "DISTRICTID", "schoolYear", "straße"])
_VALUES = st.sampled_from(["2027", "Lakeside", "LAKESIDE", "STRASSE", "straße"])
_CONTEXTS = st.dictionaries(_NAMES, _VALUES, max_size=3)
_TENANTS = st.sampled_from([None, 1, 2])


@given(st.lists(st.tuples(_TENANTS, _CONTEXTS), max_size=12), st.sets(st.integers(0, 11)), _TENANTS, _CONTEXTS)
def test_the_table_finds_what_a_scan_finds(made, ids, tenant, context):
    stores = [
        Store(
            number,
            of,
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


READING = Reading(2, FIXED | {"v5.2"}, OUTSIDE | {"admin"})


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
        ("//data", (), "//data"),
    ],
)
def test_the_segments_before_the_fixed_word(path, segments, rest):
    assert READING.split(path) == (segments, rest)
