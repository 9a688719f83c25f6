"""What somebody types to find deleted documents → those that had it in their natural key.

The forms are those of the search for documents (`administration/key_search.py`): a value, `name=value`, a natural key,
the URI of a descriptor. Values are compared whole and without regard to case, by the index over the key values.
"""

from functools import reduce
from operator import or_

from django.contrib.postgres.fields import ArrayField
from django.db.models import F, Func, Q, QuerySet, TextField, Value
from django.db.models.functions import Concat

from edfi_api.administration import natural_keys
from edfi_api.change_queries.models import DeletedDocument


def find(text: str, deleted: QuerySet[DeletedDocument]) -> QuerySet[DeletedDocument]:
    """Those of the deleted documents that the text means."""
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
