"""The entry point of the package: `build_surface` derives a model's complete API surface."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from edfi_api.model.metaed.model import Domain, Entity, EntityKey, EntityKind, Model, Project
from edfi_api.model.surface import naming
from edfi_api.model.surface.columns import Tables
from edfi_api.model.surface.constraints import Commons, Lookup, array_uniqueness, equality_constraints
from edfi_api.model.surface.declarations import Declarations
from edfi_api.model.surface.deviations import as_published
from edfi_api.model.surface.fixed_resources import descriptor_resource, school_year_resource
from edfi_api.model.surface.identity import Identities
from edfi_api.model.surface.interchange import descriptor_as_interchange, entity_as_interchange, published_paths
from edfi_api.model.surface.json_schema import document_schema
from edfi_api.model.surface.load_order import in_load_order
from edfi_api.model.surface.ods_names import OdsNames, ods_endpoint
from edfi_api.model.surface.path_table import (
    DocumentBody,
    Documents,
    PathTable,
    additions_tables,
    common_identity,
    document_table,
)
from edfi_api.model.surface.query_fields import code_fields, decimal_limits, query_fields, value_paths
from edfi_api.model.surface.references import ReferenceReader, extensions_last, with_key_descriptors
from edfi_api.model.surface.resource import (
    AbstractResource,
    EqualityConstraint,
    InterchangeEntity,
    JsonPath,
    KeyPair,
    ProjectFacts,
    QueryField,
    ReferencePath,
    Resource,
    ResourceKind,
    Superclass,
    Surface,
)
from edfi_api.model.surface.securable import (
    authorization_pathways,
    organization_hierarchy,
    securable_elements,
    with_own_organizations,
)


def build_surface(model: Model) -> Surface:
    """The surface of all projects of a model together, resources in load order."""
    compilation = _Compilation(model)
    abstract_resources = tuple(compilation.abstract_resources())
    published = as_published(compilation.resources(), model.projects)
    resources = with_key_descriptors(tuple(published), abstract_resources)
    in_order = in_load_order(resources, abstract_resources)
    surface = Surface(
        projects=tuple(_project_facts(project, model) for project in model.projects),
        resources=in_order,
        abstract_resources=abstract_resources,
        organizations=organization_hierarchy(compilation.declarations, compilation.path_table),
        interchange=tuple(compilation.interchange(in_order)),
    )
    return with_own_organizations(surface)


def _project_facts(project: Project, model: Model) -> ProjectFacts:
    return ProjectFacts(
        name=project.name,
        endpoint=naming.url_segment(project.name),
        version=project.version,
        package_name=project.package_name,
        description=project.description,
        is_extension=project.is_extension,
        domains=domains_declared_by(project, model),
    )


class _Compilation:
    """One run over a model, with the intermediate results that several resources need."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.declarations = Declarations(model)
        self.identities = Identities(self.declarations)
        self.documents = Documents(self.declarations, self.identities)
        self.tables = Tables(self.declarations, self.identities)
        self.references = ReferenceReader(self.declarations, self.path_table)
        self.ods_names = OdsNames(self.declarations, self.identities)
        self._documents: dict[EntityKey, DocumentBody] = {}
        self._path_tables: dict[EntityKey, PathTable] = {}

    def document(self, entity: Entity) -> DocumentBody:
        if entity.key not in self._documents:
            self._documents[entity.key] = self.documents.document(entity)
        return self._documents[entity.key]

    def path_table(self, entity: Entity) -> PathTable:
        if entity.key not in self._path_tables:
            self._path_tables[entity.key] = document_table(self.document(entity))
        return self._path_tables[entity.key]

    def abstract_resources(self) -> Iterator[AbstractResource]:
        for entity in self.declarations.abstract_resources():
            yield AbstractResource(
                name=self.declarations.resource_name(entity),
                identity=self._identity(entity),
                subclasses=tuple(sorted(map(self.declarations.resource_name, self.declarations.subclasses(entity)))),
            )

    def resources(self) -> Iterator[Resource]:
        for entity in self.declarations.resources():
            yield self._resource(entity)
        for entity in self.model.of_kind(EntityKind.DESCRIPTOR):
            yield descriptor_resource(entity, self.declarations.project(entity), domains_of(entity.key, self.model))
        for entity in self.model.of_kind(EntityKind.SCHOOL_YEAR_ENUMERATION):
            yield school_year_resource(entity, self.declarations.project(entity))

    def _resource(self, entity: Entity) -> Resource:
        document, table, project = self.document(entity), self.path_table(entity), self.declarations.project(entity)
        added = list(additions_tables(document))
        terminals = list(chain(table.terminals, *(other.terminals for other in added)))
        schema = document_schema(document, title=f"{project.name}.{entity.name}")
        descriptors, fields = (
            extensions_last(self.references.descriptors(terminals, schema)),
            self._query_fields(entity),
        )
        ods_names = self.ods_names.of(document)
        return Resource(
            name=self.declarations.resource_name(entity),
            project_endpoint=naming.url_segment(project.name),
            endpoint=naming.endpoint_name(entity.name),
            kind=ResourceKind.ENTITY,
            json_schema=schema,
            identity=self._identity(entity),
            superclass=self._superclass(entity),
            allows_identity_updates=entity.allows_primary_key_updates,
            references=extensions_last(self.references.references(terminals, schema)),
            descriptors=descriptors,
            equality_constraints=tuple(self._equality_constraints(entity, document, added)),
            array_uniqueness=array_uniqueness(terminals),
            common_identity=common_identity(terminals),
            query_fields=fields,
            code_fields=code_fields(schema, fields, {each.path for each in descriptors}, ods_names),
            decimals=decimal_limits(terminals),
            value_paths=value_paths(terminals),
            securable_elements=securable_elements(entity, table, self.declarations),
            authorization_pathways=authorization_pathways(entity),
            ods_names=ods_names,
            ods_endpoint=ods_endpoint(entity),
            domains=domains_of(entity.key, self.model),
            documentation=entity.documentation,
            deprecated=entity.deprecated,
        )

    def interchange(self, published: Iterable[Resource]) -> Iterator[InterchangeEntity]:
        """The interchange elements of the entities, including abstract ones, and of the descriptors."""
        by_name = {resource.name: resource for resource in published}
        for entity in chain(self.declarations.resources(), self.declarations.abstract_resources()):
            name, document = self.declarations.resource_name(entity), self.document(entity)
            paths = published_paths(self.declarations.project(entity), name.resource)
            found = by_name[name].references if name in by_name else self._references_of_abstract(entity)
            yield entity_as_interchange(name, document, found, paths)
        declared = {self.declarations.resource_name(d): d for d in self.model.of_kind(EntityKind.DESCRIPTOR)}
        for resource in published:
            if resource.is_descriptor:
                yield descriptor_as_interchange(resource, declared[resource.name])

    def _references_of_abstract(self, entity: Entity) -> tuple[ReferencePath, ...]:
        schema = document_schema(self.document(entity), title=entity.name)
        return tuple(self.references.references(self.path_table(entity).terminals, schema))

    def _query_fields(self, entity: Entity) -> tuple[QueryField, ...]:
        superclass = self.declarations.superclass(entity)
        inherited = self.tables.main(superclass) if superclass is not None else None
        return query_fields(self.tables.main(entity), inherited, self.path_table(entity).values_at)

    def _equality_constraints(
        self, entity: Entity, document: DocumentBody, added: list[PathTable]
    ) -> Iterator[EqualityConstraint]:
        """Constraints of the document itself, then those of additions, also between additions and the document."""
        own = self.path_table(entity)
        yield from self._constraints_of(entity, own.values_at)
        for additions, table in zip(document.additions, added, strict=True):
            yield from self._constraints_of(additions.entity, _first_hit(table, own))

    def _constraints_of(self, declaration: Entity, lookup: Lookup) -> tuple[EqualityConstraint, ...]:
        commons = Commons.of(declaration.properties, self.identities, self.model.target)
        return equality_constraints(declaration, self.tables.of(declaration), lookup, commons)

    def _identity(self, entity: Entity) -> tuple[JsonPath, ...]:
        terminals = (terminal for terminal in self.path_table(entity).terminals if terminal.is_identity)
        return tuple(sorted({path for terminal in terminals for path in terminal.present_paths}, key=str))

    def _superclass(self, entity: Entity) -> Superclass | None:
        """The superclass identity: a renamed value under its original name, all others unchanged."""
        superclass = self.declarations.superclass(entity)
        if superclass is None:
            return None
        renamed = next((prop.full_name for prop in entity.properties if prop.renames), None)
        if renamed is None:
            pairs = tuple(KeyPair(path, path) for path in self._identity(superclass))
        else:
            here = self.path_table(entity).values_at((renamed,))
            pairs = tuple(KeyPair(here[0].named_path, path) for path in self._identity(superclass))
        return Superclass(self.declarations.resource_name(superclass), pairs)


def _first_hit(table: PathTable, fallback: PathTable) -> Lookup:
    return lambda path: table.values_at(path) or fallback.values_at(path)


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
