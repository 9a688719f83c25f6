"""Alias and Reference: the identities of documents, and the references to them.

The tables and their foreign keys are created by `sql/references.sql`; the constraints that Django would add
(deferred to the commit, without ON DELETE) are disabled here.
"""

from django.db import models


class Alias(models.Model):
    """One identity of a document: its own, or the one it has as a superclass (a School as EducationOrganization)."""

    referential_id = models.UUIDField(primary_key=True, editable=False)
    document = models.ForeignKey(
        "edfi_api.Document", on_delete=models.DO_NOTHING, related_name="aliases", db_constraint=False
    )

    class Meta:
        db_table = "alias"
        verbose_name_plural = "aliases"

    def __str__(self) -> str:
        return str(self.referential_id)


class Reference(models.Model):
    """A reference from a document to an alias: one row per target, however often the body repeats it.

    `resource_type` is that of the referring document.
    """

    pk = models.CompositePrimaryKey("document_id", "alias_id")
    document = models.ForeignKey(
        "edfi_api.Document", on_delete=models.DO_NOTHING, related_name="references", db_constraint=False
    )
    alias = models.ForeignKey(Alias, on_delete=models.DO_NOTHING, related_name="referrers", db_constraint=False)
    resource_type = models.ForeignKey(
        "edfi_api.ResourceType", on_delete=models.DO_NOTHING, related_name="+", db_constraint=False
    )

    class Meta:
        db_table = "reference"

    def __str__(self) -> str:
        return f"{self.document_id} → {self.alias_id}"
