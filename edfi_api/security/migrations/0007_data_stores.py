"""The data stores of API clients."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# A process that finds no data store for a client looks again if the version has changed.
_VERSION = """
CREATE TRIGGER data_stores_version BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON api_client_data_store
    FOR EACH STATEMENT EXECUTE FUNCTION count_up_data_stores_version()
"""


class Migration(migrations.Migration):

    dependencies = [
        ('data_stores', '0001_data_stores'),
        ('security', '0006_sandbox_defaults'),
    ]

    operations = [
        migrations.CreateModel(
            name='ApiClientDataStore',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('api_client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ('data_store', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='data_stores.datastore')),
            ],
            options={
                'db_table': 'api_client_data_store',
            },
        ),
        migrations.AddField(
            model_name='apiclient',
            name='data_stores',
            field=models.ManyToManyField(blank=True, help_text='Where its documents are; the address of a request chooses one of them. Without any, the control database, as far as the settings let it.', related_name='api_clients', through='security.ApiClientDataStore', to='data_stores.datastore'),
        ),
        migrations.AddConstraint(
            model_name='apiclientdatastore',
            constraint=models.UniqueConstraint(fields=('api_client', 'data_store'), name='data_store_assigned_once'),
        ),
        migrations.RunSQL(_VERSION, "DROP TRIGGER data_stores_version ON api_client_data_store"),
    ]
