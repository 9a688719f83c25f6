"""Read-only admin pages of descriptors, with filters and search by namespace, type, code value and description."""

from typing import Any

from django.contrib import admin
from django.contrib.admin import ModelAdmin
from django.db.models import QuerySet, TextField
from django.db.models.expressions import Func, Value
from django.db.models.fields.json import KT
from django.http import HttpRequest

from descriptors.models import Descriptor, of_descriptors, stored_descriptors
from edfi_api.model.metaed.model import DESCRIPTOR_SUFFIX
from edfi_api.web.admin_kit.read_only import ReadOnlyAdmin
from edfi_api.web.admin_kit.store_choice import OfDataStoreAdmin, shown_in

_AUTHORITIES_SHOWN = 50


class AuthorityFilter(admin.SimpleListFilter):
    """Filters by the authority of the namespace: `uri://ed-fi.org` of `uri://ed-fi.org/SexDescriptor`."""

    title = "namespace"
    parameter_name = "namespace"

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        authority = Func(KT("body__namespace"), Value(r"^\w+://[^/]+"), function="substring", output_field=TextField())
        shown = stored_descriptors(shown_in(request).using)
        found = shown.annotate(authority=authority).values_list("authority", flat=True)
        return [(name, name) for name in found.distinct().order_by("authority")[:_AUTHORITIES_SHOWN] if name]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Descriptor]) -> QuerySet[Descriptor]:
        if authority := self.value():
            return queryset.filter(body__namespace__startswith=f"{authority}/")
        return queryset


class TypeFilter(admin.SimpleListFilter):
    """Filters by descriptor type; offers the types that have values."""

    title = "descriptor"
    parameter_name = "type"

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        shown = stored_descriptors(shown_in(request).using)
        types = shown.values_list("resource_type_id", "resource_type__name")
        return [
            (str(number), name.removesuffix(DESCRIPTOR_SUFFIX)) for number, name in types.distinct().order_by(*_BY_TYPE)
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Descriptor]) -> QuerySet[Descriptor]:
        number = self.value() or ""
        return queryset.filter(resource_type_id=int(number)) if number.isdecimal() else queryset


_BY_TYPE = ["resource_type__name"]


@admin.register(Descriptor)
class DescriptorAdmin(OfDataStoreAdmin, ReadOnlyAdmin):
    """The list of the code values of descriptors."""

    list_display = ["code_value", "short_description", "descriptor", "namespace"]
    list_filter = [AuthorityFilter, TypeFilter]
    list_select_related = ["resource_type"]
    search_fields = ["natural_key", "body__shortDescription"]
    search_help_text = "A part of a namespace, a code value or a short description"
    ordering = ["resource_type__name", "natural_key"]
    fields = ["descriptor", "namespace", "code_value", "short_description", "description", "last_modified_at"]
    readonly_fields = ["descriptor", "namespace", "code_value", "short_description", "description"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Descriptor]:
        return of_descriptors(super().get_queryset(request))

    @admin.display
    def descriptor(self, descriptor: Descriptor) -> str:
        return descriptor.resource_type.name.removesuffix(DESCRIPTOR_SUFFIX)

    @admin.display
    def code_value(self, descriptor: Descriptor) -> str:
        return str(descriptor.body["codeValue"])

    @admin.display
    def short_description(self, descriptor: Descriptor) -> str:
        return str(descriptor.body["shortDescription"])

    @admin.display
    def description(self, descriptor: Descriptor) -> Any:
        return descriptor.body.get("description")

    @admin.display
    def namespace(self, descriptor: Descriptor) -> str:
        return str(descriptor.body["namespace"])
