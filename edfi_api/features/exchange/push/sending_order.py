"""The order in which documents can be sent: levels, within which none depends on another."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from uuid import UUID

from edfi_api.features.exchange.push.outbound_changes import OutboundChange
from edfi_api.features.exchange.push.target import Attempt
from edfi_api.model.surface.resource import Surface


def levels_of_upserts(outbound_changes: Sequence[OutboundChange]) -> list[list[OutboundChange]]:
    """Each document behind what it refers to. Documents that refer to each other in a circle are last."""
    owners = {identity: number for number, each in enumerate(outbound_changes) for identity in each.identities}
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for number, each in enumerate(outbound_changes):
        sorter.add(number, *(_owned(each.targets, owners) - {number}))
    levels = [[outbound_changes[number] for number in level] for level in _levels(sorter)]
    placed = {each.document_uuid for level in levels for each in level}
    circle = [each for each in outbound_changes if each.document_uuid not in placed]
    return [*levels, circle] if circle else levels


def levels_of_deletes(attempts: Iterable[Attempt], surface: Surface) -> list[list[Attempt]]:
    """Resource by resource, against the load order."""
    places = {resource.name: place for place, resource in enumerate(surface.resources)}
    by_place: dict[int, list[Attempt]] = {}
    for each in attempts:
        by_place.setdefault(places[each.outbound.resource.name], []).append(each)
    return [by_place[place] for place in sorted(by_place, reverse=True)]


def _owned(targets: Iterable[UUID], owners: dict[UUID, int]) -> set[int]:
    return {owners[target] for target in targets if target in owners}


def _levels(sorter: TopologicalSorter[int]) -> Iterable[list[int]]:
    with suppress(CycleError):  # What is neither part of a circle nor behind one is sorted all the same.
        sorter.prepare()
    while level := sorter.get_ready():
        yield sorted(level)
        sorter.done(*level)
