"""The URL map. Fixed segments match case-insensitively, because clients differ in their case."""

import re

from django.conf import settings
from django.contrib import admin
from django.http import HttpResponseRedirect
from django.templatetags.static import static
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import RedirectView

from edfi_api.common.addresses import standard_segment
from edfi_api.common.conf import api_settings
from edfi_api.core.served import current_surface
from edfi_api.features.changes.change_queries.views import TrackedResourceViewSet
from edfi_api.features.management_api.urls import management_routes
from edfi_api.features.validation.extension_model import is_extension_served
from edfi_api.features.validation.http.extension import extension_views
from edfi_api.web.batch.views import batch_routes
from edfi_api.web.metadata.claim_sets import claim_set_routes
from edfi_api.web.viewsets.router import DataRouter

surface = current_surface()

STANDARD_SEGMENT = standard_segment(surface.core_project.package_name)
DATA_PREFIXES = ("data/v3", "data", STANDARD_SEGMENT)

_prefixes = "|".join(re.escape(prefix) for prefix in DATA_PREFIXES)

router = DataRouter(surface, TrackedResourceViewSet)
if is_extension_served(surface):
    router = router.with_views(extension_views(surface))

urlpatterns: list[URLPattern | URLResolver] = [
    # `DataRoutesMiddleware` expects it to be the first.
    re_path(rf"^(?P<prefix>(?i:{_prefixes}))/(?P<path>.*)$", router, name="data"),
    *batch_routes(router.served),
    path("", include("edfi_api.core.security.oauth.urls")),
    path("", include("edfi_api.web.relations.urls")),
    path("", include("edfi_api.features.changes.change_queries.urls")),
    path("", include("edfi_api.features.validation.http.urls")),
    path("", include("edfi_api.features.changes.history.urls")),
    # Before those of refusals, which end with all unknown addresses.
    path("", include("edfi_api.features.runs.urls")),
    path("", include("edfi_api.features.sandboxes.urls")),
    path("", include("edfi_api.features.refusals.http.urls")),
    path("", include("edfi_api.web.metadata.urls")),
    path("", include("edfi_api.site.guides_urls")),
    path("", include("edfi_api.site.observability.urls")),
    # Browsers request it for every page without an icon: those of the admin, and JSON.
    path("favicon.ico", lambda _: HttpResponseRedirect(static("edfi_api/icon.svg"))),
]
if api_settings.CLAIMS_UPLOAD:
    urlpatterns += claim_set_routes()
if api_settings.MANAGEMENT_PATH:
    urlpatterns += management_routes(api_settings.MANAGEMENT_PATH)
if settings.ADMIN_PATH:
    admin.autodiscover()
    urlpatterns += [
        path(settings.ADMIN_PATH, RedirectView.as_view(pattern_name="admin:index")),
        path(f"{settings.ADMIN_PATH}/", admin.site.urls),
    ]

handler400 = "edfi_api.web.problem_details.exception_handler.client_error"
handler403 = "edfi_api.web.problem_details.exception_handler.forbidden"
handler404 = "edfi_api.web.problem_details.exception_handler.client_error"
handler500 = "edfi_api.web.problem_details.exception_handler.server_error"
