"""`SchemaAnnotation.xsd`: the values that annotations for tools may have."""

from __future__ import annotations

from collections.abc import Iterable

from edfi_api.model.metaed.model import DESCRIPTOR_SUFFIX, EntityKind, Model
from edfi_api.model.xsd.names import ANNOTATION_FILE
from edfi_api.model.xsd.schema import Annotation, EnumeratedValue, Schema, SimpleType, TypeGroup

ANNOTATION_NAMESPACE = "http://ed-fi.org/annotation"
_VERSION = "1.1.00"
_DATABASE_KEYS = ("Operational Data Store", "Data Warehouse", "Data Mart")
# The published files do not list it.
_UNLISTED_GROUP = TypeGroup.LOOKUP


def annotation_schema(model: Model, namespaces: Iterable[str]) -> Schema:
    """The file for the descriptors of these projects."""
    descriptors = {
        entity.name + DESCRIPTOR_SUFFIX
        for entity in model.of_kind(EntityKind.DESCRIPTOR)
        if entity.namespace in namespaces
    }
    return Schema(
        file_name=ANNOTATION_FILE,
        namespace=ANNOTATION_NAMESPACE,
        version=_VERSION,
        components=(
            _values("DatabaseKey", "Where data are kept.", _DATABASE_KEYS),
            _values("Descriptor", "The descriptors.", sorted(descriptors, key=str.lower)),
            _values("TypeGroup", "The groups of types.", (group for group in TypeGroup if group != _UNLISTED_GROUP)),
        ),
    )


def _values(name: str, documentation: str, values: Iterable[str]) -> SimpleType:
    return SimpleType(
        name=name,
        annotation=Annotation(documentation),
        base="xs:token",
        values=tuple(map(EnumeratedValue, values)),
    )
