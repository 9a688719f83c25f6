"""The passes over an ODS that a database has seen, and what they have to remember of it."""

from django.contrib.postgres.fields import ArrayField, BigIntegerRangeField
from django.db import models


class OdsPass(models.Model):
    """One run over the resources of an ODS.

    `newest_version` is the highest change version that the ODS had given when the pass began; `since` is the version
    after which it reads, NULL if it reads everything. Versions that this server gives from then on are
    `versions_given_here`, until the next pass begins: a document that has one was changed here. `completed` are the
    resources that were read to their end, for a pass that is continued.
    """

    started_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    since = models.BigIntegerField(null=True)
    newest_version = models.BigIntegerField()
    versions_given_here = BigIntegerRangeField()
    completed = ArrayField(models.TextField(), default=list)

    class Meta:
        db_table = "ods_pass"

    def __str__(self) -> str:
        return f"from {self.started_at}"


class OwnershipToken(models.Model):
    """An ownership token of an ODS, and the row id of the API client here that owns what was created with it."""

    token = models.SmallIntegerField(primary_key=True)
    api_client = models.BigIntegerField()

    class Meta:
        db_table = "ods_ownership_token"

    def __str__(self) -> str:
        return f"{self.token}: {self.api_client}"


class OdsDocument(models.Model):
    """A document that the last pass has found in the ODS, of a resource whose deletes the ODS does not record."""

    document_uuid = models.UUIDField(primary_key=True)
    resource_type_id = models.SmallIntegerField()

    class Meta:
        db_table = "ods_document"

    def __str__(self) -> str:
        return str(self.document_uuid)
