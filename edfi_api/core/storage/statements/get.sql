-- Returns the fields of `StoredDocument` (STORED_COLUMNS in `stored.py`), followed by whether the policy allows to read it, if there is one.
SELECT {columns}{is_allowed}
  FROM document d
 WHERE d.document_uuid = %(document_uuid)s AND d.resource_type_id = %(resource_type)s
