"""The admin's search for deleted documents by natural key.

Accepts the same forms as the search for documents (`administration/key_search.py`): a value, `name=value`, a natural
key, the URI of a descriptor. Whole values are compared case-insensitively, by the index over the key values.
"""

from functools import reduce
from operator import or_

from django.contrib.postgres.fields import ArrayField
from django.db.models import F, Func, Q, QuerySet, TextField, Value
from django.db.models.functions import Concat

from edfi_api.changes.change_queries.models import DeletedDocument
from edfi_api.operation.administration import natural_keys


def find(text: str, deleted: QuerySet[DeletedDocument]) -> QuerySet[DeletedDocument]:
    """The deleted documents that match the text."""
    elements = natural_keys.elements(text)
    uri = natural_keys.without_prefix(text)
    wanted = [[element.value for element in elements]]
    if "#" in uri:
        wanted.append(list(uri.rpartition("#")[::2]))
    key_texts = Func(F("key_values"), function="key_texts", output_field=ArrayField(TextField()))
    conditions = [Q(key_texts__contains=[value.lower() for value in values]) for values in wanted]
    found = deleted.alias(key_texts=key_texts, ended_key=Concat("natural_key", Value("#"), output_field=TextField()))
    found = found.filter(reduce(or_, conditions))
    for name, value in elements:
        if name:
            found = found.filter(ended_key__icontains=f"{name}={value}#")
    return found
