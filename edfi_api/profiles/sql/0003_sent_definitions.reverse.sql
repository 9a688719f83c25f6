DROP FUNCTION clear_sent_definition CASCADE;
