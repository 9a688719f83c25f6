DROP TRIGGER document_joins_paths ON document;
CREATE TRIGGER document_joins_paths AFTER INSERT ON document FOR EACH ROW
    WHEN ((NEW.opens_pathway OR NEW.organization IS NULL) AND NEW.is_person IS NOT TRUE
          AND (NEW.student IS NOT NULL OR NEW.contact IS NOT NULL OR NEW.staff IS NOT NULL))
    EXECUTE FUNCTION document_joins_paths();
DROP FUNCTION documents_join_paths;
DROP FUNCTION lock_people;
