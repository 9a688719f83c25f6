"""Descriptor: those documents whose resource is a descriptor, to look at in the admin."""

from django.db import models

from edfi_api.documents import resource_types
from edfi_api.models import Document


class DescriptorManager(models.Manager):
    """Descriptor resources are the ones so named; no other MetaEd declaration may end in this word."""

    def get_queryset(self) -> models.QuerySet[Document]:
        """By number: joined by name, PostgreSQL would not know how few of all documents are descriptors."""
        names = resource_types.names(self.db)
        numbers = [number for number, name in names.items() if name.resource.endswith("Descriptor")]
        return super().get_queryset().filter(resource_type_id__in=numbers)


class Descriptor(Document):
    """A code value with its namespace."""

    objects = DescriptorManager()

    class Meta:
        proxy = True
