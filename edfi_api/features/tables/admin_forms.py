"""The forms of the pages of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.template.defaultfilters import filesizeformat

from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.exceptions import DataStoreNotFound
from edfi_api.core.data_stores.routing import described
from edfi_api.core.data_stores.routing_cache import routing_cache
from edfi_api.core.security.models import ApiClient
from edfi_api.core.served import current_surface
from edfi_api.features.tables.exceptions import ClientGone, InvalidTemplate
from edfi_api.features.tables.jobs import database_of
from edfi_api.features.tables.mapping import folded
from edfi_api.features.tables.members import Members
from edfi_api.features.tables.models import TableTemplate
from edfi_api.features.tables.named_templates import MOST_BYTES
from edfi_api.features.tables.reading import Header, column_letter
from edfi_api.features.tables.template import MappedMember, Template, read_values, values_text
from edfi_api.web.admin_kit.kinds import kind_in_words

_CONSTANTS = 3
_SAMPLES = 3
# What a select offers, in words.
PARTS = (
    ("", "the whole cell"),
    ("before-comma", "before the comma"),
    ("after-comma", "after the comma"),
    ("first-word", "the first word"),
    ("after-first-word", "after the first word"),
)
ORDERS = (("day-first", "the day is first"), ("month-first", "the month is first"))
# Members that every document needs, offered as constants.
_MOST_MISSING = 20
_MEMBER_OF_COLUMN = re.compile(r"member-((\d{1,3})(?:-\d{1,3})?)", re.ASCII)


class UploadForm(forms.Form):
    """A file, what its rows are, and the client that writes them."""

    file = forms.FileField(label="File", help_text="CSV, or a spreadsheet as .xlsx")
    resource = forms.ChoiceField(label="Each row is", required=False)
    template = forms.ModelChoiceField(
        TableTemplate.objects.all(),
        required=False,
        label="Or by a kept template",
        empty_label="none: the columns are suggested by their names",
    )
    client = forms.ModelChoiceField(
        ApiClient.objects.none(),
        label="Written as the API client",
        help_text="Its claim set and organizations say what may be written.",
    )
    data_store = forms.ChoiceField(label="Data store", required=False)

    def __init__(self, clients: QuerySet[ApiClient], *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["client"].queryset = clients  # type: ignore[attr-defined]  # Of ModelChoiceField.
        self.fields["client"].label_from_instance = _client_in_words  # type: ignore[attr-defined]
        if (first := clients[:2]) and len(first) == 1:
            self.fields["client"].initial = first[0].pk
        self.fields["resource"].choices = [("", "choose"), *_resources()]  # type: ignore[attr-defined]
        stores = sorted(routing_cache().table_after_miss().stores.values(), key=lambda store: store.id)
        if stores:
            choices = [("", "choose"), *((str(store.id), described(store)) for store in stores)]
            self.fields["data_store"].choices = choices  # type: ignore[attr-defined]
        else:
            del self.fields["data_store"]

    def clean_file(self) -> UploadedFile[bytes]:
        file: UploadedFile[bytes] = self.cleaned_data["file"]
        if file.size is None or file.size > api_settings.TABLE_BYTES:
            raise ValidationError(f"It is longer than {filesizeformat(api_settings.TABLE_BYTES)}.")
        return file

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not cleaned.get("resource") and not cleaned.get("template") and "resource" not in self.errors:
            self.add_error("resource", "Say what each row is, or choose a template.")
        cleaned["data_store"] = int(cleaned.get("data_store") or 0)
        if client := cleaned.get("client"):
            try:
                with database_of(client.pk, cleaned["data_store"]):
                    pass
            except ClientGone as error:
                self.add_error("client", str(error))
            except DataStoreNotFound:
                self.add_error(
                    "data_store" if "data_store" in self.fields else "client",
                    "Choose one of the client's data stores, or none if it has none.",
                )
        return cleaned


class TemplateUploadForm(forms.Form):
    """A file with templates."""

    file = forms.FileField(label="File", help_text="JSON: exported here, or from Ed-Fi's Data Import")

    def clean_file(self) -> bytes:
        file: UploadedFile[bytes] = self.cleaned_data["file"]
        return bytes(file.read(MOST_BYTES + 1))


class KeepForm(forms.Form):
    """The name of a template that is to be kept."""

    name = forms.CharField(max_length=200, label="Name")


def _resources() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return what rows may be, in words, by path: descriptors, which are the half of them, come last."""
    served = [each for each in current_surface().resources if not each.is_read_only]
    groups = ("Documents", False), ("Descriptors", True)
    return [
        (
            group,
            sorted(
                (
                    (each.url_path, kind_in_words(each.name.resource).singular)
                    for each in served
                    if each.is_descriptor == is_descriptor
                ),
                key=lambda each: each[1],
            ),
        )
        for group, is_descriptor in groups
    ]


def _client_in_words(client: ApiClient) -> str:
    return f"{client.name} ({client.application.vendor.name})"


@dataclass(frozen=True, slots=True)
class MemberField:
    """The fields of a form for one member of a column; `key` is in the names of its fields: `3`, and `3-1` for a second
    member of the same column."""

    key: str
    member: str = ""
    part: str = ""
    dates: str = ""
    default: str = ""
    values: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class ColumnField:
    """The fields of a form for a column: its letter and name, some of its cells, the members that it is mapped to, of
    which there is one at least, and a blank one for another. `order` is how its dates are read unless a member says it;
    None for a column without dates that could be read in two ways."""

    letter: str
    name: str
    samples: Sequence[str]
    members: Sequence[MemberField]
    other: MemberField
    order: str | None


@dataclass(frozen=True, slots=True)
class ConstantField:
    """A member that is the same in all rows."""

    number: int
    member: str = ""
    value: str = ""
    error: str = ""


def column_fields(
    header: Header, rows: Sequence[Sequence[str]], template: Template, errors: Sequence[str]
) -> list[ColumnField]:
    """The fields for all columns. `errors` begin with the member that they are about."""
    by_column: dict[str, list[MappedMember]] = {}
    for each in template.columns:
        if each.column:
            by_column.setdefault(folded(each.column), []).append(each)
    found = []
    for number, name in enumerate(header.columns):
        mapped = by_column.get(folded(name)) or [MappedMember("")]
        members = [_member_field(_key(number, position), each, errors) for position, each in enumerate(mapped)]
        samples = list(dict.fromkeys(row[number] for row in rows if row[number]))[:_SAMPLES]
        other = MemberField(_key(number, len(mapped)))
        found.append(ColumnField(column_letter(number), name, samples, members, other, header.dates[number]))
    return found


def _key(number: int, position: int) -> str:
    return f"{number}-{position}" if position else str(number)


def _member_field(key: str, mapped: MappedMember, errors: Sequence[str]) -> MemberField:
    error = _error_of(mapped.member, errors)
    values = values_text(mapped.values)
    return MemberField(key, mapped.member, mapped.part, mapped.dates, mapped.default, values, error)


def constant_fields(
    template: Template, columns: Sequence[str], missing: Sequence[str], errors: Sequence[str]
) -> list[ConstantField]:
    """The fields for constants, some of them blank; a member whose column the table lacks, or that is missing, has a
    blank constant."""
    known = {folded(name) for name in columns}
    mapped = [each for each in template.columns if folded(each.column) not in known]
    mapped += [MappedMember(each) for each in missing[:_MOST_MISSING] if each not in {one.member for one in mapped}]
    fields = [
        ConstantField(number, each.member, each.value, _error_of(each.member, errors))
        for number, each in enumerate(mapped)
    ]
    return fields + [ConstantField(len(fields) + number) for number in range(_CONSTANTS)]


def _error_of(member: str, errors: Sequence[str]) -> str:
    return next((each for each in errors if member and each.startswith(f"{member}:")), "")


def read_columns(given: Mapping[str, str], columns: Sequence[str], members: Members) -> Template:
    """The template of a form, whose members are paths or words. Raises InvalidTemplate."""
    found = (*_mapped_columns(given, columns), *_constants(given))
    paths = {each.words: each.path for each in reversed(members.all)}
    named = (msgspec.structs.replace(each, member=paths.get(each.member.casefold(), each.member)) for each in found)
    return Template(members.resource.url_path, tuple(named))


def _mapped_columns(given: Mapping[str, str], columns: Sequence[str]) -> Iterator[MappedMember]:
    for name in given:
        key = _MEMBER_OF_COLUMN.fullmatch(name)
        if key is None or int(key[2]) >= len(columns) or not (member := given[name].strip()):
            continue
        content = {
            field: text
            for field in ("part", "dates", "default")
            if (text := given.get(f"{field}-{key[1]}", "").strip())
        }
        try:
            values = read_values(given.get(f"values-{key[1]}", ""))
            yield msgspec.convert(
                {"member": member, "column": columns[int(key[2])], "values": values, **content}, MappedMember
            )
        except (InvalidTemplate, msgspec.ValidationError) as error:
            raise InvalidTemplate([f"{member}: {error}"]) from error


def _constants(given: Mapping[str, str]) -> Iterator[MappedMember]:
    for name in given:
        prefix, is_constant, number = name.partition("constant-member-")
        if not is_constant or prefix:
            continue
        member, value = given[name].strip(), given.get(f"constant-value-{number}", "").strip()
        if member and value:
            yield MappedMember(member, value=value)
