"""What forms say about a name that is taken. Nothing changes in the database."""

from django.db import migrations, models
from django.db.models.functions import Lower


class Migration(migrations.Migration):
    dependencies = [("exchange", "0004_every_waiting_delete")]
    operations = [
        migrations.AlterConstraint(
            "connection",
            "connection_once_in_any_case",
            models.UniqueConstraint(
                Lower("name"),
                name="connection_once_in_any_case",
                violation_error_message="There is a connection of this name.",
            ),
        ),
    ]
