-- Clients with open entries, by resource, and how many there are of each.
SELECT client, data_store, resource, awaited_resource, sum(entries)::bigint
  FROM open_refusals WHERE direction = 'received' AND entries > 0 GROUP BY 1, 2, 3, 4
