"""Sandboxes, in the admin database, and the kinds of clients that they are for."""

from django.core.validators import RegexValidator
from django.db import models

from edfi_api.core.data_stores.models import DataStore
from edfi_api.core.security.models import ApiClient


class Shape(models.TextChoices):
    """The kind of a client, by what it mostly does."""

    SIS = "sis", "a student information system, which writes much"
    ASSESSMENT = "assessment", "an assessment vendor, who writes about students of others"
    WAREHOUSE = "warehouse", "a warehouse, which reads everything, then changes"

    @property
    def claim_set(self) -> str:
        """The name of the bundled claim set for it."""
        return _CLAIM_SETS[self]

    @property
    def needs_students(self) -> bool:
        """Whether it works with students whom others have written."""
        return self is not Shape.SIS


_CLAIM_SETS = {
    Shape.SIS: "SISVendor",
    Shape.ASSESSMENT: "AssessmentVendor",
    Shape.WAREHOUSE: "EdFiAPIPublisherReader",
}


LONGEST_NAME = 24
# It is in the name of a database.
NAME = rf"\A[a-z0-9](?:[a-z0-9-]{{0,{LONGEST_NAME - 2}}}[a-z0-9])?\Z"
NAME_RULE = f"A name consists of up to {LONGEST_NAME} lower-case letters, digits and hyphens between them."


class Sandbox(models.Model):
    """A data store with one client. `generation` counts how often it was reset; each one has a database of its own. It
    ends when the client expires."""

    name = models.CharField(max_length=LONGEST_NAME, unique=True, validators=[RegexValidator(NAME, NAME_RULE)])
    shape = models.CharField(max_length=10, choices=Shape)
    is_populated = models.BooleanField()
    data_store = models.OneToOneField(DataStore, on_delete=models.CASCADE, related_name="sandbox")
    client = models.OneToOneField(ApiClient, on_delete=models.CASCADE, related_name="sandbox")
    generation = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "sandbox"
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
