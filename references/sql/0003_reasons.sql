-- What each index is for; `tests/storage/test_reasons.py` has a query for each.
COMMENT ON INDEX alias_document IS 'The identities of a document; the cascade of its delete.';
COMMENT ON INDEX reference_document IS 'What a document refers to: the difference at an update, the cascade of its delete.';
