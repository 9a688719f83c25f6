"""The names of Ed-Fi's core model that code has to know, each with its reason. All else follows from the model."""

from edfi_api.model.metaed.model import CORE_NAMESPACE, EntityKey, EntityKind

# The project of the core model, which every data standard has.
CORE_PROJECT = "Ed-Fi"

# MetaEd has no syntax for an abstract association.
ABSTRACT_ASSOCIATION = EntityKey(CORE_NAMESPACE, EntityKind.ASSOCIATION, "GeneralStudentProgramAssociation")

# Authorization: its subclasses are the organizations that clients are given, and their references form the hierarchy.
EDUCATION_ORGANIZATION = EntityKey(CORE_NAMESPACE, EntityKind.DOMAIN_ENTITY, "EducationOrganization")

# Authorization: the people whose unique ids decide about documents. Before data standard 5, Contact is named Parent.
STUDENT, STAFF, CONTACT = frozenset({"Student"}), frozenset({"Staff"}), frozenset({"Contact", "Parent"})

# Authorization: the property that `NamespaceBased` compares, and its type.
NAMESPACE = "Namespace"
NAMESPACE_TYPE = EntityKey(CORE_NAMESPACE, EntityKind.SHARED_STRING, "URI")

# Queries: the end of the names of collections whose members the ODS/API has as query fields of their resource.
IDENTIFICATION_CODES = "identificationCodes"

# SQL views: in addition to descriptors, what products insert into an ODS. Data standards before 5 may lack it.
DESCRIPTOR_MAPPING = EntityKey(CORE_NAMESPACE, EntityKind.DOMAIN_ENTITY, "DescriptorMapping")

# Authorization: the associations that bring people within reach of organizations, by the name that the ApiSchema format
# has for each way. Students and staff are associated with an organization, contacts with a student.
STUDENT_PATHWAY = "StudentSchoolAssociationAuthorization"
RESPONSIBILITY_PATHWAY = "StudentEducationOrganizationResponsibilityAssociationAuthorization"
CONTACT_PATHWAY = "ContactStudentSchoolAuthorization"
STAFF_PATHWAY = "StaffEducationOrganizationAuthorization"
AUTHORIZATION_PATHWAYS = {
    STUDENT_PATHWAY: ("StudentSchoolAssociation",),
    RESPONSIBILITY_PATHWAY: ("StudentEducationOrganizationResponsibilityAssociation",),
    CONTACT_PATHWAY: ("StudentContactAssociation", "StudentParentAssociation"),
    STAFF_PATHWAY: (
        "StaffEducationOrganizationEmploymentAssociation",
        "StaffEducationOrganizationAssignmentAssociation",
    ),
}
