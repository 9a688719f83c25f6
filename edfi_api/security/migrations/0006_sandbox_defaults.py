"""The claim set EdFiSandboxDefaults for databases that have claims already; a new one gets it with all the others.

Nothing that operators made is changed: a claim set of this name stays as it is, and so does everything else.
"""

import django.db.models.deletion
from django.db import migrations, models

NAME = "EdFiSandboxDefaults"
ALL = ["Create", "Read", "Update", "Delete", "ReadChanges"]
UNRESTRICTED = "NoFurtherAuthorizationRequired"
GRANTS = {
    "domains/everything": ["Read", "ReadChanges"],
    **dict.fromkeys(
        [
            "domains/assessmentMetadata",
            "domains/educationOrganizations",
            "domains/educationStandards",
            "domains/finance",
            "domains/managedDescriptors",
            "domains/people",
            "domains/primaryRelationships",
            "domains/relationshipBasedData",
            "domains/systemDescriptors",
            "domains/tpdm",
            "ed-fi/crisisEvent",
            "ed-fi/educationContent",
            "ed-fi/studentHealth",
        ],
        ["Create", "Update", "Delete"],
    ),
    "domains/unsecuredData": ALL,
    "services/identity": ["Create", "Read", "Update"],
}


def add_claim_set(apps, schema_editor):
    model = lambda name: apps.get_model("security", name).objects.using(schema_editor.connection.alias)
    claims = dict(model("ResourceClaim").filter(name__in=GRANTS).values_list("name", "pk"))
    if not claims or model("ClaimSet").filter(name=NAME).exists():
        return
    claim_set = model("ClaimSet").create(
        name=NAME,
        description="All actions on all resources by their default strategies; school year types can only be read.",
    )
    for name, claim in claims.items():
        grant = model("Grant").create(claim_set=claim_set, resource_claim_id=claim, actions=GRANTS[name])
        if name == "domains/unsecuredData":
            for action in ALL:
                model("OverridingStrategies").create(grant=grant, action=action, strategies=[UNRESTRICTED])
    # Django defers foreign keys, and PostgreSQL changes no table that waits to be checked.
    schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


class Migration(migrations.Migration):

    dependencies = [
        ('security', '0005_names_and_prefixes'),
    ]

    operations = [
        migrations.RunPython(add_claim_set, migrations.RunPython.noop),
        migrations.AlterField(
            model_name='application',
            name='claim_set',
            field=models.ForeignKey(help_text='What its clients may do. A POST on a document that exists is authorized as Create, unless MEADOWLARK_UPSERT_ASKS_UPDATE is on: a claim set that creates people without further authorization lets its clients overwrite every person. EdFiSandbox and FullAccess filter no documents, whichever education organizations the application has.', on_delete=django.db.models.deletion.PROTECT, related_name='applications', to='security.claimset'),
        ),
    ]
