"""Tenants, data stores, contexts and derivatives; the triggers stand in SQL."""

from pathlib import Path

import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
from django.db import migrations, models

SQL = Path(__file__).parent.parent / "sql"


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='DataStoresVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.BigIntegerField()),
            ],
            options={
                'db_table': 'data_stores_version',
                'managed': False,
            },
        ),
        migrations.CreateModel(
            name='Tenant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=256, validators=[django.core.validators.RegexValidator('\\A[a-zA-Z0-9_-]+\\Z', "A name consists of letters, digits, '_' and '-'.")])),
            ],
            options={
                'db_table': 'tenant',
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(django.db.models.functions.text.Lower('name'), name='tenant_once_in_any_case')],
            },
        ),
        migrations.CreateModel(
            name='DataStore',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=256)),
                ('type', models.CharField(blank=True, help_text='For people: Production, Sandbox, Training.', max_length=50)),
                ('connection', models.TextField(editable=False, null=True)),
                ('state', models.CharField(choices=[('preparing', 'Preparing'), ('online', 'Online'), ('readOnly', 'Read Only'), ('offline', 'Offline')], default='preparing', max_length=9)),
                ('revision', models.BigIntegerField(default=1, editable=False)),
                ('tenant', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='data_stores', to='data_stores.tenant')),
            ],
            options={
                'db_table': 'data_store',
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='DataStoreContext',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=256)),
                ('value', models.CharField(max_length=256)),
                ('data_store', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='contexts', to='data_stores.datastore')),
            ],
            options={
                'db_table': 'data_store_context',
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(models.F('data_store'), django.db.models.functions.text.Lower('key'), name='context_once_per_qualifier')],
            },
        ),
        migrations.CreateModel(
            name='DataStoreDerivative',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('type', models.CharField(choices=[('ReadReplica', 'Read Replica'), ('Snapshot', 'Snapshot')], max_length=11)),
                ('connection', models.TextField(editable=False, null=True)),
                ('revision', models.BigIntegerField(default=1, editable=False)),
                ('data_store', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='derivatives', to='data_stores.datastore')),
            ],
            options={
                'db_table': 'data_store_derivative',
                'ordering': ['id'],
                'constraints': [models.CheckConstraint(condition=models.Q(('type__in', ['ReadReplica', 'Snapshot'])), name='derivative_type_is_known')],
            },
        ),
        migrations.AddConstraint(
            model_name='datastore',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['preparing', 'online', 'readOnly', 'offline'])), name='data_store_state_is_known'),
        ),
        migrations.RunSQL(
            (SQL / "0001_data_stores.sql").read_text(), (SQL / "0001_data_stores.reverse.sql").read_text()
        ),
    ]
