"""Schools with addresses, and the descriptors that they use."""

from typing import Any

HOME, WORK = "uri://ed-fi.org/AddressTypeDescriptor#Home", "uri://ed-fi.org/AddressTypeDescriptor#Work"
CATEGORY = "uri://ed-fi.org/EducationOrganizationCategoryDescriptor#Value"
GRADE = "uri://ed-fi.org/GradeLevelDescriptor#Value"
STATE = "uri://ed-fi.org/StateAbbreviationDescriptor#Value"
MINIMAL_SCHOOL = {
    "schoolId": 1008,
    "nameOfInstitution": "North",
    "educationOrganizationCategories": [{"educationOrganizationCategoryDescriptor": CATEGORY}],
    "gradeLevels": [{"gradeLevelDescriptor": GRADE}],
}


def address(city: str, kind: str = WORK, **more: Any) -> dict[str, Any]:
    """An item of `addresses`, with further members."""
    return {
        "addressTypeDescriptor": kind,
        "city": f"City {city}",
        "postalCode": "78701",
        "stateAbbreviationDescriptor": STATE,
        "streetNumberName": "1 Main St",
    } | more


def cities(body: dict[str, Any]) -> list[str]:
    """The cities of the addresses, as given to `address`."""
    return [each["city"].removeprefix("City ") for each in body["addresses"]]


def school(*cities: str, **more: Any) -> dict[str, Any]:
    """A school with an address in each city, with further members."""
    return MINIMAL_SCHOOL | {"addresses": [address(city) for city in cities]} | more
