-- Documents about the people whose associations have changed within these versions. They are found by their references,
-- from the person on: documents that also belong to an organization have no index by person.
WITH RECURSIVE changed AS MATERIALIZED (
    SELECT student, contact, staff FROM document
     WHERE resource_type_id = ANY (%(associations)s) AND opens_pathway
       AND change_version > %(after)s AND change_version <= %(upto)s
     UNION
    SELECT student, contact, staff FROM deleted_document
     WHERE opens_pathway AND change_version > %(after)s AND change_version <= %(upto)s
     UNION
    SELECT student, contact, staff FROM key_change
     WHERE resource_type_id = ANY (%(associations)s) AND opens_pathway
       AND change_version > %(after)s AND change_version <= %(upto)s
), contact AS MATERIALIZED (
    SELECT contact FROM changed WHERE contact IS NOT NULL
     UNION
    SELECT d.contact FROM changed JOIN document d USING (student)
     WHERE d.resource_type_id = ANY (%(associations)s) AND d.opens_pathway AND d.contact IS NOT NULL
), about AS (
    SELECT d.id FROM document d WHERE d.is_person AND d.student IN (SELECT student FROM changed)
     UNION
    SELECT d.id FROM document d WHERE d.is_person AND d.contact IN (SELECT contact FROM contact)
     UNION
    SELECT d.id FROM document d WHERE d.is_person AND d.staff IN (SELECT staff FROM changed)
     UNION
    SELECT d.id
      FROM about JOIN alias a ON a.document_id = about.id JOIN reference r ON r.alias_id = a.referential_id
      JOIN document d ON d.id = r.document_id
     WHERE d.student IN (SELECT student FROM changed) OR d.contact IN (SELECT contact FROM contact)
        OR d.staff IN (SELECT staff FROM changed)
)
SELECT d.document_uuid FROM about JOIN document d USING (id)
