"""How many requests a connection makes at most."""

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("exchange", "0006_pinned_documents")]
    operations = [
        migrations.AddField(
            "connection",
            "requests_per_second",
            models.PositiveIntegerField(
                null=True,
                blank=True,
                validators=[django.core.validators.MinValueValidator(1)],
                help_text="Requests to the other API in a second at most; empty is any number.",
            ),
        ),
    ]
