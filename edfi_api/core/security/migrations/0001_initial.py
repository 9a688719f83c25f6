"""Vendors, applications, API clients, claim sets, and the groups of admin users."""

from pathlib import Path
from typing import Any

import django.contrib.postgres.fields
import django.contrib.postgres.functions
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
import oauth2_provider.generators
import oauth2_provider.models
from django.conf import settings
from django.db import migrations, models

import edfi_api.security.names
from edfi_api.security.admin_groups import make_groups

SQL = Path(__file__).parent.parent / "sql"


def _make_groups(_apps: Any, schema_editor: Any) -> None:
    make_groups(schema_editor.connection.alias)


class Migration(migrations.Migration):
    initial = True
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("data_stores", "0001_initial"),
    ]
    # The toolkit's tokens refer to this table, whose name its first migration learns from the settings only.
    run_before = [("oauth2_provider", "0001_initial")]
    operations = [
        migrations.RunSQL((SQL / "versions.sql").read_text()),
        migrations.CreateModel(
            name="ClaimSet",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=256, validators=[edfi_api.security.names.validate_name])),
                ("description", models.TextField(blank=True, help_text="For whom it is meant.")),
                (
                    "tenant",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="claim_sets",
                        to="data_stores.tenant",
                    ),
                ),
                ("is_system_reserved", models.BooleanField(default=False, editable=False)),
                ("created_at", models.DateTimeField(editable=False, null=True)),
                ("created_by", models.TextField(db_default="", editable=False)),
                ("modified_at", models.DateTimeField(editable=False, null=True)),
                ("modified_by", models.TextField(db_default="", editable=False)),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "name"), name="claim_set_once_per_tenant", nulls_distinct=False
                    ),
                    models.UniqueConstraint(
                        django.db.models.functions.text.Lower("name"),
                        models.F("tenant"),
                        name="claim_set_name_once_in_any_case",
                        nulls_distinct=False,
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Vendor",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=256, validators=[edfi_api.security.names.validate_name])),
                (
                    "namespace_prefixes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(validators=[edfi_api.security.names.validate_namespace_prefix]),
                        blank=True,
                        default=list,
                        help_text="Beginnings of the namespaces that its clients work with, separated by commas: uri://ed-fi.org. Plain text, so that this one covers uri://ed-fi.org.example too.",
                        size=None,
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="vendors",
                        to="data_stores.tenant",
                    ),
                ),
                ("contact_email", models.CharField(blank=True, max_length=320)),
                ("contact_name", models.CharField(blank=True, max_length=128)),
                ("created_at", models.DateTimeField(editable=False, null=True)),
                ("created_by", models.TextField(db_default="", editable=False)),
                ("modified_at", models.DateTimeField(editable=False, null=True)),
                ("modified_by", models.TextField(db_default="", editable=False)),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("namespace_prefixes__contains", [""]), _negated=True),
                        name="vendor_has_no_blank_prefix",
                    ),
                    models.UniqueConstraint(
                        fields=("tenant", "name"), name="vendor_once_per_tenant", nulls_distinct=False
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Application",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=256, validators=[edfi_api.security.names.validate_name])),
                (
                    "education_organization_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(validators=[django.core.validators.MinValueValidator(1)]),
                        blank=True,
                        default=list,
                        help_text="Ids of the education organizations whose data its clients work with, separated by commas. What lies below them is included.",
                        size=None,
                    ),
                ),
                (
                    "claim_set",
                    models.ForeignKey(
                        blank=True,
                        help_text="What its clients may do. A POST on a document that exists is authorized as Create, unless MEADOWLARK_UPSERT_ASKS_UPDATE is on: a claim set that creates people without further authorization lets its clients overwrite every person. EdFiSandbox and FullAccess filter no documents, whichever education organizations the application has.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="applications",
                        to="security.claimset",
                    ),
                ),
                (
                    "vendor",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="applications", to="security.vendor"
                    ),
                ),
                ("claim_set_name", models.CharField(blank=True, default="", editable=False, max_length=256)),
                ("created_at", models.DateTimeField(editable=False, null=True)),
                ("created_by", models.TextField(db_default="", editable=False)),
                ("modified_at", models.DateTimeField(editable=False, null=True)),
                ("modified_by", models.TextField(db_default="", editable=False)),
            ],
            options={
                "ordering": ["name"],
                "constraints": [models.UniqueConstraint(fields=("vendor", "name"), name="application_once_per_vendor")],
            },
        ),
        migrations.CreateModel(
            name="ApiClient",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "redirect_uris",
                    models.TextField(
                        blank=True, help_text="Allowed URIs list, space separated", verbose_name="redirect URIs"
                    ),
                ),
                (
                    "post_logout_redirect_uris",
                    models.TextField(
                        blank=True,
                        default="",
                        help_text="Allowed Post Logout URIs list, space separated",
                        verbose_name="post logout redirect URIs",
                    ),
                ),
                (
                    "client_secret",
                    oauth2_provider.models.ClientSecretField(
                        blank=True,
                        db_index=True,
                        default=oauth2_provider.generators.generate_client_secret,
                        help_text="Client secret for authentication",
                        max_length=255,
                        verbose_name="client secret",
                    ),
                ),
                ("hash_client_secret", models.BooleanField(default=True, verbose_name="hash client secret")),
                ("skip_authorization", models.BooleanField(default=False, verbose_name="skip authorization")),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("updated", models.DateTimeField(auto_now=True, verbose_name="updated")),
                (
                    "algorithm",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "No OIDC support"),
                            ("RS256", "RSA with SHA-2 256"),
                            ("HS256", "HMAC with SHA-2 256"),
                        ],
                        default="",
                        max_length=5,
                        verbose_name="algorithm",
                    ),
                ),
                (
                    "allowed_origins",
                    models.TextField(
                        blank=True,
                        default="",
                        help_text="Allowed origins list to enable CORS, space separated",
                        verbose_name="allowed origins",
                    ),
                ),
                (
                    "registration_source",
                    models.CharField(
                        choices=[
                            ("manual", "Manual"),
                            ("dcr", "Dynamic Client Registration"),
                            ("cimd", "Client ID Metadata Document"),
                        ],
                        default="manual",
                        help_text="How this application was registered (manual, DCR per RFC 7591, or CIMD)",
                        max_length=32,
                        verbose_name="registration source",
                    ),
                ),
                (
                    "cimd_expires_at",
                    models.DateTimeField(
                        blank=True,
                        default=None,
                        help_text="When the cached Client ID Metadata Document should be re-fetched",
                        null=True,
                        verbose_name="CIMD expires at",
                    ),
                ),
                ("name", models.CharField(max_length=255, validators=[edfi_api.security.names.validate_name])),
                (
                    "client_id",
                    models.CharField(
                        default=oauth2_provider.generators.generate_client_id,
                        max_length=100,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator(
                                "\\A[A-Za-z0-9._~-]+\\Z",
                                "A key consists of letters, digits, dots, underscores, tildes and hyphens.",
                            )
                        ],
                        verbose_name="key",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="An inactive client gets no token, and those it has stop working.",
                        verbose_name="active",
                    ),
                ),
                ("client_type", models.CharField(default="confidential", editable=False, max_length=32)),
                (
                    "authorization_grant_type",
                    models.CharField(default="client-credentials", editable=False, max_length=44),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="%(app_label)s_%(class)s",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user",
                    ),
                ),
                (
                    "expires_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="From then on as if it were inactive. Without a time it does not expire.",
                        null=True,
                    ),
                ),
                (
                    "application",
                    models.ForeignKey(
                        help_text="Says what the client may do, and for which education organizations.",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="api_clients",
                        to="security.application",
                    ),
                ),
                (
                    "uuid",
                    models.UUIDField(
                        db_default=django.contrib.postgres.functions.RandomUUID(), editable=False, unique=True
                    ),
                ),
                ("created_by", models.TextField(db_default="", editable=False)),
                ("modified_by", models.TextField(db_default="", editable=False)),
            ],
            options={
                "verbose_name": "API client",
                "ordering": ["name"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("authorization_grant_type", "client-credentials")),
                        name="api_client_uses_client_credentials",
                    ),
                    models.UniqueConstraint(fields=("application", "name"), name="client_once_per_application"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ClaimsVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.BigIntegerField()),
            ],
            options={
                "db_table": "claims_version",
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="ResourceClaim",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "name",
                    models.CharField(
                        help_text="Such as ed-fi/student, domains/people or services/identity; http://ed-fi.org/identity/claims/ is understood before it.",
                        max_length=255,
                        unique=True,
                        validators=[edfi_api.security.names.validate_name],
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        help_text="The domain that this one lies in: what is granted or defined there counts here too.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="children",
                        to="security.resourceclaim",
                    ),
                ),
                ("created_at", models.DateTimeField(editable=False, null=True)),
                ("created_by", models.TextField(db_default="", editable=False)),
                ("modified_at", models.DateTimeField(editable=False, null=True)),
                ("modified_by", models.TextField(db_default="", editable=False)),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="Grant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "actions",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("Create", "Create"),
                                ("Read", "Read"),
                                ("Update", "Update"),
                                ("Delete", "Delete"),
                                ("ReadChanges", "ReadChanges"),
                            ],
                            max_length=11,
                        ),
                        size=None,
                    ),
                ),
                (
                    "claim_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="grants", to="security.claimset"
                    ),
                ),
                (
                    "resource_claim",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="grants", to="security.resourceclaim"
                    ),
                ),
            ],
            options={
                "ordering": ["claim_set", "resource_claim__name"],
                "constraints": [
                    models.UniqueConstraint(fields=("claim_set", "resource_claim"), name="one_grant_per_claim")
                ],
            },
        ),
        migrations.CreateModel(
            name="DefaultStrategies",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "action",
                    models.CharField(
                        choices=[
                            ("Create", "Create"),
                            ("Read", "Read"),
                            ("Update", "Update"),
                            ("Delete", "Delete"),
                            ("ReadChanges", "ReadChanges"),
                        ],
                        max_length=11,
                    ),
                ),
                (
                    "strategies",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=255), size=None),
                ),
                (
                    "resource_claim",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="defaults",
                        to="security.resourceclaim",
                    ),
                ),
            ],
            options={
                "verbose_name": "default strategies",
                "verbose_name_plural": "default strategies",
                "ordering": ["resource_claim", "id"],
                "constraints": [
                    models.UniqueConstraint(fields=("resource_claim", "action"), name="defaults_once_per_action")
                ],
            },
        ),
        migrations.CreateModel(
            name="OverridingStrategies",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "action",
                    models.CharField(
                        choices=[
                            ("Create", "Create"),
                            ("Read", "Read"),
                            ("Update", "Update"),
                            ("Delete", "Delete"),
                            ("ReadChanges", "ReadChanges"),
                        ],
                        max_length=11,
                    ),
                ),
                (
                    "strategies",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=255), size=None),
                ),
                (
                    "grant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="overrides", to="security.grant"
                    ),
                ),
            ],
            options={
                "verbose_name": "overriding strategies",
                "verbose_name_plural": "overriding strategies",
                "ordering": ["grant", "id"],
                "constraints": [models.UniqueConstraint(fields=("grant", "action"), name="overrides_once_per_action")],
            },
        ),
        migrations.CreateModel(
            name="ApiClientDataStore",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "api_client",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL
                    ),
                ),
                (
                    "data_store",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="data_stores.datastore"),
                ),
            ],
            options={
                "db_table": "api_client_data_store",
                "constraints": [
                    models.UniqueConstraint(fields=("api_client", "data_store"), name="data_store_assigned_once")
                ],
            },
        ),
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
                    models.CharField(
                        help_text="An issuer of the file MEADOWLARK_OIDC_ISSUERS, as it is spelt there.",
                        max_length=255,
                        validators=[edfi_api.security.names.validate_name],
                    ),
                ),
                (
                    "value",
                    models.CharField(
                        help_text="Its id at the identity provider: in tokens client_id, azp, appid or sub, unless the file names another claim.",
                        max_length=255,
                        validators=[edfi_api.security.names.validate_name],
                        verbose_name="client",
                    ),
                ),
            ],
            options={
                "db_table": "external_identity",
                "verbose_name_plural": "external identities",
                "constraints": [
                    models.UniqueConstraint(fields=("issuer", "value"), name="external_identity_of_one_client")
                ],
            },
        ),
        migrations.CreateModel(
            name="RefusedTokens",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("issuer", models.CharField(max_length=255)),
                ("client", models.CharField(blank=True, default="", max_length=255)),
                ("issued_before", models.DateTimeField()),
            ],
            options={
                "db_table": "refused_tokens",
                "constraints": [
                    models.UniqueConstraint(fields=("issuer", "client"), name="refused_tokens_once_per_client")
                ],
            },
        ),
        migrations.AddField(
            model_name="apiclient",
            name="data_stores",
            field=models.ManyToManyField(
                blank=True,
                help_text="Where its documents are; the address of a request chooses one of them. Without any, the control database, as far as the settings let it.",
                related_name="api_clients",
                through="security.ApiClientDataStore",
                to="data_stores.datastore",
            ),
        ),
        migrations.RunSQL((SQL / "claims.sql").read_text()),
        migrations.RunSQL((SQL / "tenants.sql").read_text()),
        # Once; then they are the operator's to change.
        migrations.RunPython(_make_groups),
    ]
