"""What a connection has sent, a row for each document. `sql/sent_documents.sql` creates the table."""

from django.contrib.postgres.fields import ArrayField
from django.db import models


class SentDocument(models.Model):
    """A document that a connection has sent, or begun to send.

    `remote_id` is its id there, as far as it is known, and `former_ids` are those of documents there that it has
    replaced and that are still to be deleted. `refused_at` is set while its last state is not accepted there; `awaits`
    has the referential ids of what it refers to and what is not there either. `is_asked` says that it is to
    be sent again: a person wants it, or it was denied while not all was there.
    """

    id = models.BigAutoField(primary_key=True)
    connection = models.BigIntegerField()
    document_uuid = models.UUIDField("document")
    resource_type_id = models.SmallIntegerField()
    remote_id = models.TextField(null=True)
    former_ids = ArrayField(models.TextField(), default=list)
    refused_at = models.DateTimeField(null=True)
    attempts = models.IntegerField(default=0)
    awaits = ArrayField(models.UUIDField(), default=list)
    is_asked = models.BooleanField(default=False)

    class Meta:
        db_table = "exchange_sent_document"

    def __str__(self) -> str:
        return str(self.document_uuid)

    @property
    def audit_facts(self) -> dict[str, object]:
        """Identifies the document in the audit log."""
        return {"document": self.document_uuid}
