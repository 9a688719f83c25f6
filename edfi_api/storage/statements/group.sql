-- Part of the statements that write a group: the values of its documents, from a JSON array of objects.
sent AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset(%(rows)s::jsonb) AS sent (
        position integer, document_uuid uuid, referential_id uuid, natural_key text, aliases uuid[], targets uuid[],
        linked uuid[], body jsonb, {columns}
    )
)
