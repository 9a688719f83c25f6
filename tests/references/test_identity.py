"""Natural keys and referential ids: published test vectors, and uniqueness."""

from hashlib import shake_128

import pytest
from hypothesis import given
from hypothesis import strategies as st

from references.identity import descriptor_natural_key, natural_key, referential_id

COURSE = [("courseCode", "1234"), ("educationOrganizationReference.educationOrganizationId", "122")]


@pytest.mark.parametrize(
    ("key", "published"),
    [
        (
            natural_key([("educationOrganizationId", "122")]),
            "7a5cf3f4a68015c0922e24c73401a21e9fd1767ef60c0b3300f2301e",
        ),
        (natural_key(COURSE), "2717e6e9275502cb2da0e3bdbf5c2ba3395f9e2117bdc7e03c216138"),
        (
            descriptor_natural_key("uri://ed-fi.org/SchoolCategoryDescriptor#All Levels"),
            "0f1474d47271406f6b47eabeba2fca6dd5a8b49a3b9d4e5b8d0e87e8",
        ),
    ],
)
def test_natural_keys_hash_to_the_published_ids(key, published):
    assert shake_128(key.encode()).hexdigest(28) == published


def test_a_natural_key_is_readable():
    assert natural_key(COURSE) == "NK#courseCode=1234#educationOrganizationReference.educationOrganizationId=122"


def test_a_referential_id_is_a_version_8_uuid_scoped_by_resource():
    key = natural_key([("schoolId", "122")])

    school = referential_id("Ed-Fi", "School", key)

    # SHAKE-128 of `Ed-Fi#School#NK#schoolId=122`, by `openssl dgst -shake128 -xoflen 16`, version and variant set.
    assert str(school) == "ebe84ef4-b706-8434-9b28-852a7f60b87a"
    assert (school.version, school.variant) == (8, "specified in RFC 4122")
    assert referential_id("Ed-Fi", "LocalEducationAgency", key) != school
    assert referential_id("Sample", "School", key) != school


def test_a_value_that_contains_the_separator_gives_another_key():
    one = natural_key([("a", "1"), ("b", "2#b=3")])
    other = natural_key([("a", "1#b=2"), ("b", "3")])

    assert one != other


def test_a_descriptor_in_a_key_is_marked():
    elements = [("programName", "Bilingual"), ("programTypeDescriptor", "uri://ed-fi.org/ProgramTypeDescriptor#X=Y")]

    assert natural_key(elements).endswith("programTypeDescriptor=uri://ed-fi.org/ProgramTypeDescriptor#X=Y")


_values = st.text(alphabet="ab#=!1,", max_size=12)


@given(st.tuples(_values, _values, _values), st.tuples(_values, _values, _values))
def test_different_identities_never_share_a_natural_key(one, other):
    paths = ("a", "b", "b.a")

    same_key = natural_key(list(zip(paths, one, strict=True))) == natural_key(list(zip(paths, other, strict=True)))

    assert same_key == (one == other)
