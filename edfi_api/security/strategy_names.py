"""The names of the authorization strategies that Ed-Fi defines. See
meadowlark/docs/authorization.md#strategies.

Views of the operator's own, `{BasisResource}With{Description}`, are no strategies here.
"""

STRATEGY_NAMES = (
    "NoFurtherAuthorizationRequired",
    "NamespaceBased",
    "OwnershipBased",
    "RelationshipsWithEdOrgsOnly",
    "RelationshipsWithEdOrgsOnlyInverted",
    "RelationshipsWithEdOrgsAndPeople",
    "RelationshipsWithEdOrgsAndPeopleInverted",
    "RelationshipsWithEdOrgsAndPeopleIncludingDeletes",
    "RelationshipsWithPeopleOnly",
    "RelationshipsWithStudentsOnly",
    "RelationshipsWithStudentsOnlyIncludingDeletes",
    "RelationshipsWithStudentsOnlyThroughResponsibility",
    "RelationshipsWithStudentsOnlyThroughResponsibilityIncludingDeletes",
)
