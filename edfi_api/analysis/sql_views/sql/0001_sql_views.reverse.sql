DROP STATISTICS document_kinds;
CREATE INDEX document_organization_old ON document (resource_type_id, organization, id)
    INCLUDE (student, contact, staff) WHERE organization IS NOT NULL;
DROP INDEX document_organization;
ALTER INDEX document_organization_old RENAME TO document_organization;
COMMENT ON INDEX document_organization IS 'Documents of organizations, each organization''s in the order of creation.';
DROP INDEX document_usi;
DROP TABLE sql_view;
