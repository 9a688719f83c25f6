"""A proxy model for the documents of descriptor resources, used by the admin."""

from typing import ClassVar

from django.db import models

from edfi_api.model.surface.naming import is_descriptor_name
from edfi_api.models import Document
from edfi_api.storage import resource_types


class DescriptorManager(models.Manager[Document]):
    """Selects resources by the suffix `Descriptor`, which MetaEd reserves for descriptors."""

    def get_queryset(self) -> models.QuerySet[Document]:
        """Filters by resource type numbers: with a join by name, PostgreSQL misestimates the few descriptors."""
        names = resource_types.names(self.db)
        numbers = [number for number, name in names.items() if is_descriptor_name(name.resource)]
        return super().get_queryset().filter(resource_type_id__in=numbers)


class Descriptor(Document):
    """A code value with its namespace."""

    objects: ClassVar[DescriptorManager] = DescriptorManager()  # type: ignore[assignment]  # Documents are its rows.

    class Meta:
        proxy = True
