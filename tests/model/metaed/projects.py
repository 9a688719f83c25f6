"""Writes small MetaEd projects, and finds entities in their models."""

import json
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Protocol

from edfi_api.model.metaed.model import CORE_NAMESPACE, Entity, EntityKey, EntityKind, Model, Property


class ModelOf(Protocol):
    def __call__(self, core: str = "", **extensions: str) -> Model: ...


class MessagesOf(Protocol):
    def __call__(self, core: str = "", version: str = "5.2.0", **extensions: str) -> list[str]: ...


def write_project(folder: Path, name: str, text: str, version: str = "1.0.0") -> Path:
    """A project of one file, `model.metaed`, or of none if there is no text."""
    folder.mkdir(parents=True, exist_ok=True)
    package = {"metaEdProject": {"projectName": name, "projectVersion": version}}
    (folder / "package.json").write_text(json.dumps(package), encoding="utf-8")
    if text:
        (folder / "model.metaed").write_text(dedent(text), encoding="utf-8")
    return folder


def write_projects(folder: Path, core: str, extensions: Mapping[str, str], version: str = "5.2.0") -> list[Path]:
    core_folder = write_project(folder / "core", "Ed-Fi", core, version)
    return [core_folder, *(write_project(folder / name, name, text) for name, text in extensions.items())]


def entity(model: Model, kind: EntityKind, name: str, namespace: str = CORE_NAMESPACE) -> Entity:
    return model.entities[EntityKey(namespace, kind, name)]


def only_entity(model: Model) -> Entity:
    (found,) = model.entities.values()
    return found


def members(of: Entity) -> dict[str, Property]:
    return {prop.full_name: prop for prop in of.properties}
