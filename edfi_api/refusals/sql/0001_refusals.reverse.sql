DROP TABLE submission_hour;
DROP TABLE refusal_position;
DROP TABLE refusal;
DROP FUNCTION count_open_refusals;
DROP TABLE open_refusals;
DROP SEQUENCE refusal_change;
