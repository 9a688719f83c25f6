"""Readers of questions, what is withheld from them, what was asked, and the secret of pseudonyms."""

import secrets
from typing import Any

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


_BYTES = 32


def make_secret(apps: Any, schema_editor: Any) -> None:
    apps.get_model("questions", "QuestionSecret").objects.using(schema_editor.connection.alias).create(
        secret=secrets.token_bytes(_BYTES)
    )


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("data_stores", "0002_unique_names"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="QuestionProfile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100, unique=True)),
                (
                    "withheld",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=200),
                        blank=True,
                        default=list,
                        help_text="Columns, separated by commas: birthdate in all views, student.birth*, or edfi.student.lastsurname.",
                        size=None,
                    ),
                ),
                (
                    "least_count",
                    models.PositiveSmallIntegerField(
                        default=0,
                        help_text="With 10, only counts are answered, and none below 10 is shown; 0 for answers of all kinds.",
                        verbose_name="least number that is shown",
                    ),
                ),
            ],
            options={
                "db_table": "question_profile",
            },
        ),
        migrations.CreateModel(
            name="QuestionSecret",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("secret", models.BinaryField()),
            ],
            options={
                "db_table": "question_secret",
            },
        ),
        migrations.CreateModel(
            name="Question",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("asked_at", models.DateTimeField(auto_now_add=True, db_index=True)),
                ("person", models.CharField(max_length=150)),
                ("data_store", models.BigIntegerField(default=0)),
                ("tool", models.CharField(max_length=20)),
                ("statement", models.TextField()),
                ("outcome", models.TextField(default="")),
                ("rows", models.IntegerField(null=True)),
                (
                    "students",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None),
                ),
            ],
            options={
                "db_table": "question",
                "ordering": ["-asked_at", "-id"],
                "indexes": [django.contrib.postgres.indexes.GinIndex(fields=["students"], name="question_students")],
            },
        ),
        migrations.CreateModel(
            name="QuestionReader",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "name",
                    models.CharField(help_text="How the person is called in the trace.", max_length=150, unique=True),
                ),
                ("issuer", models.CharField(blank=True, help_text="Of MEADOWLARK_OIDC_ISSUERS.", max_length=512)),
                (
                    "subject",
                    models.CharField(blank=True, help_text="The claim sub of the person's tokens.", max_length=255),
                ),
                (
                    "organizations",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(),
                        blank=True,
                        default=list,
                        help_text="Ids of education organizations, separated by commas; what is below them is seen, too.",
                        size=None,
                    ),
                ),
                ("sees_everything", models.BooleanField(default=False, help_text="The rows of all organizations.")),
                ("is_active", models.BooleanField(default=True)),
                ("token_digest", models.CharField(editable=False, max_length=64, null=True, unique=True)),
                ("token_expires_at", models.DateTimeField(editable=False, null=True)),
                (
                    "data_store",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty: the admin's.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="data_stores.datastore",
                    ),
                ),
                (
                    "profile",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="questions.questionprofile",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        help_text="A user of the admin; one who is no longer active may not ask.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "reader of questions",
                "verbose_name_plural": "readers of questions",
                "db_table": "question_reader",
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("subject", ""), _negated=True),
                        fields=("issuer", "subject", "data_store"),
                        name="question_reader_of_one_subject",
                        nulls_distinct=False,
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("user__isnull", False)),
                        fields=("user", "data_store"),
                        name="question_reader_of_one_user",
                        nulls_distinct=False,
                    ),
                ],
            },
        ),
        migrations.RunPython(make_secret, migrations.RunPython.noop),
    ]
