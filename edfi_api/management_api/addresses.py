"""An address of the management API as data, of which routes and the OpenAPI document are made."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_PARAMETER = re.compile(r"<(\w+)>")


@dataclass(frozen=True)
class Address:
    """`path` is below the version, as `vendors/<id>`; `actions` are those of the view, by method in lower case. A view
    that is no view set has its methods as actions."""

    version: str
    path: str
    view: type[Any]
    actions: Mapping[str, str]
    is_view_set: bool = True

    @property
    def template(self) -> str:
        """`/v3/vendors/{id}`"""
        path = _PARAMETER.sub(r"{\1}", self.path)
        return f"/{self.version}/{path}"

    @property
    def parameters(self) -> list[str]:
        """Names of parameters in the path."""
        return _PARAMETER.findall(self.path)

    @property
    def tag(self) -> str:
        """The collection that it belongs to."""
        return self.path.partition("/")[0]
