-- Applications refer to a claim set by its id, and a trigger gives them its new name.

-- Claim sets from before names were unique in any case: the first keeps its name, others get their number.
UPDATE security_claimset c SET name = left(c.name, 230) || ' (' || c.id || ')'
 WHERE EXISTS (
     SELECT FROM security_claimset other
      WHERE lower(other.name) = lower(c.name) AND other.tenant_id IS NOT DISTINCT FROM c.tenant_id AND other.id < c.id
 );

UPDATE security_claimset SET name = 'BootstrapDescriptorsandEdOrgs'
 WHERE name = 'BootstrapDescriptorsAndEdOrgs' AND tenant_id IS NULL;
SET CONSTRAINTS ALL IMMEDIATE;
