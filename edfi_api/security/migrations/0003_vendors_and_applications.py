"""Vendors and applications, to which claims move from the clients; each client so far gets its own of both."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

# What READMEs called it before there were claim sets.
_RENAMED = {"Ed-Fi Sandbox": "EdFiSandbox"}


def give_clients_applications(apps, schema_editor):
    model = lambda name: apps.get_model("security", name).objects.using(schema_editor.connection.alias)
    for client in model("ApiClient").all():
        name = _RENAMED.get(client.claim_set_name, client.claim_set_name)
        claim_set, _ = model("ClaimSet").get_or_create(name=name)
        vendor = model("Vendor").create(name=client.name, namespace_prefixes=client.namespace_prefixes)
        client.application = model("Application").create(
            name=client.name,
            vendor=vendor,
            claim_set=claim_set,
            education_organization_ids=client.education_organization_ids,
        )
        client.save(update_fields=["application"])
    # Django defers foreign keys, and PostgreSQL changes no table that waits to be checked.
    schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


class Migration(migrations.Migration):

    dependencies = [
        ('security', '0002_claim_sets'),
    ]

    operations = [
        migrations.CreateModel(
            name='Vendor',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=255, unique=True)),
                ('namespace_prefixes', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), blank=True, default=list, help_text='Beginnings of the namespaces that its clients work with, separated by commas: uri://ed-fi.org. Plain text, so that this one covers uri://ed-fi.org.example too.', size=None)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Application',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=255)),
                ('education_organization_ids', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), blank=True, default=list, help_text='Ids of the education organizations whose data its clients work with, separated by commas. What lies below them is included.', size=None)),
                ('claim_set', models.ForeignKey(help_text='What its clients may do.', on_delete=django.db.models.deletion.PROTECT, related_name='applications', to='security.claimset')),
                ('vendor', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='applications', to='security.vendor')),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(fields=('vendor', 'name'), name='application_once_per_vendor')],
            },
        ),
        migrations.AddField(
            model_name='apiclient',
            name='expires_at',
            field=models.DateTimeField(blank=True, help_text='From then on as if it were inactive. Without a time it does not expire.', null=True),
        ),
        migrations.AddField(
            model_name='apiclient',
            name='application',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='api_clients', to='security.application'),
        ),
        migrations.RunPython(give_clients_applications, migrations.RunPython.noop),
        migrations.AlterField(
            model_name='apiclient',
            name='application',
            field=models.ForeignKey(help_text='Says what the client may do, and for which education organizations.', on_delete=django.db.models.deletion.PROTECT, related_name='api_clients', to='security.application'),
        ),
        migrations.RemoveField(model_name='apiclient', name='claim_set_name'),
        migrations.RemoveField(model_name='apiclient', name='education_organization_ids'),
        migrations.RemoveField(model_name='apiclient', name='namespace_prefixes'),
    ]
