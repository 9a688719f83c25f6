"""Documents as the ODS/API writes them: ids of 32 digits, every collection, timestamps with microseconds, and its names
of members."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from django.http import HttpResponse, QueryDict
from rest_framework.request import Request

from edfi_api.common.conf import api_settings
from edfi_api.common.ods_compatibility import OdsCompatibility
from edfi_api.core.documents import json_text
from edfi_api.core.documents.extraction import Extractor
from edfi_api.core.documents.member_names import OtherNames
from edfi_api.core.documents.ods_form import Completion, compile_completion
from edfi_api.core.documents.visible_part import TextProjection, readable_schema
from edfi_api.core.queries.pagination import OdsPagination
from edfi_api.core.queries.parameters import COMPARISONS_PARAMETER
from edfi_api.core.security.profiles.catalog import OfParts, ProfilePart
from edfi_api.core.storage.stored import StoredDocument
from edfi_api.core.writes.writing import Write, WrittenDocument
from edfi_api.model.surface.resource import Resource, Surface
from edfi_api.web.viewsets.edfi_view import EdFiRequest
from edfi_api.web.viewsets.representation import Linker, Representation
from edfi_api.web.viewsets.resource_viewset import ResourceViewSet


def id_of_digits(document_uuid: object) -> str:
    """The id without hyphens."""
    return str(document_uuid).replace("-", "")


def shown_id(document_uuid: object) -> str:
    """The id as answers have it in addition to documents."""
    return id_of_digits(document_uuid) if OdsCompatibility.IDS.applies else str(document_uuid)


class OdsLinker(Linker):
    """Links with ids of 32 digits."""

    def add_links(self, body: dict[str, Any], document: StoredDocument, extractor: Extractor, using: str) -> None:
        super().add_links(body, document, extractor, using)
        for reference in extractor.reference_objects(body):
            if link := reference.get("link"):
                start, slash, id_ = link["href"].rpartition("/")
                link["href"] = f"{start}{slash}{id_of_digits(id_)}"


class Completions:
    """The completions of what is read of one resource: the whole, or the visible part."""

    def __init__(self, resource: Resource) -> None:
        self._whole = compile_completion(resource.json_schema)
        self._of_parts = OfParts(_completion_of)

    def of(self, part: ProfilePart | None) -> Completion:
        return self._whole if part is None or part.view is None else self._of_parts[part]


def _completion_of(part: ProfilePart) -> Completion:
    assert part.view is not None  # noqa: S101  Parts that hide nothing are read as the whole.
    return compile_completion(readable_schema(part.resource.json_schema, part.view))


@dataclass(frozen=True, slots=True)
class OdsRepresentation(Representation):
    """A `Representation` with what the ODS/API adds. The text is always parsed."""

    # In microseconds.
    date_length: ClassVar[int] = len("2026-11-21T19:29:42.123456")

    completions: Completions = field(kw_only=True)
    names: OtherNames | None = field(kw_only=True)

    def under(self, part: ProfilePart | None, members: TextProjection | None = None) -> "OdsRepresentation":
        if part is None and members is None:
            return self
        return replace(self, part=part, members=members)

    def served(self, document: StoredDocument, using: str) -> tuple[str, bytes]:
        shown = document._replace(document_uuid=id_of_digits(document.document_uuid))
        return Representation.served(
            self, shown, using
        )  # A class with slots is made twice, which `super` does not know.

    def _visible_text(self, document: StoredDocument, using: str) -> bytes:
        body: dict[str, Any] = json_text.loads(document.text)
        if api_settings.LINKS:
            self.linker.add_links(body, document, self.extractor, using)
        visible = body if self.part is None else self.part.project(body)
        self.completions.of(self.part)(visible)
        if self.names is not None:
            self.names.rename(visible)
        return json_text.dumps(visible)


class Representations:
    """Makes the representations of the resources of a surface, as the ODS/API writes documents if that is wanted."""

    def __init__(self, surface: Surface) -> None:
        self._are_of_ods = OdsCompatibility.COMPLETE_DOCUMENTS.applies
        self._linker = (OdsLinker if self._are_of_ods else Linker)(surface)

    def of(self, resource: Resource, extractor: Extractor) -> Representation:
        """The representation of the whole documents of a resource."""
        if not self._are_of_ods:
            return Representation(extractor, self._linker)
        names = OtherNames.of(resource.served_names) if resource.served_names else None
        return OdsRepresentation(extractor, self._linker, completions=Completions(resource), names=names)


class _IdsOfDigits(ResourceViewSet):
    """The id in `Location` has 32 digits."""

    def written_response(
        self, request: EdFiRequest, prefix: str, written: WrittenDocument, status: int
    ) -> HttpResponse:
        shown = written._replace(document_uuid=id_of_digits(written.document_uuid))
        return super().written_response(request, prefix, shown, status)


class _MethodsFirst(ResourceViewSet):
    """Methods of items are checked before ids."""

    def initial(self, request: Request, *args: Any, document_id: str | None = None, **kwargs: Any) -> None:
        if (request.method or "").lower() not in self.action_map:
            document_id = None
        super().initial(request, *args, document_id=document_id, **kwargs)


class _IdsOfBodiesIgnored(ResourceViewSet):
    """The `id` in the body of a PUT is ignored."""

    def sent_document(self, request: EdFiRequest) -> Write:
        write = super().sent_document(request)
        write.ignores_id = True
        return write


class _OdsPaging(ResourceViewSet):
    """Paging parameters are read as the ODS/API reads them."""

    pagination_class = OdsPagination


class _FirstOfRepeatedParameters(ResourceViewSet):
    """The first value of a repeated parameter counts. A comparison, which the ODS/API does not have, keeps its list."""

    def adapt(self, request: Request) -> None:
        sent = request._request.GET
        if any(len(values) > 1 for _, values in sent.lists()):
            first = QueryDict(mutable=True)
            for name, values in sent.lists():
                first.setlist(name, values if name.lower() == COMPARISONS_PARAMETER else values[:1])
            request._request.GET = first  # type: ignore[assignment]  # Another one of the same class.


_CLASSES: dict[OdsCompatibility, type[ResourceViewSet]] = {
    OdsCompatibility.IDS: _IdsOfDigits,
    OdsCompatibility.METHODS_OF_ITEMS: _MethodsFirst,
    OdsCompatibility.PUT_WITH_ANOTHER_ID: _IdsOfBodiesIgnored,
    OdsCompatibility.PAGING: _OdsPaging,
    OdsCompatibility.REPEATED_PARAMETERS: _FirstOfRepeatedParameters,
}


def as_the_ods(base: type[ResourceViewSet]) -> type[ResourceViewSet]:
    """The class that follows the ways of the ODS/API that are wanted; itself if none is."""
    ways = tuple(made for way, made in _CLASSES.items() if way.applies)
    return type(f"Ods{base.__name__}", (*ways, base), {}) if ways else base
