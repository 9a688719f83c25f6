INSERT INTO submission_hour AS kept
SELECT client, data_store, resource, to_timestamp(hour), accepted, refused,
       to_timestamp(last_accepted_at), to_timestamp(last_refused_at)
  FROM jsonb_to_recordset(%(hours)s::jsonb) AS sent (
    client bigint, data_store bigint, resource text, hour double precision, accepted bigint, refused bigint,
    last_accepted_at double precision, last_refused_at double precision
  )
 ORDER BY hour, client, data_store, resource
ON CONFLICT (hour, client, data_store, resource) DO UPDATE SET
    accepted = kept.accepted + excluded.accepted, refused = kept.refused + excluded.refused,
    last_accepted_at = greatest(kept.last_accepted_at, excluded.last_accepted_at),
    last_refused_at = greatest(kept.last_refused_at, excluded.last_refused_at)
