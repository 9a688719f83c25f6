"""Filters → predicates. A filter is an example document that matching bodies contain.

Containment (`@>`) is the operator that the GIN index over the bodies supports. It compares exactly, so a descriptor
filter is first brought into the case of the stored descriptor, which stored bodies have too. Values that rows have as
securable columns are compared with these instead (`SecurableColumn`).
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from edfi_api.common.ods_compatibility import OdsCompatibility
from edfi_api.core.documents import json_text
from edfi_api.core.documents.blanks import without_blanks
from edfi_api.core.documents.extraction import descriptor_id
from edfi_api.core.documents.paths import as_text
from edfi_api.core.documents.securables import COLUMNS, SecurableKind, groups
from edfi_api.core.documents.violations import Leniency, Reason
from edfi_api.core.queries.exceptions import InvalidQueryValue, InvalidQueryValues
from edfi_api.core.queries.operators import Comparison, MeantFilters, Operator
from edfi_api.core.queries.parameters import PAGING_PARAMETERS, Filter, read_filters, refused
from edfi_api.core.queries.query_indexes import (
    MISSING,
    IndexColumn,
    QueryIndex,
    begins_with,
    is_indexed,
    text_at,
    value_at,
)
from edfi_api.core.queries.selection import OrderBy, Selection, read_order
from edfi_api.core.storage.descriptor_uri_cache import stored_uris
from edfi_api.core.storage.driver.sql import Sql, all_of, any_of
from edfi_api.core.storage.row_policy import IndexedValue, Predicate
from edfi_api.model.surface.json_schema import schema_at
from edfi_api.model.surface.query_fields import ID_FIELD
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath, QueryField, QueryType, Resource, ResourceName
from references.identity import as_uuid

_BIGINT = range(-(2**63), 2**63)
# Kinds with an index on resource type, column and row id.
_IN_ROW_ORDER = (SecurableKind.ORGANIZATION, SecurableKind.NAMESPACE)


@dataclass(frozen=True, slots=True)
class SecurableColumn:
    """The column that always has the value of a query field: an organization, a person or a namespace.

    Its index returns the rows of one organization or namespace in the order of row ids, while the GIN index returns all
    of them in any order. `documents.securables` fills the columns.

    `index_condition` is the condition under which the index of the column has all rows of the resource with a value;
    None if it has not.
    """

    kind: SecurableKind
    index_condition: str | None

    def equals(self, value: Any, parameter: str, contained: Predicate) -> Predicate:
        """The predicate `contained` with comparisons of the column wherever these are faster."""
        if self.kind is SecurableKind.ORGANIZATION and not (isinstance(value, int) and value in _BIGINT):
            return contained  # No column has such a number.
        compared = Sql(f"%({parameter})s::{COLUMNS[self.kind]}", {parameter: value})
        equal = f"d.{self.kind} = " + compared
        indexed = IndexedValue(self.kind, compared) if self.kind in _IN_ROW_ORDER else None
        predicate = replace(contained, for_one_row=equal, in_row_order=indexed)
        if self.index_condition is None or not contained.finds_few:
            return predicate  # The GIN index intersects frequent values.
        return replace(predicate, for_many_rows=equal + " AND " + self.index_condition)


def securable_column(field: QueryField, resource: Resource) -> SecurableColumn | None:
    """The column of a field whose members are in the same securable group: all of the group, or required ones."""
    paths = set(field.paths)
    kinds: set[SecurableKind] = set()
    for group in groups(resource):
        kind, members = group[0].kind, {element.path for element in group}
        is_always_equal = paths == members or (paths < members and not paths.isdisjoint(resource.identity))
        if is_always_equal and kind not in kinds:  # The column has the value of the first group of its kind.
            return SecurableColumn(kind, _index_condition(kind, resource))
        kinds.add(kind)
    return None


def _index_condition(kind: SecurableKind, resource: Resource) -> str | None:
    if kind in (*_IN_ROW_ORDER, SecurableKind.CONTACT):
        return "d.resource_type_id = %(type)s"
    if resource.authorization_pathways:
        return "d.resource_type_id = %(type)s AND d.opens_pathway"
    if all(group[0].kind is not SecurableKind.ORGANIZATION for group in groups(resource)):
        return "d.resource_type_id = %(type)s AND d.organization IS NULL"
    return None


# Conditions on the value `{0}`, compared with `{1}`.
_RANGES = {
    Operator.GREATER: "{0} > {1}",
    Operator.GREATER_OR_EQUAL: "{0} >= {1}",
    Operator.LESS: "{0} < {1} AND {0} > " + MISSING,
    Operator.LESS_OR_EQUAL: "{0} <= {1} AND {0} > " + MISSING,
    # An index has two ranges of these.
    Operator.NOT_EQUAL: "({0} < {1} OR {0} > {1})",
}


def comparison_predicate(
    comparison: Comparison, resource: Resource, parameter: str, selection: Selection, stored: Callable[..., object]
) -> Predicate:
    """The predicate of any comparison but `in`, which is several equalities. `stored` brings a value into the form that
    bodies have at a path.

    Only an index of the value (`query_indexes`) answers it for many documents. Without one the predicate says so, and
    the query is answered only if its other conditions leave few documents (`plan`).
    """
    paths, operator = comparison.field.paths, comparison.operator
    conditions = []
    for number, path in enumerate(paths):
        value = stored(path, comparison.values[0], selection.using)
        conditions.append(_condition(operator, path, value, f"{parameter}_{number}"))
    condition = _joined(operator, conditions, is_true=comparison.values[0] is True)
    indexes = (QueryIndex(resource, (IndexColumn(path, operator is Operator.PREFIX),)) for path in paths)
    has_index = all(is_indexed(index, selection.using) for index in indexes)
    # The type is a literal, so that PostgreSQL sees that the partial index has these rows.
    of_type = Sql(f"d.resource_type_id = {selection.resource_type}")
    return Predicate(
        condition, all_of([of_type, condition]), lacks_index=None if has_index else _argument(resource, comparison)
    )


def _argument(resource: Resource, comparison: Comparison) -> str:
    """The argument of `create_query_index`."""
    suffix = "[prefix]" if comparison.operator is Operator.PREFIX else ""
    return f"{resource.url_path.lstrip('/')}.{comparison.field.name}{suffix}"


def _condition(operator: Operator, path: JsonPath, value: object, parameter: str) -> Sql:
    if operator is Operator.PREFIX:
        return Sql(begins_with(text_at(path), f"%({parameter})s::text"), {parameter: value})
    if operator is Operator.EXISTS:
        return Sql(f"{value_at(path)} {'>' if value else '='} {MISSING}")
    text = _RANGES[operator].format(value_at(path), f"%({parameter})s::jsonb")
    return Sql(text, {parameter: json_text.dumps(value).decode()})


def _joined(operator: Operator, conditions: Iterable[Sql], *, is_true: bool) -> Sql:
    """A value at any of the paths suffices; a value is absent, or another one, only if it is so at all of them."""
    is_negative = operator is Operator.NOT_EQUAL or (operator is Operator.EXISTS and not is_true)
    return all_of(conditions) if is_negative else any_of(conditions)


class QueryByExample:
    """Narrows selections of one resource to the documents that match a query string; compiled once."""

    def __init__(self, resource: Resource) -> None:
        self._resource = resource
        self._refuses_unreadable = OdsCompatibility.PARAMETER_TYPES.applies
        self._fields = {field.name.lower(): field for field in resource.query_fields}
        self._with_codes = self._fields | {field.name.lower(): field for field in resource.code_fields}
        self._meant_filters = MeantFilters(resource)
        self._descriptors = {entry.path: entry.target for entry in (*resource.descriptors, *resource.key_descriptors)}
        rare_paths = _rare_paths(resource)
        self._rare = {field.name for field in resource.query_fields if rare_paths.issuperset(field.paths)}
        columns = ((field.name, securable_column(field, resource)) for field in resource.query_fields)
        self._columns: dict[str, SecurableColumn] = {name: column for name, column in columns if column}
        self._integers = {field.name: bounds for field in resource.query_fields if (bounds := _bounds(field, resource))}

    def narrow(
        self,
        selection: Selection,
        query: Mapping[str, str],
        other: Collection[str] = PAGING_PARAMETERS,
        leniency: Leniency | None = None,
        reads_all: Callable[[ResourceName], bool] = lambda _: True,
    ) -> Selection:
        """Narrow the selection to documents that match every filter; a field with several paths matches at any of them,
        and fields of one collection match in one of its items.

        `other` has the lower-cased names of parameters that are not filters. Raises what `read_filters` does;
        InvalidQueryValues also for descriptors that do not exist if `leniency` is strict, which otherwise gets them.
        Whether one exists is said only of those types of which the client `reads_all`.
        """
        leniency = leniency or Leniency()
        filters = read_filters(self._filterable(), query, other, leniency, self._meant_filters.match)
        if impossible := list(self._no_integers(filters)):
            raise InvalidQueryValues(impossible)
        if self._refuses_unreadable and (unreadable := self._unreadable(filters, selection.using)):
            raise InvalidQueryValues(unreadable)
        if invalid := refused(self._without_descriptor(filters, selection.using, reads_all), leniency):
            raise InvalidQueryValues(invalid)
        return selection.where(*self._predicates(filters, selection))

    def order(self, text: str) -> OrderBy:
        """The order of `orderBy`. Raises ParameterValidationFailed."""
        return read_order(self._resource, self._fields, text)

    def _filterable(self) -> Mapping[str, QueryField]:
        has_codes = self._resource.code_fields and OdsCompatibility.IDENTIFICATION_CODES.applies
        return self._with_codes if has_codes else self._fields

    def _unreadable(self, filters: Iterable[Filter | Comparison], using: str) -> list[InvalidQueryValue]:
        """The values that the ODS/API refuses: ids that are none, and descriptors without `#`."""
        ids = (each for each in filters if isinstance(each, Filter) and each.field == ID_FIELD)
        no_ids = [InvalidQueryValue("$.id", each.name, each.value) for each in ids if as_uuid(each.value) is None]
        found = self._without_descriptor(filters, using, lambda _: True)
        no_uris = (each for each in found if each.reason is Reason.NO_DESCRIPTOR_URI)
        return no_ids or list(no_uris)

    def _no_integers(self, filters: Iterable[Filter | Comparison]) -> Iterator[InvalidQueryValue]:
        """The values that no body can have at the path of an integer: parts of one, and larger ones than it holds."""
        for each in filters:
            bounds = self._integers.get(each.field.name)
            if bounds is None or (isinstance(each, Comparison) and each.operator is Operator.EXISTS):
                continue
            for value in (each.value,) if isinstance(each, Filter) else each.values:
                if not isinstance(value, int) or value not in bounds:
                    yield InvalidQueryValue(str(each.field.paths[0]), each.name, as_text(value))

    def _without_descriptor(
        self, filters: Iterable[Filter | Comparison], using: str, reads_all: Callable[[ResourceName], bool]
    ) -> Iterator[InvalidQueryValue]:
        """The filters by a descriptor that is not stored, so that nothing can match."""
        for each in (each for each in filters if isinstance(each, Filter)):
            targets = {self._descriptors[path] for path in each.field.paths if path in self._descriptors}
            if targets and not stored_uris([descriptor_id(target, each.value) for target in targets], using):
                reason = Reason.UNKNOWN_DESCRIPTOR if "#" in each.value else Reason.NO_DESCRIPTOR_URI
                if reason is Reason.UNKNOWN_DESCRIPTOR and not all(map(reads_all, targets)):
                    continue
                descriptor = min(target.resource for target in targets)
                yield InvalidQueryValue(str(each.field.paths[0]), each.name, each.value, reason, descriptor)

    def _predicates(self, filters: Iterable[Filter | Comparison], selection: Selection) -> Iterator[Predicate]:
        of_items: dict[str, list[Filter]] = defaultdict(list)
        for number, each in enumerate(filters):
            if isinstance(each, Filter) and each.field in self._resource.code_fields:
                of_items[each.field.paths[0].steps[0]].append(each)
            else:
                yield self._predicate(each, f"filter_{number}", selection)
        for collection, of_one_item in of_items.items():
            yield self._has_item(collection, of_one_item, selection)

    def _has_item(self, collection: str, filters: Iterable[Filter], selection: Selection) -> Predicate:
        """An item of the collection has all the values."""
        paths = [(each.field.paths[0], each.value) for each in filters]
        item = {path.steps[-1]: self._stored_value(path, value, selection.using) for path, value in paths}
        return _containing([{collection: [item]}], f"item_of_{collection}", selection)

    def _predicate(self, found: Filter | Comparison, parameter: str, selection: Selection) -> Predicate:
        if isinstance(found, Filter):
            return self._equals(found.field, found.value, parameter, selection)
        if found.operator is not Operator.IN:
            return comparison_predicate(found, self._resource, parameter, selection, self._stored_value)
        return _any_predicate(
            self._contains(found.field, value, f"{parameter}_{number}", selection)
            for number, value in enumerate(found.values)
        )

    def _equals(self, field: QueryField, value: Any, parameter: str, selection: Selection) -> Predicate:
        if field == ID_FIELD:
            return _has_id(value)
        contained = self._contains(field, value, parameter, selection)
        column = self._columns.get(field.name)
        return column.equals(value, parameter, contained) if column else contained

    def _contains(self, field: QueryField, value: Any, name: str, selection: Selection) -> Predicate:
        examples = [example(path, self._stored_value(path, value, selection.using)) for path in field.paths]
        return _containing(examples, name, selection, finds_few=field.name in self._rare)

    def _stored_value(self, path: JsonPath, value: Any, using: str) -> Any:
        target: ResourceName | None = self._descriptors.get(path)
        if target is None:
            return value
        id_ = descriptor_id(target, value)
        return stored_uris([id_], using).get(id_, value)


def _containing(examples: Iterable[Any], name: str, selection: Selection, *, finds_few: bool = False) -> Predicate:
    """Bodies that contain one of the examples. The keys of the index include the resource type, hence a second form of
    each."""
    plain, scoped = [], []
    for number, each in enumerate(examples):
        body = json_text.dumps(each).decode()
        parameter, in_index = f"{name}_{number}", f"{name}_{number}_scoped"
        plain.append(Sql(f"d.body @> %({parameter})s::jsonb", {parameter: body}))
        scoped.append(
            Sql(
                f"scoped_body(d.resource_type_id, d.body) @> %({in_index})s::jsonb",
                {in_index: f'{{"{selection.resource_type}":{body}}}'},
            )
        )
    return Predicate(any_of(plain), any_of(scoped), finds_few=finds_few)


def _bounds(field: QueryField, resource: Resource) -> range | None:
    """The numbers that an integer of the field can be; None if it is of another type."""
    if field.type is not QueryType.NUMBER:
        return None
    schemas = [schema_at(resource.json_schema, path) for path in field.paths]
    if any(schema.get("type") != "integer" for schema in schemas):
        return None
    bits = 32 if all(schema.get("format") == "int32" for schema in schemas) else 64
    return range(-(2 ** (bits - 1)), 2 ** (bits - 1))


def _any_predicate(predicates: Iterable[Predicate]) -> Predicate:
    """The disjunction of predicates of one field."""
    each = list(predicates)
    return Predicate(
        any_of(one.for_one_row for one in each),
        any_of(one.for_many_rows for one in each),
        finds_few=all(one.finds_few for one in each),
    )


def _rare_paths(resource: Resource) -> frozenset[JsonPath]:
    """Paths whose values occur in few documents each: ids of people, and the key of a single-key resource."""
    elements = resource.securable_elements
    people = (*elements.student, *elements.contact, *elements.staff)
    return frozenset([*people, *(resource.identity if len(resource.identity) == 1 else ())])


def _has_id(text: str) -> Predicate:
    requested = as_uuid(without_blanks(text))  # What is no id is None, which equals nothing.
    has_id = Sql("d.document_uuid = %(id)s::uuid AND d.resource_type_id = %(type)s", {"id": requested})
    return Predicate(has_id, has_id, finds_few=True)


def example(path: JsonPath, value: Any) -> Any:
    """The smallest body with this value at this path: `{"schoolReference": {"schoolId": 122}}`."""
    for step in reversed(path.steps):
        value = [value] if step == ALL_ITEMS else {step: value}
    return value
