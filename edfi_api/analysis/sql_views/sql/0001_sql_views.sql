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

-- Without it, the planner takes these for independent, and expects a third of the enrollments that there are.
-- With opens_pathway in document_organization, enrollments would be counted in the index alone. But as long as a table
-- has no statistics, the planner would then choose that index for the question whether a person is in an organization,
-- which authorization asks, and read all documents of the organization for it.
CREATE STATISTICS document_kinds (mcv) ON resource_type_id, opens_pathway, is_person FROM document;
