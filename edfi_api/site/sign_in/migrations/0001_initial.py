"""The people at an OpenID provider who are users of the admin."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies = [("auth", "0012_alter_user_first_name_max_length"), ("otp_static", "0003_add_timestamps")]
    operations = [
        migrations.CreateModel(
            name="RecoveryCodes",
            fields=[],
            options={
                "proxy": True,
                "indexes": [],
                "constraints": [],
            },
            bases=("otp_static.staticdevice",),
        ),
        migrations.CreateModel(
            name="AdminIdentity",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("issuer", models.CharField(max_length=512)),
                ("subject", models.CharField(max_length=255)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="identities",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "admin identities",
                "db_table": "admin_identity",
                "ordering": ["issuer", "subject"],
                "constraints": [
                    models.UniqueConstraint(fields=("issuer", "subject"), name="admin_identity_of_one_user")
                ],
            },
        ),
    ]
