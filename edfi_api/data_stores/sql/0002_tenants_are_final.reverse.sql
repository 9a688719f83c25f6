DROP FUNCTION refuse_change_of_tenant CASCADE;
