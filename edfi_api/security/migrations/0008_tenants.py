"""Tenants of vendors and claim sets; rows that exist have none. The rules about them stand in SQL."""

from pathlib import Path

import django.db.models.deletion
from django.db import migrations, models

import edfi_api.security.names

SQL = Path(__file__).parent.parent / "sql"


def _tenant(related_name):
    return models.ForeignKey(
        blank=True,
        null=True,
        on_delete=django.db.models.deletion.PROTECT,
        related_name=related_name,
        to="data_stores.tenant",
    )


def _name():
    return models.CharField(max_length=255, validators=[edfi_api.security.names.validate_name])


def _once(name):
    return models.UniqueConstraint(fields=("tenant", "name"), name=name, nulls_distinct=False)


class Migration(migrations.Migration):
    dependencies = [("security", "0007_data_stores"), ("data_stores", "0002_tenants_are_final")]
    operations = [
        migrations.AddField("vendor", "tenant", _tenant("vendors")),
        migrations.AddField("claimset", "tenant", _tenant("claim_sets")),
        migrations.AlterField("vendor", "name", _name()),
        migrations.AlterField("claimset", "name", _name()),
        migrations.AddConstraint("vendor", _once("vendor_once_per_tenant")),
        migrations.AddConstraint("claimset", _once("claim_set_once_per_tenant")),
        migrations.RunSQL((SQL / "0008_tenants.sql").read_text(), (SQL / "0008_tenants.reverse.sql").read_text()),
    ]
