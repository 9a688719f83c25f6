"""What of a model with errors can be looked at as a model without: the entities without errors that refer to no others
but such."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from edfi_api.model.metaed.errors import Problem
from edfi_api.model.metaed.linker import TARGET_KINDS
from edfi_api.model.metaed.model import ADDITIONS_KINDS, SUBCLASS_KINDS, Entity, EntityKey, Model


def sound_part(model: Model, errors: Iterable[Problem]) -> Model:
    """The model without the entities in which there are errors, and all that refers to them."""
    unsound = set(_erroneous(model, errors))
    unsound |= {entity.key for entity in model.entities.values() if _has_unknown_target(entity)}
    referrers = defaultdict(set)
    for entity in model.entities.values():
        for target in _targets(entity):
            referrers[target].add(entity.key)
    waiting = list(unsound)
    while waiting:
        further = referrers[waiting.pop()] - unsound
        unsound |= further
        waiting += further
    return replace(
        model,
        entities={key: entity for key, entity in model.entities.items() if key not in unsound},
        domains=tuple(
            replace(each, entities=tuple(key for key in each.entities if key not in unsound)) for each in model.domains
        ),
        interchanges=tuple(
            replace(each, items=tuple(item for item in each.items if item.entity not in unsound))
            for each in model.interchanges
        ),
    )


def _erroneous(model: Model, errors: Iterable[Problem]) -> Iterator[EntityKey]:
    """The entities whose declarations are the last before an error in a file."""
    declared = defaultdict(list)
    for key, entity in model.entities.items():
        declared[entity.place.file].append((entity.place.line, entity.place.column, key))
    for places in declared.values():
        places.sort(key=lambda place: place[:2])
    for problem in errors:
        places = declared[problem.place.file]
        number = bisect_right(places, (problem.place.line, problem.place.column), key=lambda place: place[:2])
        if number:
            yield places[number - 1][2]


def _has_unknown_target(entity: Entity) -> bool:
    if entity.base is None and entity.kind in SUBCLASS_KINDS | ADDITIONS_KINDS:
        return True
    return any(prop.target is None and prop.type in TARGET_KINDS for prop in entity.properties)


def _targets(entity: Entity) -> Iterator[EntityKey]:
    if entity.base is not None:
        yield entity.base
    yield from (prop.target for prop in (*entity.properties, *entity.search_keys) if prop.target is not None)
