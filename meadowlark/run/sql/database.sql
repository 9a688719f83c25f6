-- What the application owns and what rules must not call, in one database of an embedded server. Repeatable.

-- PostgreSQL lets every role take advisory locks, on which writers wait, write large objects and the log, and end
-- sessions of its own name, among them those of other rules.
SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', p.oid::regprocedure),
       format('GRANT EXECUTE ON FUNCTION %s TO meadowlark', p.oid::regprocedure)
  FROM pg_proc p
 WHERE p.pronamespace = 'pg_catalog'::regnamespace
   AND (p.proname ~ '^pg_(try_)?advisory_(xact_)?(un)?lock'
        OR p.proname IN ('lo_creat', 'lo_create', 'lo_from_bytea', 'lo_put', 'lo_unlink', 'lowrite', 'lo_truncate',
                         'lo_truncate64', 'pg_logical_emit_message', 'pg_notify', 'pg_export_snapshot',
                         'pg_cancel_backend', 'pg_terminate_backend'))
\gexec

-- Databases of an earlier version belong to the superuser until all that is in them belongs to the application.
SELECT datdba = 'postgres'::regrole AND NOT datistemplate AND datname <> 'postgres' AS is_superusers
  FROM pg_database WHERE datname = current_database()
\gset
\if :is_superusers

WITH object AS (
    SELECT 'pg_class'::regclass AS classid, oid AS objid, relowner AS owner FROM pg_class
     WHERE relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
    UNION ALL
    SELECT 'pg_proc'::regclass, oid, proowner FROM pg_proc
    UNION ALL
    -- Not those of tables, which follow them.
    SELECT 'pg_type'::regclass, t.oid, t.typowner FROM pg_type t
     WHERE t.typtype IN ('d', 'e', 'r')
        OR t.typtype = 'c' AND EXISTS (SELECT FROM pg_class c WHERE c.oid = t.typrelid AND c.relkind = 'c')
    UNION ALL
    SELECT 'pg_namespace'::regclass, oid, nspowner FROM pg_namespace
    UNION ALL
    SELECT 'pg_publication'::regclass, oid, pubowner FROM pg_publication
    UNION ALL
    SELECT 'pg_statistic_ext'::regclass, oid, stxowner FROM pg_statistic_ext
    UNION ALL
    SELECT 'pg_largeobject'::regclass, oid, lomowner FROM pg_largeobject_metadata
)
SELECT format('ALTER %s %s OWNER TO meadowlark',
              CASE i.type
                  WHEN 'function' THEN 'ROUTINE' WHEN 'procedure' THEN 'ROUTINE' WHEN 'aggregate' THEN 'ROUTINE'
                  WHEN 'statistics object' THEN 'STATISTICS' WHEN 'composite type' THEN 'TYPE'
                  ELSE upper(i.type) END,
              i.identity)
  FROM object o
 CROSS JOIN LATERAL pg_identify_object(o.classid, o.objid, 0) i
 WHERE o.owner = 'postgres'::regrole AND o.objid >= 16384
   AND coalesce(i.schema, '') NOT LIKE 'pg\_%'
   -- Members of extensions and sequences of columns follow what they belong to.
   AND NOT EXISTS (
       SELECT FROM pg_depend d
        WHERE d.classid = o.classid AND d.objid = o.objid
          AND (d.deptype = 'e' OR i.type = 'sequence' AND d.deptype IN ('a', 'i')))
 ORDER BY i.type = 'schema' DESC
\gexec
SELECT format('ALTER DATABASE %I OWNER TO meadowlark', current_database()) \gexec
\endif
