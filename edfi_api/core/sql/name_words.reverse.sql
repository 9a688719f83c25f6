-- With the indexes that use it.
DROP FUNCTION name_words CASCADE;
DROP FUNCTION folded;
