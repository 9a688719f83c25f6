"""Who may ask, what is withheld from them, and what was asked."""

import secrets

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

from edfi_api.core.data_stores.models import DataStore

_SECRET_BYTES = 32


class QuestionProfile(models.Model):
    """The views and columns that are withheld from those who ask with this profile."""

    name = models.CharField(max_length=100, unique=True)
    withheld = ArrayField(
        models.CharField(max_length=200),
        default=list,
        blank=True,
        help_text="Columns, separated by commas: birthdate in all views, student.birth*, or edfi.student.lastsurname.",
    )
    least_count = models.PositiveSmallIntegerField(
        default=0,
        verbose_name="least number that is shown",
        help_text="With 10, only counts are answered, and none below 10 is shown; 0 for answers of all kinds.",
    )

    class Meta:
        db_table = "question_profile"

    def __str__(self) -> str:
        return self.name


class QuestionReader(models.Model):
    """A person who may ask questions of one database.

    Who asks over HTTP is recognized by a token of an identity provider, which has issued it to this subject or to this
    user of the admin, or by a token that `issue_question_token` has made.
    """

    name = models.CharField(max_length=150, unique=True, help_text="How the person is called in the trace.")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        help_text="A user of the admin; one who is no longer active may not ask.",
    )
    issuer = models.CharField(max_length=512, blank=True, help_text="Of MEADOWLARK_OIDC_ISSUERS.")
    subject = models.CharField(max_length=255, blank=True, help_text="The claim sub of the person's tokens.")
    data_store = models.ForeignKey(
        DataStore, on_delete=models.CASCADE, null=True, blank=True, related_name="+", help_text="Empty: the admin's."
    )
    organizations = ArrayField(
        models.BigIntegerField(),
        default=list,
        blank=True,
        help_text="Ids of education organizations, separated by commas; what is below them is seen, too.",
    )
    sees_everything = models.BooleanField(default=False, help_text="The rows of all organizations.")
    profile = models.ForeignKey(QuestionProfile, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    is_active = models.BooleanField(default=True)
    token_digest = models.CharField(max_length=64, null=True, unique=True, editable=False)
    token_expires_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        db_table = "question_reader"
        verbose_name = "reader of questions"
        verbose_name_plural = "readers of questions"
        constraints = [
            models.UniqueConstraint(
                fields=["issuer", "subject", "data_store"],
                condition=~models.Q(subject=""),
                nulls_distinct=False,
                name="question_reader_of_one_subject",
            ),
            models.UniqueConstraint(
                fields=["user", "data_store"],
                condition=models.Q(user__isnull=False),
                nulls_distinct=False,
                name="question_reader_of_one_user",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def withheld(self) -> list[str]:
        """Return the patterns of columns that the person does not see."""
        return self.profile.withheld if self.profile else []

    @property
    def least_count(self) -> int:
        """Return the least number that the person is shown, 0 for any."""
        return self.profile.least_count if self.profile else 0


class Question(models.Model):
    """A question that a person has asked. `students` are the unique ids of those whose number or unique id was in the
    answer; of an answer without either, students cannot be named."""

    asked_at = models.DateTimeField(auto_now_add=True, db_index=True)
    # Stays when the reader is gone.
    person = models.CharField(max_length=150)
    data_store = models.BigIntegerField(default=0)
    tool = models.CharField(max_length=20)
    statement = models.TextField()
    # Empty until there is an answer.
    outcome = models.TextField(default="")
    rows = models.IntegerField(null=True)
    students = ArrayField(models.TextField(), default=list)

    class Meta:
        db_table = "question"
        ordering = ["-asked_at", "-id"]
        indexes = [GinIndex(fields=["students"], name="question_students")]

    def __str__(self) -> str:
        return f"{self.person}: {self.statement[:80]}"


class QuestionSecret(models.Model):
    """The secret of the installation, from which pseudonyms are made. There is one row."""

    secret = models.BinaryField()

    class Meta:
        db_table = "question_secret"

    @classmethod
    def current(cls) -> bytes:
        """Return the secret; a database from which the row was removed gets another one, and so other pseudonyms."""
        row, _ = cls.objects.get_or_create(pk=1, defaults={"secret": secrets.token_bytes(_SECRET_BYTES)})
        return bytes(row.secret)
