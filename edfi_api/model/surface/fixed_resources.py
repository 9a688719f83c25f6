"""The resources whose documents do not depend on their declaration: descriptors and school years."""

from __future__ import annotations

from edfi_api.model.metaed.model import Entity, Project
from edfi_api.model.surface import naming
from edfi_api.model.surface.json_schema import DRAFT, JsonSchema
from edfi_api.model.surface.query_fields import ID_FIELD
from edfi_api.model.surface.resource import (
    JsonPath,
    QueryField,
    QueryType,
    Resource,
    ResourceKind,
    ResourceName,
    SecurableElements,
    ValuePaths,
)

NO_BLANK_AT_EITHER_END = r"^(?!\s)[\s\S]*(?<!\s)$"


def descriptor_resource(entity: Entity, project: Project, domains: tuple[str, ...]) -> Resource:
    """The resource of a controlled vocabulary: every value is a document."""
    return Resource(
        name=ResourceName(project.name, naming.resource_name(entity)),
        project_endpoint=naming.url_segment(project.name),
        endpoint=naming.endpoint_name(naming.resource_name(entity)),
        kind=ResourceKind.DESCRIPTOR,
        json_schema=_descriptor_schema(entity),
        identity=(_path("namespace"), _path("codeValue")),
        query_fields=(
            ID_FIELD,
            _field("codeValue", QueryType.STRING),
            _field("description", QueryType.STRING),
            _field("effectiveBeginDate", QueryType.DATE),
            _field("effectiveEndDate", QueryType.DATE),
            _field("namespace", QueryType.STRING),
            _field("shortDescription", QueryType.STRING),
        ),
        value_paths=ValuePaths(dates=(_path("effectiveBeginDate"), _path("effectiveEndDate"))),
        securable_elements=SecurableElements(namespace=(_path("namespace"),)),
        domains=domains,
        documentation=entity.documentation,
        deprecated=entity.deprecated,
    )


def school_year_resource(entity: Entity, project: Project) -> Resource:
    """The resource of school years; its documents, not the items of the enumeration, are the existing years."""
    return Resource(
        name=ResourceName(project.name, naming.resource_name(entity)),
        project_endpoint=naming.url_segment(project.name),
        endpoint=naming.endpoint_name(naming.resource_name(entity)),
        kind=ResourceKind.SCHOOL_YEAR,
        json_schema=_school_year_schema(entity, project),
        identity=(_path("schoolYear"),),
        query_fields=(
            ID_FIELD,
            _field("schoolYear", QueryType.NUMBER),
            _field("currentSchoolYear", QueryType.BOOLEAN),
            _field("schoolYearDescription", QueryType.STRING),
        ),
        value_paths=ValuePaths(booleans=(_path("currentSchoolYear"),), numbers=(_path("schoolYear"),)),
        documentation=entity.documentation,
        deprecated=entity.deprecated,
    )


def _descriptor_schema(entity: Entity) -> JsonSchema:
    return {
        "$schema": DRAFT,
        "title": "EdFi.Descriptor",
        "description": entity.documentation,
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "namespace": _text("A globally unique namespace that identifies this descriptor set.", 255),
            "codeValue": _text("The code that tells the value from others of its namespace.", 50),
            "shortDescription": _text("A short name of the value for people.", 75),
            "description": {"description": "What the value means.", "type": "string", "maxLength": 1024},
            "effectiveBeginDate": _date("The first day on which the value is in use."),
            "effectiveEndDate": _date("The last day on which the value is in use."),
        },
        "required": ["codeValue", "namespace", "shortDescription"],
    }


def _school_year_schema(entity: Entity, project: Project) -> JsonSchema:
    return {
        "$schema": DRAFT,
        "title": f"{project.name}.SchoolYear",
        "description": entity.documentation,
        "type": "object",
        "additionalProperties": False,
        "properties": {
            # No range here, unlike in references to school years: the documents are the existing years.
            "schoolYear": {
                "description": "The year in which the school year ends.",
                "type": "integer",
                "format": "int32",
                "minimum": 0,
            },
            "currentSchoolYear": {"description": "Whether it is the present school year.", "type": "boolean"},
            "schoolYearDescription": {
                "description": "How people write the school year.",
                "type": "string",
                "maxLength": 50,
            },
        },
        "required": ["currentSchoolYear", "schoolYear", "schoolYearDescription"],
    }


def _text(description: str, max_length: int) -> JsonSchema:
    return {
        "description": description,
        "type": "string",
        "minLength": 1,
        "maxLength": max_length,
        "pattern": NO_BLANK_AT_EITHER_END,
    }


def _date(description: str) -> JsonSchema:
    return {"description": description, "type": "string", "format": "date"}


def _field(name: str, field_type: QueryType) -> QueryField:
    return QueryField(name, field_type, (_path(name),))


def _path(name: str) -> JsonPath:
    return JsonPath((name,))
