"""Viewsets that answer as the ODS/API does: a class for each of its ways, chosen when viewsets are made."""

from dataclasses import replace
from typing import Any

from django.http import HttpResponse, QueryDict
from rest_framework.request import Request

from edfi_api.common.ods_compatibility import OdsCompatibility
from edfi_api.core.queries.pagination import OdsPagination
from edfi_api.core.queries.parameters import COMPARISONS_PARAMETER
from edfi_api.core.writes.writing import Write, WrittenDocument
from edfi_api.web.viewsets.edfi_view import EdFiRequest
from edfi_api.web.viewsets.ods_representation import id_of_digits
from edfi_api.web.viewsets.resource_viewset import ResourceViewSet


class IdsOfDigits(ResourceViewSet):
    """The id in `Location` has 32 digits."""

    def written_response(
        self, request: EdFiRequest, prefix: str, written: WrittenDocument, status: int
    ) -> HttpResponse:
        shown = replace(written, document_uuid=id_of_digits(written.document_uuid))
        return super().written_response(request, prefix, shown, status)


class MethodsFirst(ResourceViewSet):
    """Methods of items are checked before ids."""

    def initial(self, request: Request, *args: Any, document_id: str | None = None, **kwargs: Any) -> None:
        if (request.method or "").lower() not in self.action_map:
            document_id = None
        super().initial(request, *args, document_id=document_id, **kwargs)


class IdsOfBodiesIgnored(ResourceViewSet):
    """The `id` in the body of a PUT is ignored."""

    def sent_document(self, request: EdFiRequest) -> Write:
        write = super().sent_document(request)
        write.ignores_id = True
        return write


class OdsPaging(ResourceViewSet):
    """Paging parameters are read as the ODS/API reads them."""

    pagination_class = OdsPagination


class FirstOfRepeatedParameters(ResourceViewSet):
    """The first value of a repeated parameter counts. A comparison, which the ODS/API does not have, keeps its list."""

    def adapt(self, request: Request) -> None:
        sent = request._request.GET
        if any(len(values) > 1 for _, values in sent.lists()):
            first = QueryDict(mutable=True)
            for name, values in sent.lists():
                first.setlist(name, values if name.lower() == COMPARISONS_PARAMETER else values[:1])
            request._request.GET = first  # type: ignore[assignment]  # Another one of the same class.


_CLASSES: dict[OdsCompatibility, type[ResourceViewSet]] = {
    OdsCompatibility.IDS: IdsOfDigits,
    OdsCompatibility.METHODS_OF_ITEMS: MethodsFirst,
    OdsCompatibility.PUT_WITH_ANOTHER_ID: IdsOfBodiesIgnored,
    OdsCompatibility.PAGING: OdsPaging,
    OdsCompatibility.REPEATED_PARAMETERS: FirstOfRepeatedParameters,
}


def as_the_ods(base: type[ResourceViewSet]) -> type[ResourceViewSet]:
    """The class that follows the ways of the ODS/API that are wanted; itself if none is."""
    ways = tuple(made for way, made in _CLASSES.items() if way.applies)
    return type(f"Ods{base.__name__}", (*ways, base), {}) if ways else base
