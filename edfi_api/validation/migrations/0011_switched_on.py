"""Rules that are run although their files say that they are not active."""

from pathlib import Path

from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):
    dependencies = [("validation", "0010_changed_at")]
    operations = [
        migrations.RunSQL(
            (SQL / "0011_switched_on.sql").read_text(),
            (SQL / "0011_switched_on.reverse.sql").read_text(),
            state_operations=[
                migrations.AddField(
                    model_name="validationrule",
                    name="is_switched_on",
                    field=models.BooleanField(
                        default=False,
                        help_text="The next run has the rule, although its file says that it is inactive.",
                        verbose_name="switched on",
                    ),
                ),
                migrations.AlterField(
                    model_name="validationrule",
                    name="retired_at",
                    field=models.DateTimeField(null=True, verbose_name="left out since"),
                ),
            ],
        )
    ]
