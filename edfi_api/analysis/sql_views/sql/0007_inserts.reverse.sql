DROP FUNCTION skip_row_that_is_there() CASCADE;
