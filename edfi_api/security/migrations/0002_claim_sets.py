"""Resource claims, claim sets, and the number that tells when they have changed."""

from pathlib import Path

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):

    dependencies = [
        ('security', '0001_api_client'),
    ]

    operations = [
        migrations.CreateModel(
            name='ClaimsVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.BigIntegerField()),
            ],
            options={
                'db_table': 'claims_version',
                'managed': False,
            },
        ),
        migrations.CreateModel(
            name='ClaimSet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=255, unique=True)),
                ('description', models.TextField(blank=True, help_text='For whom it is meant.')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='ResourceClaim',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='Such as ed-fi/student, domains/people or services/identity; http://ed-fi.org/identity/claims/ is understood before it.', max_length=255, unique=True)),
                ('parent', models.ForeignKey(blank=True, help_text='The domain that this one lies in: what is granted or defined there counts here too.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='children', to='security.resourceclaim')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Grant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('actions', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('Create', 'Create'), ('Read', 'Read'), ('Update', 'Update'), ('Delete', 'Delete'), ('ReadChanges', 'ReadChanges')], max_length=11), size=None)),
                ('claim_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grants', to='security.claimset')),
                ('resource_claim', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='grants', to='security.resourceclaim')),
            ],
            options={
                'ordering': ['claim_set', 'resource_claim__name'],
            },
        ),
        migrations.CreateModel(
            name='DefaultStrategies',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('action', models.CharField(choices=[('Create', 'Create'), ('Read', 'Read'), ('Update', 'Update'), ('Delete', 'Delete'), ('ReadChanges', 'ReadChanges')], max_length=11)),
                ('strategies', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=255), size=None)),
                ('resource_claim', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='defaults', to='security.resourceclaim')),
            ],
            options={
                'verbose_name': 'default strategies',
                'verbose_name_plural': 'default strategies',
                'ordering': ['resource_claim', 'id'],
            },
        ),
        migrations.CreateModel(
            name='OverridingStrategies',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('action', models.CharField(choices=[('Create', 'Create'), ('Read', 'Read'), ('Update', 'Update'), ('Delete', 'Delete'), ('ReadChanges', 'ReadChanges')], max_length=11)),
                ('strategies', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=255), size=None)),
                ('grant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='overrides', to='security.grant')),
            ],
            options={
                'verbose_name': 'overriding strategies',
                'verbose_name_plural': 'overriding strategies',
                'ordering': ['grant', 'id'],
                'constraints': [models.UniqueConstraint(fields=('grant', 'action'), name='overrides_once_per_action')],
            },
        ),
        migrations.AddConstraint(
            model_name='grant',
            constraint=models.UniqueConstraint(fields=('claim_set', 'resource_claim'), name='one_grant_per_claim'),
        ),
        migrations.AddConstraint(
            model_name='defaultstrategies',
            constraint=models.UniqueConstraint(fields=('resource_claim', 'action'), name='defaults_once_per_action'),
        ),
        migrations.RunSQL((SQL / "0002_claim_sets.sql").read_text(), (SQL / "0002_claim_sets.reverse.sql").read_text()),
    ]
