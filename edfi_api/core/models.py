"""Document, the one table for all resources; ResourceType, the number of each resource; and tables derived from
documents, such as the hierarchy of education organizations.

The files in `sql/` create the tables. Only the package `storage` writes them.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models


class ResourceType(models.Model):
    """The number of a resource of the surface, and the paths of its identity, sorted; a descriptor has none."""

    id = models.SmallIntegerField(primary_key=True)
    project = models.TextField()
    name = models.TextField()
    endpoint = models.TextField()
    key_paths = ArrayField(models.TextField(), null=True)

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
    # No column: PostgreSQL reads `document.natural_key` as the function `natural_key(document)`.
    natural_key = models.TextField()
    body = models.JSONField()
    # Types and ids of the documents that the body references, in the order of its reference objects.
    linked_types = ArrayField(models.SmallIntegerField(), null=True)
    linked_ids = ArrayField(models.UUIDField(), null=True)
    created_by = models.BigIntegerField(null=True)
    created_at = models.DateTimeField()
    last_modified_at = models.DateTimeField()
    last_modified_by = models.BigIntegerField(null=True)
    change_version = models.BigIntegerField()
    operation = models.TextField(null=True)
    # Values that authorize access to the document; see documents/securables.py.
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
        return self.natural_key.removeprefix("NK#")

    @property
    def audit_facts(self) -> dict[str, object]:
        """Identifies the document in the audit log by id: natural keys may identify persons."""
        return {"document": self.document_uuid}


class OrganizationClosure(models.Model):
    """An education organization and one of its descendants, or itself. Maintained by triggers."""

    pk = models.CompositePrimaryKey("ancestor_id", "descendant_id")
    ancestor_id = models.BigIntegerField()
    descendant_id = models.BigIntegerField()

    class Meta:
        db_table = "organization_closure"

    def __str__(self) -> str:
        return f"{self.ancestor_id} → {self.descendant_id}"


class ReachedDocument(models.Model):
    """A document about a person whom an association relates to an organization. Maintained by triggers; read-only for
    Django, since `pk` is not unique: a contact with several relations to a student has several rows."""

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
