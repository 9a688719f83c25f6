"""Templates of tables, uploaded tables with their loads, and the results of rows."""

import django.db.models.deletion
import edfi_api.features.tables.models
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        migrations.swappable_dependency(settings.OAUTH2_PROVIDER_APPLICATION_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='TableTemplate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=200, unique=True)),
                ('resource', models.CharField(help_text='The path of the resource, such as /ed-fi/students.', max_length=200)),
                ('content', models.JSONField()),
                ('left_out', models.JSONField(blank=True, default=list, help_text='What was left out when it was imported.')),
                ('created_by', models.CharField(editable=False, max_length=160)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'verbose_name': 'template of tables',
                'verbose_name_plural': 'templates of tables',
                'db_table': 'table_template',
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='TableLoad',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(default=edfi_api.features.tables.models.new_key, editable=False, max_length=24, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('file_name', models.CharField(max_length=200)),
                ('content', models.BinaryField(null=True)),
                ('sheet', models.CharField(blank=True, max_length=100)),
                ('resource', models.CharField(blank=True, max_length=200)),
                ('mapping', models.JSONField(null=True)),
                ('data_store', models.BigIntegerField(default=0, help_text='0 for the admin database.')),
                ('state', models.CharField(choices=[('uploaded', 'not loaded yet'), ('queued', 'waiting'), ('running', 'running'), ('done', 'done'), ('failed', 'ended early')], default='uploaded', max_length=10)),
                ('is_dry_run', models.BooleanField(default=True)),
                ('total', models.PositiveIntegerField(default=0)),
                ('created', models.PositiveIntegerField(default=0)),
                ('updated', models.PositiveIntegerField(default=0)),
                ('unchanged', models.PositiveIntegerField(default=0)),
                ('refused', models.PositiveIntegerField(default=0)),
                ('started_at', models.DateTimeField(null=True)),
                ('reported_at', models.DateTimeField(help_text='When the process that loads it was last heard of.', null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('failure', models.TextField(blank=True)),
                ('client', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'table',
                'verbose_name_plural': 'tables',
                'db_table': 'table_load',
                'ordering': ['-id'],
                'permissions': [('import_table', 'Can load tables as any API client that the user may view')],
            },
        ),
        migrations.CreateModel(
            name='TableRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('row', models.PositiveIntegerField()),
                ('outcome', models.CharField(max_length=10)),
                ('document', models.CharField(blank=True, max_length=36)),
                ('problems', models.JSONField(default=list)),
                ('load', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rows', to='tables.tableload')),
            ],
            options={
                'db_table': 'table_row',
            },
        ),
        migrations.AddIndex(
            model_name='tableload',
            index=models.Index(fields=['created_at'], name='table_load_created_at'),
        ),
        migrations.AddConstraint(
            model_name='tablerow',
            constraint=models.UniqueConstraint(fields=('load', 'row'), name='table_row_of_load'),
        ),
    ]
