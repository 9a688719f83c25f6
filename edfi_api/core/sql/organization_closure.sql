-- The hierarchy of education organizations, which triggers maintain.

-- Which education organization is below which, at any depth; every organization is below itself. Derived from the
-- hierarchies of the documents of organizations, in the transaction that writes them. The primary key serves the
-- organizations below one.
CREATE TABLE organization_closure (
    ancestor_id bigint NOT NULL,
    descendant_id bigint NOT NULL,
    PRIMARY KEY (ancestor_id, descendant_id)
);
COMMENT ON TABLE organization_closure IS 'Education organizations and all that lie below them, themselves included.';

CREATE INDEX organization_closure_upwards ON organization_closure (descendant_id, ancestor_id);
COMMENT ON INDEX organization_closure_upwards IS 'The organizations above one: inverted strategies, changes of the hierarchy.';

-- The rows that these organizations have as descendants, derived from the documents alone. A circle ends, because UNION
-- discards rows that are known already.
CREATE FUNCTION organization_ancestors(organizations bigint[])
    RETURNS TABLE (ancestor_id bigint, descendant_id bigint)
    LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH RECURSIVE upwards (ancestor_id, descendant_id) AS (
        SELECT d.hierarchy[1], d.hierarchy[1] FROM document d
         WHERE d.hierarchy IS NOT NULL AND d.hierarchy[1] = ANY (organizations)
         UNION
        SELECT above, u.descendant_id
          FROM upwards u
          JOIN document d ON d.hierarchy IS NOT NULL AND d.hierarchy[1] = u.ancestor_id
         CROSS JOIN unnest(d.hierarchy[2:]) AS above
    )
    SELECT u.ancestor_id, u.descendant_id FROM upwards u;
END;

-- What is above an organization matters to it and to everything below: these rows are derived again. Only one
-- transaction at a time does so, until its end, because two that do not see each other's documents would each leave out
-- what the other adds. Statements after the lock see what was committed before it was granted.
CREATE FUNCTION follow_organization_hierarchy() RETURNS trigger
    LANGUAGE plpgsql AS $$
DECLARE
    changed bigint[] := array_remove(ARRAY[OLD.hierarchy[1], NEW.hierarchy[1]], NULL);
BEGIN
    PERFORM pg_advisory_xact_lock('organization_closure'::regclass::bigint);
    changed := changed || ARRAY(SELECT descendant_id FROM organization_closure WHERE ancestor_id = ANY (changed));
    DELETE FROM organization_closure WHERE descendant_id = ANY (changed);
    INSERT INTO organization_closure SELECT * FROM organization_ancestors(changed);
    RETURN NULL;
END
$$;

CREATE TRIGGER document_joins_hierarchy AFTER INSERT ON document
    FOR EACH ROW WHEN (NEW.hierarchy IS NOT NULL) EXECUTE FUNCTION follow_organization_hierarchy();
COMMENT ON TRIGGER document_joins_hierarchy ON document IS 'Keeps organization_closure when an organization is created.';

CREATE TRIGGER document_moves_in_hierarchy AFTER UPDATE OF hierarchy ON document
    FOR EACH ROW WHEN (NEW.hierarchy IS DISTINCT FROM OLD.hierarchy) EXECUTE FUNCTION follow_organization_hierarchy();
COMMENT ON TRIGGER document_moves_in_hierarchy ON document IS 'Keeps organization_closure when an organization moves.';

CREATE TRIGGER document_leaves_hierarchy AFTER DELETE ON document
    FOR EACH ROW WHEN (OLD.hierarchy IS NOT NULL) EXECUTE FUNCTION follow_organization_hierarchy();
COMMENT ON TRIGGER document_leaves_hierarchy ON document IS 'Keeps organization_closure when an organization is deleted.';
