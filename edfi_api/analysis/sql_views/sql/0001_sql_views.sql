-- What create_sql_views has created, so that nothing else is ever dropped: schemas (name is empty), views, functions.
CREATE TABLE sql_view (
    schema text NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    digest text NOT NULL,
    PRIMARY KEY (schema, name)
);
COMMENT ON TABLE sql_view IS 'Schemas, views and functions that create_sql_views has created.';
COMMENT ON COLUMN sql_view.digest IS 'SHA-256 of the statement; of the row without names, of the model and the code.';

-- Serves WHERE studentusi = ... in the views. Only people have an entry.
CREATE INDEX document_usi ON document ((id::integer)) WHERE is_person;
COMMENT ON INDEX document_usi IS 'A person by the number of the row, which is studentusi and the like in SQL views.';

-- With opens_pathway in the index, counts and joins over enrollments by organization and student need not read the
-- documents.
CREATE INDEX document_organization_new ON document (resource_type_id, organization, id)
    INCLUDE (student, contact, staff, opens_pathway) WHERE organization IS NOT NULL;
DROP INDEX document_organization;
ALTER INDEX document_organization_new RENAME TO document_organization;
COMMENT ON INDEX document_organization IS 'Documents of organizations, each organization''s in the order of creation.';

-- Without it, the planner takes these for independent, and expects a third of the enrollments that there are.
CREATE STATISTICS document_kinds (mcv) ON resource_type_id, opens_pathway, is_person FROM document;
