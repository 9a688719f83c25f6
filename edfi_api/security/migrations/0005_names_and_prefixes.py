"""Names are single lines, and namespace prefixes are not blank: blank ones, which every namespace begins with, go."""

import django.contrib.postgres.fields
import edfi_api.security.names
from django.db import migrations, models


_WITHOUT_BLANK_PREFIXES = """
UPDATE security_vendor v
   SET namespace_prefixes = ARRAY(
       SELECT prefix FROM unnest(v.namespace_prefixes) WITH ORDINALITY AS p (prefix, place)
        WHERE btrim(prefix) <> '' ORDER BY place
   )
 WHERE EXISTS (SELECT FROM unnest(v.namespace_prefixes) AS prefix WHERE btrim(prefix) = '')
"""


class Migration(migrations.Migration):

    dependencies = [
        ('security', '0004_rate_limits'),
    ]

    operations = [
        migrations.RunSQL(_WITHOUT_BLANK_PREFIXES, migrations.RunSQL.noop),
        migrations.AlterField(
            model_name='apiclient',
            name='name',
            field=models.CharField(max_length=255, unique=True, validators=[edfi_api.security.names.validate_name]),
        ),
        migrations.AlterField(
            model_name='application',
            name='name',
            field=models.CharField(max_length=255, validators=[edfi_api.security.names.validate_name]),
        ),
        migrations.AlterField(
            model_name='claimset',
            name='name',
            field=models.CharField(max_length=255, unique=True, validators=[edfi_api.security.names.validate_name]),
        ),
        migrations.AlterField(
            model_name='resourceclaim',
            name='name',
            field=models.CharField(help_text='Such as ed-fi/student, domains/people or services/identity; http://ed-fi.org/identity/claims/ is understood before it.', max_length=255, unique=True, validators=[edfi_api.security.names.validate_name]),
        ),
        migrations.AlterField(
            model_name='vendor',
            name='name',
            field=models.CharField(max_length=255, unique=True, validators=[edfi_api.security.names.validate_name]),
        ),
        migrations.AlterField(
            model_name='vendor',
            name='namespace_prefixes',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.TextField(validators=[edfi_api.security.names.validate_namespace_prefix]), blank=True, default=list, help_text='Beginnings of the namespaces that its clients work with, separated by commas: uri://ed-fi.org. Plain text, so that this one covers uri://ed-fi.org.example too.', size=None),
        ),
        migrations.AddConstraint(
            model_name='vendor',
            constraint=models.CheckConstraint(condition=models.Q(('namespace_prefixes__contains', ['']), _negated=True), name='vendor_has_no_blank_prefix'),
        ),
    ]
