"""What a role of the database can do beyond its tables, for system checks."""

ROLES_PAGE = "see Roles in meadowlark/docs/operate/database.md"
# Whether the session is of a superuser, or of a member of the roles that read and write files of the server, or run
# programs there.
POWERS = """
SELECT CASE WHEN r.rolsuper THEN ARRAY['a superuser'] ELSE ARRAY(
           SELECT 'a member of ' || m.rolname FROM pg_roles m
            WHERE m.rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')
              AND pg_has_role(r.oid, m.oid, 'MEMBER')
            ORDER BY m.rolname) END
  FROM pg_roles r WHERE r.rolname = session_user
"""
