"""API clients, and the link from the toolkit's tokens to them."""

import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import oauth2_provider.generators
import oauth2_provider.models
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    # The toolkit's tokens point at this table, whose name its first migration learns from the settings only.
    run_before = [
        ("oauth2_provider", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name='ApiClient',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('redirect_uris', models.TextField(blank=True, help_text='Allowed URIs list, space separated', verbose_name='redirect URIs')),
                ('post_logout_redirect_uris', models.TextField(blank=True, default='', help_text='Allowed Post Logout URIs list, space separated', verbose_name='post logout redirect URIs')),
                ('client_secret', oauth2_provider.models.ClientSecretField(blank=True, db_index=True, default=oauth2_provider.generators.generate_client_secret, help_text='Client secret for authentication', max_length=255, verbose_name='client secret')),
                ('hash_client_secret', models.BooleanField(default=True, verbose_name='hash client secret')),
                ('skip_authorization', models.BooleanField(default=False, verbose_name='skip authorization')),
                ('created', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated', models.DateTimeField(auto_now=True, verbose_name='updated')),
                ('algorithm', models.CharField(blank=True, choices=[('', 'No OIDC support'), ('RS256', 'RSA with SHA-2 256'), ('HS256', 'HMAC with SHA-2 256')], default='', max_length=5, verbose_name='algorithm')),
                ('allowed_origins', models.TextField(blank=True, default='', help_text='Allowed origins list to enable CORS, space separated', verbose_name='allowed origins')),
                ('registration_source', models.CharField(choices=[('manual', 'Manual'), ('dcr', 'Dynamic Client Registration'), ('cimd', 'Client ID Metadata Document')], default='manual', help_text='How this application was registered (manual, DCR per RFC 7591, or CIMD)', max_length=32, verbose_name='registration source')),
                ('cimd_expires_at', models.DateTimeField(blank=True, default=None, help_text='When the cached Client ID Metadata Document should be re-fetched', null=True, verbose_name='CIMD expires at')),
                ('name', models.CharField(max_length=255, unique=True)),
                ('client_id', models.CharField(default=oauth2_provider.generators.generate_client_id, max_length=100, unique=True, validators=[django.core.validators.RegexValidator('\\A[A-Za-z0-9._~-]+\\Z', 'A key consists of letters, digits, dots, underscores, tildes and hyphens.')], verbose_name='key')),
                ('is_active', models.BooleanField(default=True, help_text='An inactive client gets no token, and those it has stop working.', verbose_name='active')),
                ('claim_set_name', models.CharField(help_text='The claim set that says what the client may do.', max_length=255)),
                ('education_organization_ids', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), blank=True, default=list, help_text='Education organizations whose data the client works with.', size=None)),
                ('namespace_prefixes', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), blank=True, default=list, help_text='Beginnings of the namespaces whose data the client works with, such as uri://ed-fi.org.', size=None)),
                ('client_type', models.CharField(default='confidential', editable=False, max_length=32)),
                ('authorization_grant_type', models.CharField(default='client-credentials', editable=False, max_length=44)),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='%(app_label)s_%(class)s', to=settings.AUTH_USER_MODEL, verbose_name='user')),
            ],
            options={
                'verbose_name': 'API client',
                'ordering': ['name'],
                'constraints': [models.CheckConstraint(condition=models.Q(('authorization_grant_type', 'client-credentials')), name='api_client_uses_client_credentials')],
            },
        ),
    ]
