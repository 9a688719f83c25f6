"""Links that show the secret of a client one time."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("security", "0001_initial")]
    operations = [
        migrations.CreateModel(
            "SecretLink",
            [
                (
                    "api_client",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="secret_link",
                        serialize=False,
                        to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("ciphertext", models.TextField()),
                ("expires_at", models.DateTimeField()),
            ],
            options={"db_table": "secret_link"},
        )
    ]
