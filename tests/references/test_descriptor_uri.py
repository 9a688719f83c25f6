"""Wherever URIs of descriptors are compared, the same ones are equal."""

import pytest

from edfi_api.core.documents.extraction import descriptor_id
from edfi_api.core.documents.paths import identifying_value
from edfi_api.core.writes.rules.conditions import _is_equal
from edfi_api.features.exchange.resource_selection import DescriptorMapping
from edfi_api.features.loading.mapping.translation import DescriptorValues
from edfi_api.model.profiles.definition import FilterMode
from edfi_api.model.profiles.view import ItemFilter
from edfi_api.model.surface.resource import ResourceName
from references.descriptor_uri import comparable

SEX = ResourceName("Ed-Fi", "SexDescriptor")
# Another case, and whether it is the same URI.
SPELLINGS = [
    ("uri://x.org/SexDescriptor#Straße", "URI://X.ORG/SEXDESCRIPTOR#STRAẞE", True),
    ("uri://x.org/SexDescriptor#Straße", "uri://x.org/SexDescriptor#Strasse", False),
    ("uri://x.org/SexDescriptor#İzmir", "uri://x.org/SexDescriptor#i̇zmir", True),
    ("uri://x.org/SexDescriptor#İzmir", "uri://x.org/SexDescriptor#izmir", False),
    ("uri://x.org/SexDescriptor#ﬁrst", "uri://x.org/SEXDescriptor#ﬁRST", True),
    ("uri://x.org/SexDescriptor#ﬁrst", "uri://x.org/SexDescriptor#first", False),
]


@pytest.mark.parametrize(("one", "other", "is_same"), SPELLINGS)
def test_uris_are_equal_everywhere_or_nowhere(one, other, is_same) -> None:
    mapped = {"sexDescriptor": other}
    DescriptorMapping.parse(f"{one},uri://here.org/SexDescriptor#Here").replace_theirs(mapped)
    items = {identifying_value({"sexDescriptor": each}, ("sexDescriptor",)) for each in (one, other)}
    shown = ItemFilter("sexDescriptor", frozenset([comparable(one)]), FilterMode.INCLUDE_ONLY, is_descriptor=True)

    assert (descriptor_id(SEX, one) == descriptor_id(SEX, other)) is is_same
    assert (len(items) == 1) is is_same
    assert shown.shows(other) is is_same
    assert _is_equal(one, other) is is_same
    assert (mapped["sexDescriptor"] == "uri://here.org/SexDescriptor#Here") is is_same
    assert (DescriptorValues({}, {one: "new"}).mapped(other) == "new") is is_same
