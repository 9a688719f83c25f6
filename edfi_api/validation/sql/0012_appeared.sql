CREATE INDEX validation_result_appeared ON validation_result (appeared_at);

COMMENT ON INDEX validation_result_appeared IS 'Results that appeared in a time: the admin, /validation/v1.';
