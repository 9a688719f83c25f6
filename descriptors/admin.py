"""Descriptors in the admin: found by code value, read, left alone."""

from django.contrib import admin

from descriptors.models import Descriptor
from edfi_api.admin import ReadOnlyAdmin


@admin.register(Descriptor)
class DescriptorAdmin(ReadOnlyAdmin):
    """The list that answers which code values a descriptor has."""

    list_display = ["code_value", "resource_type", "short_description", "namespace"]
    list_filter = ["resource_type"]
    list_select_related = ["resource_type"]
    search_fields = ["natural_key"]
    ordering = ["resource_type__name", "natural_key"]
    fields = ["resource_type", "natural_key", "document_uuid", "body", "last_modified_at"]

    @admin.display
    def code_value(self, descriptor: Descriptor) -> str:
        return descriptor.body["codeValue"]

    @admin.display
    def short_description(self, descriptor: Descriptor) -> str:
        return descriptor.body["shortDescription"]

    @admin.display
    def namespace(self, descriptor: Descriptor) -> str:
        return descriptor.body["namespace"]
