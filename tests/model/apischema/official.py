"""A small core and an extension of it in the current format of Ed-Fi's tools."""

from typing import Any


def schema(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    listed = {"required": list(required)} if required else {}
    return {"type": "object", "additionalProperties": False, "properties": properties, **listed}


def resource(name: str, json_schema: dict[str, Any], *identity: str, **members: Any) -> dict[str, Any]:
    """The members required by the official validator, and others only if given."""
    return {
        "resourceName": name,
        "isDescriptor": False,
        "isSchoolYearEnumeration": False,
        "isSubclass": False,
        "allowIdentityUpdates": False,
        "jsonSchemaForInsert": {"title": f"Ed-Fi.{name}", "description": f"About {name}.", **json_schema},
        "identityJsonPaths": list(identity),
        "documentPathsMapping": {},
        "equalityConstraints": [],
        **members,
    }


def reference(target: str, *pairs: tuple[str, str], project: str = "Ed-Fi") -> dict[str, Any]:
    return {
        "isReference": True,
        "isDescriptor": False,
        "projectName": project,
        "resourceName": target,
        "referenceJsonPaths": [{"referenceJsonPath": h, "identityJsonPath": t, "type": "number"} for h, t in pairs],
    }


def descriptor(target: str, path: str, project: str = "Ed-Fi") -> dict[str, Any]:
    return {
        "isReference": True,
        "isDescriptor": True,
        "projectName": project,
        "resourceName": target,
        "path": path,
        "type": "string",
    }


TEXT = {"type": "string", "maxLength": 60}
NUMBER = {"type": "integer", "format": "int32"}
URI = {"type": "string", "maxLength": 306}
DESCRIPTOR_SCHEMA = schema({"namespace": TEXT, "codeValue": TEXT, "shortDescription": TEXT}, "namespace", "codeValue")

SCHOOL = resource(
    "School",
    schema(
        {
            "schoolId": NUMBER,
            "nameOfInstitution": TEXT,
            "gradeLevels": {
                "type": "array",
                "minItems": 1,
                "uniqueItems": False,
                "items": schema({"gradeLevelDescriptor": URI}, "gradeLevelDescriptor"),
            },
            "addresses": {
                "type": "array",
                "minItems": 0,
                "uniqueItems": False,
                "items": schema(
                    {
                        "city": TEXT,
                        "periods": {
                            "type": "array",
                            "minItems": 0,
                            "items": schema({"beginDate": {"type": "string", "format": "date"}}, "beginDate"),
                        },
                    },
                    "city",
                ),
            },
        },
        "gradeLevels",
        "nameOfInstitution",
        "schoolId",
    ),
    "$.schoolId",
    isSubclass=True,
    subclassType="domainEntity",
    superclassProjectName="Ed-Fi",
    superclassResourceName="EducationOrganization",
    superclassIdentityJsonPath="$.educationOrganizationId",
    documentPathsMapping={
        "GradeLevelDescriptor": descriptor("GradeLevelDescriptor", "$.gradeLevels[*].gradeLevelDescriptor"),
        "SchoolId": {"isReference": False, "path": "$.schoolId", "type": "number"},
    },
    arrayUniquenessConstraints=[
        {
            "paths": ["$.addresses[*].city"],
            "nestedConstraints": [{"basePath": "$.addresses[*]", "paths": ["$.periods[*].beginDate"]}],
        },
        {"paths": ["$.gradeLevels[*].gradeLevelDescriptor"]},
    ],
    numericJsonPaths=["$.schoolId"],
    queryFieldMapping={
        "id": [{"path": "$.id", "type": "string"}],
        "nameOfInstitution": [{"path": "$.nameOfInstitution", "type": "string"}],
        "schoolId": [{"path": "$.schoolId", "type": "number"}],
    },
    securableElements={
        "Namespace": [],
        "EducationOrganization": [{"metaEdName": "SchoolId", "jsonPath": "$.schoolId"}],
        "Student": [],
        "Contact": [],
        "Staff": [],
    },
)

GRADING_PERIOD = resource(
    "GradingPeriod",
    schema(
        {
            "gradeLevelDescriptor": URI,
            "credits": {"type": "number"},
            "schoolReference": schema({"schoolId": NUMBER}, "schoolId"),
            "siblings": {
                "type": "array",
                "items": schema(
                    {
                        "gradingPeriodReference": schema(
                            {"gradeLevelDescriptor": URI, "schoolId": NUMBER}, "gradeLevelDescriptor", "schoolId"
                        )
                    },
                    "gradingPeriodReference",
                ),
            },
        },
        "gradeLevelDescriptor",
        "schoolReference",
    ),
    "$.gradeLevelDescriptor",
    "$.schoolReference.schoolId",
    allowIdentityUpdates=True,
    documentPathsMapping={
        "GradeLevelDescriptor": descriptor("GradeLevelDescriptor", "$.gradeLevelDescriptor"),
        "School": reference("School", ("$.schoolReference.schoolId", "$.schoolId")),
        "Sibling": reference(
            "GradingPeriod",
            ("$.siblings[*].gradingPeriodReference.gradeLevelDescriptor", "$.gradeLevelDescriptor"),
            ("$.siblings[*].gradingPeriodReference.schoolId", "$.schoolReference.schoolId"),
        ),
    },
    equalityConstraints=[
        {
            "sourceJsonPath": "$.siblings[*].gradingPeriodReference.schoolId",
            "targetJsonPath": "$.schoolReference.schoolId",
        }
    ],
    decimalPropertyValidationInfos=[{"path": "$.credits", "totalDigits": 5, "decimalPlaces": 2}],
    queryFieldMapping={
        "id": [{"path": "$.id", "type": "string"}],
        "gradeLevelDescriptor": [{"path": "$.gradeLevelDescriptor", "type": "string"}],
        "schoolId": [{"path": "$.schoolReference.schoolId", "type": "number"}],
    },
    openApiFragments={
        "resources": {
            "components": {
                "schemas": {
                    "EdFi_GradingPeriod": {
                        "type": "object",
                        "x-Ed-Fi-isDeprecated": True,
                        "x-Ed-Fi-deprecatedReasons": "Use sessions.",
                    }
                }
            }
        }
    },
)

CORE: dict[str, Any] = {
    "apiSchemaVersion": "1.0.0",
    "projectSchema": {
        "projectName": "Ed-Fi",
        "projectVersion": "5.2.0",
        "projectEndpointName": "ed-fi",
        "description": "A tiny standard",
        "isExtensionProject": False,
        "compatibleDsRange": None,
        "resourceSchemas": {
            "gradeLevelDescriptors": resource("GradeLevelDescriptor", DESCRIPTOR_SCHEMA, isDescriptor=True),
            "gradingPeriods": GRADING_PERIOD,
            "schools": SCHOOL,
        },
        "abstractResources": {"EducationOrganization": {"identityJsonPaths": ["$.educationOrganizationId"]}},
        "domains": ["Enrollment"],
        "educationOrganizationTypes": ["School", "UnheardOf", "EducationOrganization"],
        "educationOrganizationHierarchy": {"School": {"UnheardOf": "$.unheardOfReference.unheardOfId"}},
        "openApiBaseDocuments": {"resources": {"openapi": "3.0.0"}},
    },
}

EXTENSION: dict[str, Any] = {
    "apiSchemaVersion": "1.0.0",
    "projectSchema": {
        "projectName": "GrandBend",
        "projectVersion": "1.0.0",
        "projectEndpointName": "grand-bend",
        "description": "",
        "isExtensionProject": True,
        "compatibleDsRange": "5.2.0",
        "resourceSchemas": {
            "academies": resource(
                "Academy",
                schema({"academyId": NUMBER, "schoolReference": schema({"schoolId": NUMBER}, "schoolId")}, "academyId"),
                "$.academyId",
                isSubclass=True,
                superclassProjectName="Ed-Fi",
                superclassResourceName="EducationOrganization",
                superclassIdentityJsonPath="$.educationOrganizationId",
                documentPathsMapping={
                    "School": reference("School", ("$.schoolReference.schoolId", "$.schoolId")),
                },
            ),
            "schools": resource(
                "School",
                {
                    **schema(
                        {
                            "_ext": {
                                "type": "object",
                                "additionalProperties": True,
                                "properties": {
                                    "grandbend": {
                                        "type": "object",
                                        "additionalProperties": True,
                                        "properties": {
                                            "foundingDate": {"type": "string", "format": "date"},
                                            "academyReference": schema({"academyId": NUMBER}, "academyId"),
                                        },
                                    }
                                },
                            },
                            "addresses": {"type": "array", "items": schema({})},
                        },
                        "foundingDate",
                    ),
                },
                isResourceExtension=True,
                documentPathsMapping={
                    "Academy": reference(
                        "Academy",
                        ("$._ext.grandbend.academyReference.academyId", "$.academyId"),
                        project="GrandBend",
                    ),
                    "Address.GradeLevelDescriptor": descriptor(
                        "GradeLevelDescriptor", "$.addresses[*]._ext.grandbend.gradeLevelDescriptor"
                    ),
                },
                arrayUniquenessConstraints=[
                    {
                        "paths": ["$.addresses[*].city"],
                        "nestedConstraints": [
                            {"basePath": "$.addresses[*]", "paths": ["$._ext.grandbend.gates[*].gateCode"]}
                        ],
                    }
                ],
                commonExtensionOverrides=[
                    {
                        "insertionLocations": ["$.properties.addresses.items"],
                        "projectEndpointName": "grand-bend",
                        "schemaFragment": schema(
                            {
                                "grandbend": schema(
                                    {
                                        "gradeLevelDescriptor": URI,
                                        "gates": {"type": "array", "items": schema({"gateCode": TEXT}, "gateCode")},
                                    }
                                )
                            }
                        ),
                    }
                ],
            ),
        },
        "abstractResources": {},
        "domains": [],
        "educationOrganizationTypes": ["School", "Academy", "EducationOrganization"],
        "educationOrganizationHierarchy": {"Academy": {"School": "$.schoolReference.schoolId"}},
    },
}
