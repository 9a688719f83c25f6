"""Fills the `key_field` table, from which triggers extract the key values for change queries. See
meadowlark/docs/reference/contract.md#change-queries."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db import transaction

from edfi_api.core.startup import current_surface
from edfi_api.core.storage import resource_types
from edfi_api.features.changes.change_queries.models import KeyField
from edfi_api.model.surface.naming import is_descriptor_name
from edfi_api.model.surface.resource import Resource


def synchronise(resources: Iterable[Resource], using: str) -> None:
    """Store the key fields of these resources. Key values of earlier deletes stay as they are."""
    numbers = resource_types.numbers(using)
    wanted = {_facts(field): field for each in resources for field in _key_fields(each, numbers[each.name])}
    types = {field.resource_type_id for field in wanted.values()}
    table = KeyField.objects.using(using)
    stored = {_facts(field): field for field in table.filter(resource_type_id__in=types)}
    with transaction.atomic(using):
        table.filter(pk__in=[stored[facts].pk for facts in stored.keys() - wanted.keys()]).delete()
        table.bulk_create(wanted[facts] for facts in wanted.keys() - stored.keys())


def _facts(field: KeyField) -> tuple[object, ...]:
    return field.resource_type_id, field.name, tuple(field.path), field.ignores_case


def _key_fields(resource: Resource, resource_type: int) -> Iterator[KeyField]:
    for field, path in resource.key_fields:
        # A descriptor's own key compares case-insensitively, as its URI.
        ignores_case = resource.is_descriptor or is_descriptor_name(path.steps[-1])
        yield KeyField(
            resource_type_id=resource_type, name=field.name, path=list(path.steps), ignores_case=ignores_case
        )


def fill_key_fields(*, using: str, **_: Any) -> None:
    """Receiver of `post_migrate`; runs after resource types have been numbered."""
    synchronise(current_surface().resources, using)
