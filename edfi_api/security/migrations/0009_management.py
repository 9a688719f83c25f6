"""What the management API needs: names of claim sets that need not exist, contacts, ids of clients, reserved claim sets.

Names of clients are unique within their application.
"""

from pathlib import Path

import django.contrib.postgres.fields
import django.contrib.postgres.functions
import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import edfi_api.security.names

SQL = Path(__file__).parent.parent / "sql"

# PostgreSQL does not change the type of a column that a trigger is about.
_WITHOUT_TRIGGER = "DROP TRIGGER claim_set_name_is_not_shared ON security_claimset"
_WITH_TRIGGER = """
CREATE TRIGGER claim_set_name_is_not_shared AFTER INSERT OR UPDATE OF name ON security_claimset
    FOR EACH ROW EXECUTE FUNCTION refuse_name_of_shared_claim_set()
"""
_NAMES = "UPDATE security_application a SET claim_set_name = c.name FROM security_claimset c WHERE c.id = a.claim_set_id"
_RESERVED = """
UPDATE security_claimset SET is_system_reserved = true WHERE tenant_id IS NULL AND name IN (
    'AssessmentVendor', 'BootstrapDescriptorsAndEdOrgs', 'EdFiAPIPublisherReader', 'EdFiAPIPublisherWriter',
    'EdFiSandbox', 'EdFiSandboxDefaults', 'FullAccess', 'OwnershipBased', 'RosterVendor', 'SISVendor'
)
"""


def _name(length):
    return models.CharField(max_length=length, validators=[edfi_api.security.names.validate_name])


class Migration(migrations.Migration):
    dependencies = [
        ("data_stores", "0002_tenants_are_final"),
        ("security", "0008_tenants"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.AddField(
            "apiclient",
            "uuid",
            models.UUIDField(
                db_default=django.contrib.postgres.functions.RandomUUID(), editable=False, unique=True
            ),
        ),
        migrations.AddField(
            "application",
            "claim_set_name",
            models.CharField(blank=True, default="", editable=False, max_length=256),
        ),
        migrations.AddField("claimset", "is_system_reserved", models.BooleanField(default=False, editable=False)),
        migrations.AddField("vendor", "contact_email", models.CharField(blank=True, max_length=320)),
        migrations.AddField("vendor", "contact_name", models.CharField(blank=True, max_length=128)),
        migrations.AlterField("apiclient", "name", _name(255)),
        migrations.AlterField(
            "application",
            "claim_set",
            models.ForeignKey(
                blank=True,
                help_text="What its clients may do. A POST on a document that exists is authorized as Create, unless MEADOWLARK_UPSERT_ASKS_UPDATE is on: a claim set that creates people without further authorization lets its clients overwrite every person. EdFiSandbox and FullAccess filter no documents, whichever education organizations the application has.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="applications",
                to="security.claimset",
            ),
        ),
        migrations.AlterField(
            "application",
            "education_organization_ids",
            django.contrib.postgres.fields.ArrayField(
                base_field=models.BigIntegerField(validators=[django.core.validators.MinValueValidator(1)]),
                blank=True,
                default=list,
                help_text="Ids of the education organizations whose data its clients work with, separated by commas. What lies below them is included.",
                size=None,
            ),
        ),
        migrations.AlterField("application", "name", _name(256)),
        migrations.RunSQL(_WITHOUT_TRIGGER, _WITH_TRIGGER),
        migrations.AlterField("claimset", "name", _name(256)),
        migrations.RunSQL(_WITH_TRIGGER, _WITHOUT_TRIGGER),
        migrations.AlterField("vendor", "name", _name(256)),
        migrations.AddConstraint(
            "apiclient", models.UniqueConstraint(fields=("application", "name"), name="client_once_per_application")
        ),
        migrations.RunSQL(_NAMES, migrations.RunSQL.noop),
        migrations.RunSQL(_RESERVED, migrations.RunSQL.noop),
        migrations.RunSQL(
            (SQL / "0009_management.sql").read_text(), (SQL / "0009_management.reverse.sql").read_text()
        ),
    ]
