"""Names of types and files. The types of an extension begin with its tag: `Bus` is `EXTENSION-Bus`."""

from __future__ import annotations

import re

from edfi_api.model.metaed.model import (
    DESCRIPTOR_SUFFIX,
    Entity,
    EntityKey,
    EntityKind,
    Model,
    Project,
    Property,
    PropertyType,
)
from edfi_api.model.surface.naming import ROOT_PREFIX, with_suffix

COMPLEX_OBJECT_TYPE = "ComplexObjectType"
DESCRIPTOR_TYPE = "DescriptorType"
REFERENCE_TYPE = "ReferenceType"
DESCRIPTOR_REFERENCE_TYPE = "DescriptorReferenceType"
CURRENCY, PERCENT, TIME_INTERVAL = "Currency", "Percent", "TimeInterval"

ANNOTATION_FILE = "SchemaAnnotation.xsd"
CORE_FILE = "Ed-Fi-Core.xsd"

_BUILT_IN_TYPES = {
    PropertyType.BOOLEAN: "xs:boolean",
    PropertyType.CURRENCY: CURRENCY,
    PropertyType.DATE: "xs:date",
    PropertyType.DATETIME: "xs:dateTime",
    PropertyType.DURATION: TIME_INTERVAL,
    PropertyType.PERCENT: PERCENT,
    PropertyType.TIME: "xs:time",
    PropertyType.YEAR: "xs:gYear",
}
_ENUMERATIONS = frozenset({EntityKind.ENUMERATION, EntityKind.SCHOOL_YEAR_ENUMERATION})
_PRE_RELEASE = re.compile(r"-pre\.\d+$")
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class TypeNames:
    """The names of all types that follow from a model."""

    def __init__(self, model: Model) -> None:
        self._prefixes = {project.namespace: tag_prefix(project) for project in model.projects}

    def of(self, entity: EntityKey) -> str:
        """The type of a declaration: of its documents, of its values."""
        name = self._prefixes[entity.namespace] + entity.name
        if entity.kind is EntityKind.DESCRIPTOR:
            return name + DESCRIPTOR_SUFFIX
        return with_suffix(name, "Type") if entity.kind in _ENUMERATIONS else name

    def identity(self, entity: EntityKey) -> str:
        return f"{self.of(entity)}IdentityType"

    def lookup(self, entity: EntityKey) -> str:
        return f"{self.of(entity)}LookupType"

    def reference(self, entity: EntityKey) -> str:
        """The type of references to an entity, and of the values of a descriptor."""
        return f"{self.of(entity)}ReferenceType"

    def map_type(self, descriptor: EntityKey) -> str:
        return f"{self._prefixes[descriptor.namespace]}{descriptor.name}MapType"

    def extension(self, namespace: str, name: str) -> str:
        """What a project makes of an entity or common with additions."""
        return f"{self._prefixes[namespace]}{name}Extension"

    def restriction(self, additions: Entity) -> str:
        return f"{self._prefixes[additions.namespace]}{additions.name}Restriction"

    def of_property(self, prop: Property) -> str:
        """The type of a property's element. A choice has none."""
        match prop.type:
            case PropertyType.STRING | PropertyType.DECIMAL | PropertyType.INTEGER | PropertyType.SHORT:
                return self._of_plain_property(prop)
            case PropertyType.DESCRIPTOR | PropertyType.DOMAIN_ENTITY | PropertyType.ASSOCIATION:
                return self.reference(_target(prop))
            case PropertyType.COMMON if prop.is_common_extension:
                return self.extension(prop.declared_by.namespace, prop.name)
        return _BUILT_IN_TYPES[prop.type] if prop.type in _BUILT_IN_TYPES else self.of(_target(prop))

    def _of_plain_property(self, prop: Property) -> str:
        if prop.is_big:
            return "xs:long"
        return self.of_limits(prop) if has_own_type(prop) else integer_type(prop.type, is_big=False)

    def of_limits(self, prop: Property) -> str:
        """The simple type for the limits of a property that has no shared type. Several properties may share it."""
        return self._prefixes[prop.declared_by.namespace] + prop.name


def has_own_type(prop: Property) -> bool:
    """Strings and decimals always have a simple type, integers only with a limit."""
    match prop.type:
        case PropertyType.STRING | PropertyType.DECIMAL:
            return True
        case PropertyType.INTEGER | PropertyType.SHORT:
            return prop.min_value is not None or prop.max_value is not None
    return False


def integer_type(type_: PropertyType, *, is_big: bool) -> str:
    """The type of XML Schema itself for an integer."""
    if is_big:
        return "xs:long"
    return "xs:short" if type_ in (PropertyType.SHORT, PropertyType.SHARED_SHORT) else "xs:int"


def _target(prop: Property) -> EntityKey:
    if prop.target is None:
        raise KeyError(f"{prop.full_name} has no target")
    return prop.target


def tag_prefix(project: Project) -> str:
    """`EXTENSION-`, or nothing for the core."""
    return f"{project.tag}-" if project.tag else ""


def core_file(project: Project) -> str:
    """The file with the types of a project."""
    return f"{tag_prefix(project)}Ed-Fi-Extended-Core.xsd" if project.is_extension else CORE_FILE


def interchange_file(project: Project, name: str) -> str:
    extension = "-Extension" if project.is_extension else ""
    return f"{tag_prefix(project)}{ROOT_PREFIX}-{name}{extension}.xsd"


def namespace(core_version: str) -> str:
    """The XML namespace of a data standard, which its extensions share: that of a draft is the release's."""
    return f"http://ed-fi.org/{_PRE_RELEASE.sub('', core_version)}"


def in_words(name: str) -> str:
    """`StudentAssessment` → `Student Assessment`."""
    return _WORD_START.sub(" ", name)
