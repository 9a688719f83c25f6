"""The kinds of clients that a sandbox is for."""

from django.db import models


class Shape(models.TextChoices):
    """What a client mostly does."""

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
