"""Descriptor values that another standard names otherwise."""

from collections.abc import Mapping
from typing import Any

from references.descriptor_uri import comparable


class DescriptorValues:
    """`values` map URIs, `namespaces` those of all other values in them; both without regard to case."""

    def __init__(self, namespaces: Mapping[str, str], values: Mapping[str, str]) -> None:
        self._namespaces = {comparable(namespace): new for namespace, new in namespaces.items()}
        self._values = {comparable(uri): new for uri, new in values.items()}

    def mapped(self, value: Any) -> Any:
        """A value, or a body with all its values: each text that is a URI to be mapped."""
        if isinstance(value, dict):
            return {name: self.mapped(member) for name, member in value.items()}
        if not isinstance(value, str) or "#" not in value:
            return value
        if found := self._values.get(comparable(value)):
            return found
        namespace, _, code = value.partition("#")
        new = self._namespaces.get(comparable(namespace))
        return value if new is None else f"{new}#{code}"

    def of_document(self, body: dict[str, Any]) -> dict[str, Any]:
        """The document of a descriptor."""
        namespace, code = body.get("namespace"), body.get("codeValue")
        if not isinstance(namespace, str) or not isinstance(code, str):
            return body
        new_namespace, _, new_code = str(self.mapped(f"{namespace}#{code}")).partition("#")
        return {**body, "namespace": new_namespace, "codeValue": new_code}
