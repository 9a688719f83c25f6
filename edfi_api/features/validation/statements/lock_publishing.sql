-- Publishing takes versions for results, which have to become visible in their order.
SELECT pg_advisory_xact_lock(hashtextextended('meadowlark validation_version', 0))
