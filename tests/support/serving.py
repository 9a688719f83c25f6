"""Surfaces other than the configured one, served in the process of the tests.

A process serves one surface, which the URL map reads on import. This module makes a URL map of another surface, with
its documents and validators.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType

import pytest
from django.conf import settings
from django.test import override_settings
from django.urls import URLPattern, URLResolver, include, path, re_path

from edfi_api.common.conf import BUNDLED_STANDARDS, api_settings
from edfi_api.common.settings_table import SETTINGS
from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.core.security.claims.file import fill_claims
from edfi_api.core.security.requests.authentication import client_of_token
from edfi_api.core.served import Compilation, compilation_of
from edfi_api.core.storage import resource_types
from edfi_api.features.changes.change_queries import tracked_changes
from edfi_api.features.changes.change_queries.views import TrackedResourceViewSet
from edfi_api.model.surface.resource import Surface
from edfi_api.web.batch.views import batch_routes
from edfi_api.web.viewsets.router import DataRouter
from tests.support.databases import DOCUMENTS
from tests.support.factories import DocumentFactory

STANDARDS = ("3.3.1-b", "4.0", "5.2", "6.1")
SERVED_BY_DEFAULT = "5.2"
# For tests that take long: the oldest and the one that is served by default; the others only with `--every-standard`.
OTHERS_MARKED = tuple(
    pytest.param(name, marks=() if name in (STANDARDS[0], SERVED_BY_DEFAULT) else pytest.mark.standards)
    for name in STANDARDS
)
LAKE_COUNTY = Path(__file__).parents[1] / "model/extension_project" / "lake_county"
# Names that the ODS/API forms in another way.
SHIPYARD = Path(__file__).parents[1] / "model/extension_project" / "shipyard"


@dataclass(frozen=True)
class Served:
    """A surface with its URL map, documents and validators, each made on first use."""

    name: str
    compilation: Compilation = field(repr=False)
    standard: Path = BUNDLED_STANDARDS / SERVED_BY_DEFAULT

    @property
    def surface(self) -> Surface:
        return self.compilation.surface

    @cached_property
    def validators(self) -> DocumentValidators:
        return DocumentValidators(self.surface)

    @cached_property
    def documents(self) -> DocumentFactory:
        return DocumentFactory(self.surface)

    @cached_property
    def urls(self) -> ModuleType:
        """The URL map of the product with the routes of this surface."""
        from meadowlark import urls  # noqa: PLC0415  It compiles the configured surface.

        module = ModuleType(f"urls_of_{self.name}")
        vars(module).update(vars(urls))
        vars(module)["urlpatterns"] = [self._of_own_surface(pattern) for pattern in urls.urlpatterns]
        return module

    def _of_own_surface(self, pattern: URLPattern | URLResolver) -> URLPattern | URLResolver:
        """Replaces the routes of data, batches, relations, history and metadata, which depend on the surface."""
        from edfi_api.features.changes.history import urls as history  # noqa: PLC0415  It compiles the configured surface.
        from edfi_api.web.metadata import urls  # noqa: PLC0415  Likewise.
        from edfi_api.web.relations import urls as relations  # noqa: PLC0415  Likewise.

        match getattr(pattern, "urlconf_name", None), getattr(pattern.pattern, "name", None):
            case included, _ if included is urls:
                return path("", include(urls.metadata_routes(self.compilation, self.standard)))
            case included, _ if included is relations:
                return path("", include(relations.relation_routes(self.surface)))
            case included, _ if included is history:
                return path("", include(history.history_routes(self.surface)))
            case _, "data":
                return re_path(pattern.pattern.regex.pattern, self._router, name="data")
            case _, "batch":
                return next(each for each in self._batches if str(each.pattern) == str(pattern.pattern))
        return pattern

    @cached_property
    def _router(self) -> DataRouter:
        return DataRouter(self.surface, TrackedResourceViewSet)

    @cached_property
    def _batches(self) -> list[URLPattern]:
        return batch_routes(self._router.served)

    @contextmanager
    def instead(self) -> Iterator[None]:
        """Serve this surface within the context, in the transaction of the test."""
        is_numbered = self.surface.by_name.keys() <= resource_types.numbers(DOCUMENTS).keys()
        if not is_numbered:
            resource_types.synchronize(self.surface.resources, DOCUMENTS)
            tracked_changes.synchronize(self.surface.resources, DOCUMENTS)
            fill_claims(self.surface)
            client_of_token.cache_clear()  # Clients know which claims there are.
        with override_settings(ROOT_URLCONF=self.urls):
            yield
        if not is_numbered:
            resource_types.synchronize((), DOCUMENTS)  # Clears the cache: the numbers are rolled back.


@cache
def served(standard: str, *extensions: Path) -> Served:
    """A bundled standard with extension projects."""
    sources = (BUNDLED_STANDARDS / standard, *extensions)
    compilation = compilation_of(sources, api_settings.CACHE_DIR)
    name = "-".join([standard, *(path.name for path in extensions)])
    return Served(name, compilation, BUNDLED_STANDARDS / standard)


@contextmanager
def like_the_ods(*extensions: Path) -> Iterator[Served]:
    """Serve the configured surface, with extension projects, as with `MEADOWLARK_COMPATIBILITY=ods`, in the transaction
    of the test."""
    # The map of the configured surface must not be made while the setting is on.
    from meadowlark import urls  # noqa: F401, PLC0415  It compiles the configured surface.

    changes = {"EDFI_API": settings.EDFI_API | _values_like_the_ods(), "MIDDLEWARE": [*settings.MIDDLEWARE]}
    with override_settings(**changes):
        served = _served_like_the_ods(*extensions)
        with served.instead():
            yield served


@cache
def _served_like_the_ods(*extensions: Path) -> Served:
    """Its URL map is made once, while the setting is on."""
    compilation = compilation_of((*api_settings.model_sources, *extensions), api_settings.CACHE_DIR)
    name = "-".join(["like_the_ods", *(path.name for path in extensions)])
    made = Served(name, compilation, api_settings.data_standard)
    assert made.urls
    return made


def _values_like_the_ods() -> dict[str, object]:
    """The setting, and those whose default follows from it."""
    otherwise, like_the_ods = _defaults(""), _defaults("ods")
    return {name: value for name, value in like_the_ods.items() if value != otherwise[name]}


def _defaults(compatibility: str) -> dict[str, object]:
    values: dict[str, object] = {}
    for name, setting in SETTINGS.items():
        values[name] = compatibility if name == "COMPATIBILITY" else setting.default_among(values)
    return values
