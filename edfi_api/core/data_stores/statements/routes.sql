-- All tenants and data stores, with their contexts and derivatives, and the version that they have in this snapshot. A
-- tenant without data stores has a row without one; there is one row with nothing but the version if there is neither.
SELECT v.version, t.id, t.name::text, s.id, s.name::text, s.state::text, s.revision, s.connection,
       (SELECT coalesce(json_agg(json_build_array(c.key, c.value)), '[]')::text
          FROM data_store_context c WHERE c.data_store_id = s.id),
       (SELECT coalesce(json_agg(json_build_array(d.id, d.type, d.revision, d.connection) ORDER BY d.id), '[]')::text
          FROM data_store_derivative d WHERE d.data_store_id = s.id)
  FROM data_stores_version v LEFT JOIN (tenant t FULL JOIN data_store s ON s.tenant_id = t.id) ON true
 ORDER BY t.id, s.id
