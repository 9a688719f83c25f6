/*
identifier = "KY-601"
short = "Two students have unique ids that look equal"
description = "The two differ in case, blanks, characters that nobody sees, or the form of Unicode alone. Clients that read ids from files and screens take one for the other. Delete the later one, or change what is not meant to be the same."
severity = "minor"
category = "Keys"
resource = "ed-fi/students"
help_url = "meadowlark/docs/operate/validation.md#ky-601"
*/
WITH keyed AS (
    SELECT d.id, d.student AS value
      FROM documents('ed-fi/students') d
), folded AS (
    SELECT k.*,
           -- Without characters that nobody sees, in one of Unicode's forms, with single blanks, in lower case.
           lower(btrim(regexp_replace(
               regexp_replace(normalize(k.value, NFKC), U&'[\00AD\200B-\200F\2060-\2064\FEFF]', '', 'g'), '\s+', ' ', 'g'
           ))) AS text
      FROM keyed k
), ranked AS (
    SELECT f.*, first_value(f.id) OVER alike AS first_id, first_value(f.value) OVER alike AS first_one
      FROM folded f
    WINDOW alike AS (PARTITION BY f.text ORDER BY f.id)
)
SELECT r.id AS document_id,
       jsonb_build_object('studentUniqueId', r.value, 'other', r.first_one) AS context,
       ARRAY[r.first_id] AS other_document_ids
  FROM ranked r
 WHERE r.id <> r.first_id
