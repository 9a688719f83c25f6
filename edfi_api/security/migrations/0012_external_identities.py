"""Clients of other identity providers, and tokens of those that are refused."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import edfi_api.security.names


def _text(**options):
    return models.CharField(max_length=255, validators=[edfi_api.security.names.validate_name], **options)


class Migration(migrations.Migration):
    dependencies = [
        ("security", "0011_admin_groups"),
        migrations.swappable_dependency(settings.OAUTH2_PROVIDER_APPLICATION_MODEL),
    ]
    operations = [
        migrations.CreateModel(
            name="ExternalIdentity",
            fields=[
                (
                    "api_client",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="external_identity",
                        serialize=False,
                        to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
                    ),
                ),
                (
                    "issuer",
                    _text(help_text="An issuer of the file MEADOWLARK_OIDC_ISSUERS, as it is spelt there."),
                ),
                (
                    "value",
                    _text(
                        help_text="Its id at the identity provider: in tokens client_id, azp, appid or sub, unless the "
                        "file names another claim.",
                        verbose_name="client",
                    ),
                ),
            ],
            options={
                "db_table": "external_identity",
                "verbose_name_plural": "external identities",
                "constraints": [
                    models.UniqueConstraint(fields=["issuer", "value"], name="external_identity_of_one_client")
                ],
            },
        ),
        migrations.CreateModel(
            name="RefusedTokens",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                ("issuer", models.CharField(max_length=255)),
                ("client", models.CharField(blank=True, default="", max_length=255)),
                ("issued_before", models.DateTimeField()),
            ],
            options={
                "db_table": "refused_tokens",
                "constraints": [
                    models.UniqueConstraint(fields=["issuer", "client"], name="refused_tokens_once_per_client")
                ],
            },
        ),
    ]
