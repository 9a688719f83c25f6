"""The groups of 1.0.0 that nobody has changed get the permissions that 1.1 adds."""

from typing import Any

from django.db import migrations

from edfi_api.core.security.admin_groups import complete_groups


def _complete_groups(_apps: Any, schema_editor: Any) -> None:
    complete_groups(schema_editor.connection.alias)


class Migration(migrations.Migration):
    dependencies = [("security", "0002_secret_links")]
    operations = [migrations.RunPython(_complete_groups, migrations.RunPython.noop)]
