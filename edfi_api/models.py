"""Document, the one table for all resources; ResourceType, the number each of them has in it; and what follows from
documents, the hierarchy of education organizations.

The tables are made by `sql/0001_documents.sql`, the rest by those that follow it. Reading is free to everyone;
`documents/store.py` alone writes.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models


class ResourceType(models.Model):
    """A resource of the surface as a small number."""

    id = models.SmallIntegerField(primary_key=True)
    project = models.TextField()
    name = models.TextField()
    endpoint = models.TextField()

    class Meta:
        db_table = "resource_type"
        unique_together = [("project", "name")]

    def __str__(self) -> str:
        return f"{self.project}.{self.name}"


class Document(models.Model):
    """A stored document: envelope and body. Its identities are `aliases`, its outgoing links `references`."""

    id = models.BigAutoField(primary_key=True)
    document_uuid = models.UUIDField("id", unique=True, editable=False)
    resource_type = models.ForeignKey(ResourceType, on_delete=models.DO_NOTHING, db_constraint=False)
    natural_key = models.TextField()
    body = models.JSONField()
    # What the reference objects of the body mean, in their order.
    linked_types = ArrayField(models.SmallIntegerField(), null=True)
    linked_ids = ArrayField(models.UUIDField(), null=True)
    created_by = models.BigIntegerField(null=True)
    created_at = models.DateTimeField()
    last_modified_at = models.DateTimeField()
    last_modified_by = models.BigIntegerField(null=True)
    change_version = models.BigIntegerField()
    operation = models.TextField()
    # What decides who may see the document; see documents/securables.py.
    organization = models.BigIntegerField(null=True)
    student = models.TextField(null=True)
    contact = models.TextField(null=True)
    staff = models.TextField(null=True)
    namespace = models.TextField(null=True)
    hierarchy = ArrayField(models.BigIntegerField(), null=True)
    opens_pathway = models.BooleanField(null=True)
    is_person = models.BooleanField(null=True)

    class Meta:
        db_table = "document"

    def __str__(self) -> str:
        return self.natural_key

    @property
    def audit_facts(self) -> dict[str, object]:
        """What the audit log calls it: keys tell of persons, and are parts of bodies."""
        return {"document": self.document_uuid}


class OrganizationClosure(models.Model):
    """An education organization and one that lies below it, or is itself. Triggers keep the table."""

    pk = models.CompositePrimaryKey("ancestor_id", "descendant_id")
    ancestor_id = models.BigIntegerField()
    descendant_id = models.BigIntegerField()

    class Meta:
        db_table = "organization_closure"

    def __str__(self) -> str:
        return f"{self.ancestor_id} → {self.descendant_id}"


class ReachedDocument(models.Model):
    """A document about a person whom an association brings under an organization. Triggers keep the table, which has
    several rows of one primary key where a contact has several relations to a student; for Django it is read only."""

    pk = models.CompositePrimaryKey("document_id", "association_id")
    resource_type_id = models.SmallIntegerField()
    association_type_id = models.SmallIntegerField()
    organization = models.BigIntegerField()
    document_id = models.BigIntegerField()
    association_id = models.BigIntegerField()
    contact_association_id = models.BigIntegerField(null=True)

    class Meta:
        db_table = "reached_document"

    def __str__(self) -> str:
        return f"{self.organization} → {self.document_id}"
