SELECT change_version FROM document
 WHERE document_uuid = %(document_uuid)s AND resource_type_id = %(resource_type)s
