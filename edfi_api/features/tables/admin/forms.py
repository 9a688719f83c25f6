"""The forms of the pages of tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.template.defaultfilters import filesizeformat

from edfi_api.common.conf import api_settings
from edfi_api.core.data_stores.exceptions import DataStoreNotFound
from edfi_api.core.data_stores.routes import routes
from edfi_api.core.data_stores.routing import described
from edfi_api.core.security.models import ApiClient
from edfi_api.core.served import current_surface
from edfi_api.features.tables.exceptions import ClientGone, InvalidTemplate
from edfi_api.features.tables.jobs import database_of
from edfi_api.features.tables.kept_templates import MOST_BYTES
from edfi_api.features.tables.models import TableTemplate
from edfi_api.features.tables.template import MappedMember, Template, read_values, values_text
from edfi_api.web.admin_kit.kinds import kind_in_words

_CONSTANTS = 3
_SAMPLES = 3


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
        self.fields["resource"].choices = [("", "choose"), *_resources()]  # type: ignore[attr-defined]
        stores = sorted(routes().after_a_miss().stores.values(), key=lambda store: store.id)
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


def _resources() -> list[tuple[str, str]]:
    """What rows may be, in words, by path."""
    found = [
        (resource.url_path, kind_in_words(resource.name.resource).singular)
        for resource in current_surface().resources
        if not resource.is_read_only
    ]
    return sorted(found, key=lambda each: each[1])


def _client_in_words(client: ApiClient) -> str:
    return f"{client.name} ({client.application.vendor.name})"


@dataclass(frozen=True, slots=True)
class ColumnField:
    """What a form has for a column: its letter and name, some of its cells, and how it is mapped."""

    number: int
    letter: str
    name: str
    samples: Sequence[str]
    member: str = ""
    default: str = ""
    values: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class ConstantField:
    """A member that is the same in all rows."""

    number: int
    member: str = ""
    value: str = ""
    error: str = ""


def column_fields(
    columns: Sequence[str],
    letters: Sequence[str],
    rows: Sequence[Sequence[str]],
    template: Template,
    errors: Sequence[str],
) -> list[ColumnField]:
    """The fields for all columns. `errors` begin with the member that they are about."""
    by_column = {each.column: each for each in reversed(template.columns) if each.column}
    found = []
    for number, name in enumerate(columns):
        mapped = by_column.get(name, MappedMember(""))
        samples = list(dict.fromkeys(row[number] for row in rows if row[number]))[:_SAMPLES]
        error = _error_of(mapped.member, errors)
        found.append(
            ColumnField(
                number, letters[number], name, samples, mapped.member, mapped.default, values_text(mapped.values), error
            )
        )
    return found


def constant_fields(template: Template, columns: Sequence[str], errors: Sequence[str]) -> list[ConstantField]:
    """The fields for constants, some of them blank; a member whose column the table lacks has a blank constant."""
    known = set(columns)
    mapped = [each for each in template.columns if each.column not in known]
    fields = [
        ConstantField(number, each.member, each.value, _error_of(each.member, errors))
        for number, each in enumerate(mapped)
    ]
    return fields + [ConstantField(len(fields) + number) for number in range(_CONSTANTS)]


def _error_of(member: str, errors: Sequence[str]) -> str:
    return next((each for each in errors if member and each.startswith(f"{member}:")), "")


def read_columns(given: Mapping[str, str], columns: Sequence[str], resource: str) -> Template:
    """The template of a form. Raises InvalidTemplate."""
    return Template(resource, (*_mapped_columns(given, columns), *_constants(given)))


def _mapped_columns(given: Mapping[str, str], columns: Sequence[str]) -> Iterator[MappedMember]:
    for number, name in enumerate(columns):
        member = given.get(f"member-{number}", "").strip()
        if not member:
            continue
        try:
            values = read_values(given.get(f"values-{number}", ""))
        except InvalidTemplate as error:
            raise InvalidTemplate([f"{member}: {error}"]) from error
        yield MappedMember(member, name, default=given.get(f"default-{number}", "").strip(), values=values)


def _constants(given: Mapping[str, str]) -> Iterator[MappedMember]:
    for name in given:
        prefix, is_constant, number = name.partition("constant-member-")
        if not is_constant or prefix:
            continue
        member, value = given[name].strip(), given.get(f"constant-value-{number}", "").strip()
        if member and value:
            yield MappedMember(member, value=value)
