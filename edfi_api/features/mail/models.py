"""Who got the mail of which week."""

from django.db import models


class MailSent(models.Model):
    """The Monday of the last week of which an address got the mail, so that of several servers one sends it."""

    address = models.TextField(primary_key=True)
    week = models.DateField()

    class Meta:
        db_table = "mail_sent"
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.address}: {self.week}"
