"""The groups of admin users: made once, and then the operator's to change."""

from typing import Any

from django.db import migrations

from edfi_api.security.admin_groups import make_groups


def _make_groups(_apps: Any, schema_editor: Any) -> None:
    make_groups(schema_editor.connection.alias)


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("security", "0010_positive_organization_ids"),
    ]
    # Backwards the groups stay: users may be in them.
    operations = [migrations.RunPython(_make_groups, migrations.RunPython.noop)]
