"""The routes of the guides; none with the setting GUIDES off."""

from pathlib import PurePosixPath

from django.http import FileResponse, Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.urls import re_path, reverse
from django.utils.safestring import mark_safe
from rest_framework.request import Request

from edfi_api.common.addresses import fixed_path
from edfi_api.common.conf import api_settings
from edfi_api.site.guides import FILES, at, guides
from edfi_api.web.viewsets.edfi_view import OpenPageView
from edfi_api.web.viewsets.responses import html_page

ALL = "all"


class GuidesView(OpenPageView):
    """A guide, the list of all at the address itself, all on one page, a picture, or a notebook."""

    def get(self, request: Request, path: str = "", **kwargs: str) -> HttpResponseBase:
        if media_type := FILES.get(PurePosixPath(path).suffix):
            return _file(path, media_type)
        return _all(request._request) if path == ALL else _guide(request._request, path)


def _guide(request: HttpRequest, address: str) -> HttpResponseBase:
    page = guides().page(address)
    if page is None:
        raise Http404
    context = {
        "address": address,
        "title": page.title,
        # What it renders are files of this project, without HTML of their own.
        "html": mark_safe(at(reverse("guides"), page.html)),  # noqa: S308
        "headings": [heading for heading in page.headings if heading.level == 2],
        "sections": guides().sections,
    }
    return html_page(request, "edfi_api/guide.html", context)


def _all(request: HttpRequest) -> HttpResponseBase:
    root = reverse("guides")
    texts = [(guide, mark_safe(at(root, page.html))) for guide, page in guides().together]  # noqa: S308
    return html_page(request, "edfi_api/guides_together.html", {"texts": texts, "sections": guides().sections})


def _file(path: str, media_type: str) -> HttpResponseBase:
    found = guides().file(path)
    if found is None:
        raise Http404
    return FileResponse(found.open("rb"), content_type=media_type, headers={"Cache-Control": "max-age=3600"})


_view = GuidesView.as_view()
urlpatterns = (
    [
        fixed_path("guides", _view, "guides"),
        re_path(r"^guides/(?P<path>[\w./-]*[\w])/?\Z", _view, name="guide"),
    ]
    if api_settings.GUIDES
    else []
)
