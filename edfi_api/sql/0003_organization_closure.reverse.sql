DROP TRIGGER document_joins_hierarchy ON document;
DROP TRIGGER document_moves_in_hierarchy ON document;
DROP TRIGGER document_leaves_hierarchy ON document;
DROP FUNCTION follow_organization_hierarchy;
DROP FUNCTION organization_ancestors;
DROP INDEX document_of_organization;
DROP TABLE organization_closure;
