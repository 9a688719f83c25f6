UPDATE security_claimset SET name = 'BootstrapDescriptorsAndEdOrgs'
 WHERE name = 'BootstrapDescriptorsandEdOrgs' AND tenant_id IS NULL;
SET CONSTRAINTS ALL IMMEDIATE;
