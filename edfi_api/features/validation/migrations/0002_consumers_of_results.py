"""Consumers of results are those of another log of the change stream. Their positions are change versions already."""

from django.db import migrations

_MOVE = """
INSERT INTO change_consumer (log, name, change_version)
SELECT 'validation', name, validation_version FROM validation_consumer;
DROP TABLE validation_consumer;
"""
_MOVE_BACK = """
CREATE TABLE validation_consumer (
    name text PRIMARY KEY,
    validation_version bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE validation_consumer IS 'Up to which version each consumer has received the events of results.';
WITH moved AS (DELETE FROM change_consumer WHERE log = 'validation' RETURNING name, change_version)
INSERT INTO validation_consumer (name, validation_version) SELECT name, change_version FROM moved;
"""


class Migration(migrations.Migration):
    dependencies = [("validation", "0001_initial"), ("change_queries", "0002_consumers_of_logs")]
    operations = [migrations.RunSQL(_MOVE, _MOVE_BACK)]
