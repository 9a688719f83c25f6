-- The roles of an embedded server; see the package's docstring. Repeatable.
SELECT 'CREATE ROLE meadowlark' WHERE to_regrole('meadowlark') IS NULL \gexec
SELECT 'CREATE ROLE meadowlark_rules' WHERE to_regrole('meadowlark_rules') IS NULL \gexec
SELECT 'CREATE ROLE meadowlark_sql' WHERE to_regrole('meadowlark_sql') IS NULL \gexec
DROP ROLE IF EXISTS meadowlark_renamer;

-- CREATEDB for the databases of data stores, CREATEROLE for readers of SQL views. It has no rights on roles that it has
-- not made, and nobody but the account of the server can log in as any role.
ALTER ROLE meadowlark LOGIN CREATEDB CREATEROLE NOSUPERUSER NOREPLICATION NOBYPASSRLS;
ALTER ROLE meadowlark_rules LOGIN NOCREATEDB NOSUPERUSER NOCREATEROLE NOREPLICATION NOBYPASSRLS;
ALTER ROLE meadowlark_rules SET default_transaction_read_only = on;
ALTER ROLE meadowlark_rules SET statement_timeout = '10min';
-- Only a superuser can raise it. A rule that sorts without end must not fill the disk.
ALTER ROLE meadowlark_rules SET temp_file_limit = '10GB';
GRANT meadowlark_sql TO meadowlark;
-- So that it can end sessions of rules, as dropping the database of a data store does.
GRANT meadowlark_rules TO meadowlark;

-- Memberships of the superuser of an earlier version, and roles that were members of it.
SELECT format('GRANT %I TO meadowlark', roleid::regrole)
  FROM pg_auth_members
 WHERE member = 'postgres'::regrole AND roleid >= 16384 AND roleid <> 'meadowlark'::regrole
\gexec
SELECT format('GRANT meadowlark TO %1$s', member::regrole), format('REVOKE postgres FROM %1$s', member::regrole)
  FROM pg_auth_members
 WHERE roleid = 'postgres'::regrole
\gexec

-- Copies that were made for data stores, which belong to the superuser and are made again.
SELECT format('ALTER DATABASE %I OWNER TO meadowlark', datname)
  FROM pg_database
 WHERE datdba = 'postgres'::regrole AND NOT datallowconn AND datname LIKE 'meadowlark\_template\_%'
\gexec
