"""The history of documents (superseded versions, key changes, deleted documents), and the consumers of changes.

`sql/versions.sql` creates the tables, `sql/tracking.sql` the triggers that fill them.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from edfi_api.core.models import ResourceType

# The name of the log of documents; see `changes/change_stream/log.py`.
DOCUMENTS = "documents"


class SecuredVersion(models.Model):
    """The securable values of the former document; see documents/securables.py."""

    organization = models.BigIntegerField(null=True)
    student = models.TextField(null=True)
    contact = models.TextField(null=True)
    staff = models.TextField(null=True)
    namespace = models.TextField(null=True)
    opens_pathway = models.BooleanField(null=True)

    class Meta:
        abstract = True


class KeyField(models.Model):
    """A member of `keyValues` and its path in the bodies of a resource."""

    pk = models.CompositePrimaryKey("resource_type_id", "name")
    resource_type = models.ForeignKey(ResourceType, on_delete=models.DO_NOTHING, related_name="+")
    name = models.TextField()
    path = ArrayField(models.TextField())
    ignores_case = models.BooleanField()

    class Meta:
        db_table = "key_field"

    def __str__(self) -> str:
        return self.name


class SupersededDocument(models.Model):
    """A version of a document that an update replaced."""

    pk = models.CompositePrimaryKey("resource_type_id", "change_version")
    change_version = models.BigIntegerField()
    operation = models.TextField()
    document_uuid = models.UUIDField()
    resource_type = models.ForeignKey(ResourceType, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False)
    natural_key = models.TextField()  # No column, as that of `Document`.
    body = models.JSONField()
    last_modified_by = models.BigIntegerField(null=True)
    last_modified_at = models.DateTimeField()
    superseded_at = models.DateTimeField()

    class Meta:
        db_table = "superseded_document"

    def __str__(self) -> str:
        return f"{self.natural_key} ({self.change_version})"


class KeyChange(SecuredVersion):
    """A change of identity, with the key values that clients see."""

    pk = models.CompositePrimaryKey("resource_type_id", "change_version")
    change_version = models.BigIntegerField()
    document_uuid = models.UUIDField()
    resource_type = models.ForeignKey(ResourceType, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False)
    old_key_values = models.JSONField()
    new_key_values = models.JSONField()

    class Meta:
        db_table = "key_change"

    def __str__(self) -> str:
        return str(self.document_uuid)


class DeletedDocument(SecuredVersion):
    """A deleted document; `body` is None once it has been purged, and it can no longer be restored."""

    change_version = models.BigIntegerField(primary_key=True)
    document_uuid = models.UUIDField("id")
    resource_type = models.ForeignKey(ResourceType, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False)
    natural_key = models.TextField()
    key_values = models.JSONField()
    aliases = ArrayField(models.UUIDField())
    body = models.JSONField(null=True)
    created_by = models.BigIntegerField(null=True)
    created_at = models.DateTimeField()
    last_change_version = models.BigIntegerField()
    last_operation = models.TextField()
    last_modified_by = models.BigIntegerField(null=True)
    last_modified_at = models.DateTimeField()
    deleted_by = models.BigIntegerField(null=True)
    deleted_by_user = models.TextField(null=True)
    deleted_at = models.DateTimeField()

    class Meta:
        db_table = "deleted_document"

    def __str__(self) -> str:
        return self.natural_key.removeprefix("NK#")

    @property
    def audit_facts(self) -> dict[str, object]:
        """The fields that identify it in the audit log."""
        return {"document": self.document_uuid}


class Restoration(models.Model):
    """The version that a user of the admin made by restoring a document: the table of documents names API clients only.
    It is written in the transaction of the restoration."""

    change_version = models.BigIntegerField(primary_key=True)
    username = models.TextField()
    restored_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "restoration"

    def __str__(self) -> str:
        return f"{self.change_version} by {self.username}"


class ChangeConsumer(models.Model):
    """A consumer of a log of the change stream, and the version up to which it has received changes."""

    id = models.BigAutoField(primary_key=True)
    log = models.TextField(default=DOCUMENTS)
    name = models.TextField()
    change_version = models.BigIntegerField(default=0)

    class Meta:
        db_table = "change_consumer"
        unique_together = [("log", "name")]

    def __str__(self) -> str:
        return self.name


class PurgeRun(models.Model):
    """The time when a kind of purge ran last in this database."""

    name = models.TextField(primary_key=True)
    finished_at = models.DateTimeField()

    class Meta:
        db_table = "purge_run"

    def __str__(self) -> str:
        return self.name
