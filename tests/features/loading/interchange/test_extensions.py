"""Elements of extension projects, for small models."""

import io
from pathlib import Path
from typing import Any

from edfi_api.features.loading.interchange.document_reader import DocumentReader, documents
from edfi_api.features.loading.interchange.entities import Entities
from edfi_api.model.metaed.compiler import compile_projects
from edfi_api.model.surface.builder import build_surface
from tests.features.loading.interchange.documents import interchange
from tests.model.surface.models import write_project

CORE = """
Domain Entity Student
  string StudentCode is part of identity
  common Address is optional collection
Common Address
  string City is part of identity
"""
EXTENSION = """
Domain Entity EdFi.Student additions
  bool IsRider is optional
  common extension EdFi.Address is optional collection
  domain entity BusRoute is optional collection
Common EdFi.Address additions
  string Zone is optional
Domain Entity BusRoute
  string RouteCode is part of identity
"""


def body_of(tmp_path: Path, text: str) -> dict[str, Any]:
    core = write_project(tmp_path / "core", "Ed-Fi", CORE)
    extension = write_project(tmp_path / "extension", "GrandBend", EXTENSION, "1.0.0")
    reader = DocumentReader(Entities(build_surface(compile_projects([core, extension]))))
    (element,) = documents(io.BytesIO(interchange(text).encode()))
    fragment = reader.read(element).document
    assert fragment is not None
    return fragment.body


def test_additions_are_among_the_elements_and_below_ext_in_the_body(tmp_path: Path) -> None:
    body = body_of(
        tmp_path,
        "<Student><StudentCode>1</StudentCode><IsRider>true</IsRider>"
        "<BusRouteReference><BusRouteIdentity><RouteCode>7</RouteCode></BusRouteIdentity></BusRouteReference></Student>",
    )

    assert body == {
        "studentCode": "1",
        "_ext": {"grandbend": {"isRider": "true", "busRoutes": [{"busRouteReference": {"routeCode": "7"}}]}},
    }


def test_additions_to_a_common_are_below_ext_in_its_objects(tmp_path: Path) -> None:
    body = body_of(tmp_path, "<Student><Address><City>A</City><Zone>Z</Zone></Address></Student>")

    assert body == {"addresses": [{"city": "A", "_ext": {"grandbend": {"zone": "Z"}}}]}


def test_an_entity_of_an_extension_is_a_document(tmp_path: Path) -> None:
    assert body_of(tmp_path, "<BusRoute><RouteCode>7</RouteCode></BusRoute>") == {"routeCode": "7"}
