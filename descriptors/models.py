"""Descriptor: those documents whose resource is a descriptor, to look at in the admin."""

from django.db import models

from edfi_api.models import Document


class DescriptorManager(models.Manager):
    """Descriptor resources are the ones so named; no other MetaEd declaration may end in this word."""

    def get_queryset(self) -> models.QuerySet[Document]:
        return super().get_queryset().filter(resource_type__name__endswith="Descriptor")


class Descriptor(Document):
    """A code value with its namespace."""

    objects = DescriptorManager()

    class Meta:
        proxy = True
