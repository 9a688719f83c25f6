-- All data stores with their contexts and derivatives, and the version that they have in this snapshot; one row without
-- a data store if there are none.
SELECT v.version, s.id, s.tenant_id, s.name::text, s.state::text, s.revision, s.connection,
       (SELECT coalesce(json_agg(json_build_array(c.key, c.value)), '[]')::text
          FROM data_store_context c WHERE c.data_store_id = s.id),
       (SELECT coalesce(json_agg(json_build_array(d.id, d.type, d.revision, d.connection) ORDER BY d.id), '[]')::text
          FROM data_store_derivative d WHERE d.data_store_id = s.id)
  FROM data_stores_version v LEFT JOIN data_store s ON true
