"""Who got the mail of which week."""

from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    operations = [
        migrations.CreateModel(
            "MailSent",
            [
                ("address", models.TextField(primary_key=True, serialize=False)),
                ("week", models.DateField()),
            ],
            options={"db_table": "mail_sent", "default_permissions": ()},
        )
    ]
