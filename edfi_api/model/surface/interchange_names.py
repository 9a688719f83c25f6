"""Element names of interchange XML, shared by its reader, the surface and the XML schemas.

An element is named by role and name of its property, never in the plural, and a reference has a suffix. A reference
contains the identity of its target, or a look-up. Source: the XML schemas and sample files of the Ed-Fi data standard.
"""

from __future__ import annotations

from edfi_api.model.metaed.model import Property
from edfi_api.model.surface.naming import REFERENCE_SUFFIX

ROOT_PREFIX = "Interchange"


def element_name(prop: Property) -> str:
    """`GradeLevel` for a collection of descriptors, `HomeSchoolReference` for a reference to a school."""
    return prop.full_name + REFERENCE_SUFFIX if prop.type.is_reference else prop.full_name


def reference_element(entity: str) -> str:
    """A reference without a role name, as below the root of an interchange."""
    return entity + REFERENCE_SUFFIX


def map_element(descriptor: str) -> str:
    """The element of a descriptor's mapped value, in files of old standards."""
    return f"{descriptor}Map"


def identity_element(entity: str) -> str:
    """The element of an entity's identity, inside a reference to it."""
    return f"{entity}Identity"


def lookup_element(entity: str) -> str:
    """The element of a look-up of an entity, inside a reference to it."""
    return f"{entity}Lookup"
