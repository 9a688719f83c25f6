ALTER TABLE reference DROP CONSTRAINT reference_pkey, ADD PRIMARY KEY (alias_id, resource_type_id, document_id);
ALTER TABLE reached_document DROP CONSTRAINT reached_document_path,
    ADD CONSTRAINT reached_document_document_id_association_id_contact_associa_key
        UNIQUE NULLS NOT DISTINCT (document_id, association_id, contact_association_id);
