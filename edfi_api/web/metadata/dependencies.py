"""The dependency order as GraphML."""

from lxml import etree
from lxml.builder import ElementMaker

from edfi_api.model.surface.dependency_order import Dependencies
from edfi_api.model.surface.resource import Surface

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_XML = ElementMaker(namespace=_NAMESPACE, nsmap={None: _NAMESPACE})


def graphml(surface: Surface) -> bytes:
    """Edges lead from a resource to those that depend on it."""
    dependencies = Dependencies(surface)
    path, targets, updated_later = dependencies.path, dependencies.targets, dependencies.updated_later
    updates = {name: f"{path(name)}#Retry" for name in updated_later}
    paths = [path(name) for name in targets]
    edges = [(path(target), path(name)) for name, found in targets.items() for target in found]
    edges += [(path(target), updates[name]) for name in updates for target in updated_later[name]]
    graph = _XML.graph({"id": "EdFi Dependencies", "edgedefault": "directed"})
    graph.extend(_XML.node(id=path) for path in sorted([*paths, *updates.values()]))
    graph.extend(_XML.edge(source=source, target=target) for source, target in sorted(edges))
    text: bytes = etree.tostring(_XML.graphml(graph), xml_declaration=True, encoding="utf-8")
    return text
