DROP TABLE rate_limit;
