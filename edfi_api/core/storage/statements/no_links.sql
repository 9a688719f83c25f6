-- In place of `links.sql`, for a document without reference objects.
links AS (SELECT NULL::smallint[] AS types, NULL::uuid[] AS ids, true AS are_there)
