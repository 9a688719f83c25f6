-- In place of `links_of_set.sql`, for documents without reference objects.
links AS (
    SELECT NULL::integer AS position, NULL::smallint[] AS types, NULL::uuid[] AS ids, 0 AS number WHERE false
)
