-- A concurrent writer that refers to one of these either holds a weaker lock on it already, or waits for this
-- transaction.
SELECT referential_id FROM alias WHERE referential_id = ANY (%(aliases)s::uuid[]) ORDER BY referential_id FOR UPDATE
