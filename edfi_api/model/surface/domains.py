"""The domains of a resource: the chapters of the model's documentation in which it appears."""

from __future__ import annotations

from collections.abc import Iterator

from edfi_api.model.metaed.model import Domain, EntityKey, Model, Project


def domains_of(key: EntityKey, model: Model) -> tuple[str, ...]:
    """Names of domains and subdomains of all projects, in order of the projects, domains before subdomains."""
    return tuple(dict.fromkeys(domain.name for domain in _in_order(model) if key in domain.entities))


def domains_declared_by(project: Project, model: Model) -> tuple[str, ...]:
    """The project's own domains, without subdomains."""
    return tuple(d.name for d in model.domains if d.namespace == project.namespace and d.parent is None)


def _in_order(model: Model) -> Iterator[Domain]:
    for project in model.projects:
        own = [domain for domain in model.domains if domain.namespace == project.namespace]
        yield from sorted(own, key=lambda domain: domain.parent is not None)
