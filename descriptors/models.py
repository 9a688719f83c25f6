"""A proxy model for the documents of descriptor resources, used by the admin."""

from django.db.models import QuerySet

from edfi_api.core.models import Document
from edfi_api.core.storage import resource_types
from edfi_api.model.surface.naming import is_descriptor_name


class Descriptor(Document):
    """A code value with its namespace."""

    class Meta:
        proxy = True


def of_descriptors(rows: QuerySet[Descriptor]) -> QuerySet[Descriptor]:
    """Return the rows of resources with the suffix `Descriptor`, which MetaEd reserves for descriptors.

    Filters by the numbers that resources have in the database of the rows: with a join by name, PostgreSQL
    misestimates the few descriptors.
    """
    names = resource_types.names(rows.db)
    numbers = [number for number, name in names.items() if is_descriptor_name(name.resource)]
    return rows.filter(resource_type_id__in=numbers)


def stored_descriptors(using: str) -> QuerySet[Descriptor]:
    """Return the descriptors that a database stores."""
    return of_descriptors(Descriptor.objects.using(using))
