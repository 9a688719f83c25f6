"""A source whose key changes cascade, as in an Ed-Fi API: each document whose key follows is listed, too."""

import json
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from edfi_api.core.documents.document_validator import DocumentValidators
from edfi_api.core.documents.paths import values_at
from edfi_api.model.surface.resource import Resource, Surface
from tests.features.exchange.reference_source import ReferenceSource, Stored


@dataclass
class CascadingSource(ReferenceSource):
    """A source of cascades. Without `lists_cascades` only the document is listed whose key was changed, and the others
    are no newer than they were, as those of a person in the ODS.
    """

    surface: Surface | None = None
    lists_cascades: bool = True
    _validators: DocumentValidators | None = field(default=None, init=False)

    def change_key(self, stored: Stored, **key: Any) -> None:
        """Give a document other values of own members of its key, and let all that refer to it follow."""
        with self.lock:
            self._give(stored, stored.body | key, is_listed=True)

    def remove_unreferenced(self, stored: Stored) -> bool:
        """Whether it could be."""
        own = self._id(stored)
        with self.lock:
            if any(own in self._targets(each) for each in self.documents.values()):
                return False
            self.remove(stored, **self.key_values(stored))
            return True

    def find(self, path: str, body: dict[str, Any]) -> Stored | None:
        """The document with the key of the body."""
        wanted = self._id(Stored(path, "", 0, body))
        return next((each for each in self.documents.values() if each.path == path and self._id(each) == wanted), None)

    def has_targets(self, path: str, body: dict[str, Any]) -> bool:
        """Whether all that the body refers to is there, among the resources of this source."""
        sent = Stored(path, "", 0, body)
        there = {self._id(each) for each in self.documents.values()}
        return all(
            each.referential_id in there
            for each in self._extractor(sent).references(body)
            if self._path(each.target) in self.order
        )

    def key_values(self, stored: Stored) -> dict[str, Any]:
        return {
            query_field.name: values_at(stored.body, path.steps)[0][1]
            for query_field, path in self._resource(stored).key_fields
        }

    def _is_there_again(self, delete: dict[str, Any], last: int) -> bool:
        return any(
            each.path == delete["path"] and each.version <= last and self.key_values(each) == delete["keyValues"]
            for each in list(self.documents.values())
        )

    def _give(self, stored: Stored, body: dict[str, Any], *, is_listed: bool) -> None:
        old, old_id = self.key_values(stored), self._id(stored)
        if is_listed:
            changed = self.put(stored.path, body, stored.id)
        else:
            changed = self.documents[stored.id] = Stored(stored.path, stored.id, stored.version, body)
        new_id = self._id(changed)
        if new_id == old_id:
            return
        if is_listed:
            change = {"changeVersion": self.version, "oldKeyValues": old, "newKeyValues": self.key_values(changed)}
            self.key_changes.append({"path": stored.path, "id": stored.id, **change})
        [new_key] = self._extractor(changed).key_values(body)[:1]
        for each in list(self.documents.values()):
            if old_id in self._targets(each):
                followed = json.loads(json.dumps(each.body))
                self._extractor(each).follow_moved_targets(followed, {old_id: new_key})
                self._give(each, followed, is_listed=self.lists_cascades)

    def _targets(self, stored: Stored) -> set[UUID]:
        return {each.referential_id for each in self._extractor(stored).references(stored.body)}

    def _id(self, stored: Stored) -> UUID:
        return self._extractor(stored).identity(stored.body).referential_id

    def _extractor(self, stored: Stored) -> Any:
        self._validators = self._validators or DocumentValidators(self.surface)
        return self._validators[self._resource(stored).name].extractor

    def _resource(self, stored: Stored) -> Resource:
        return self.surface.resource_at(stored.path)

    def _path(self, name: Any) -> str:
        resource = self.surface.by_name.get(name)
        return resource.url_path.strip("/") if resource else ""
