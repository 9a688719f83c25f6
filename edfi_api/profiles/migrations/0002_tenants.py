"""Tenants of profiles; those that exist have none. The rules about them stand in SQL."""

from pathlib import Path

import django.db.models.deletion
import django.db.models.functions.text
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("profiles", "0001_profiles"), ("security", "0008_tenants")]
    operations = [
        migrations.AddField(
            "profile",
            "tenant",
            models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="profiles",
                to="data_stores.tenant",
            ),
        ),
        migrations.RemoveConstraint("profile", "profile_once_in_any_case"),
        migrations.AddConstraint(
            "profile",
            models.UniqueConstraint(
                models.F("tenant"),
                django.db.models.functions.text.Lower("name"),
                name="profile_once_per_tenant",
                nulls_distinct=False,
            ),
        ),
        migrations.RunSQL((SQL / "0002_tenants.sql").read_text(), (SQL / "0002_tenants.reverse.sql").read_text()),
    ]
