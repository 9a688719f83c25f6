CREATE OR REPLACE FUNCTION name_words(resource_type_id smallint, names text) RETURNS tsvector
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    between CONSTANT text := '!"#$%&()*+,/:;<=>?@[]^{|}~\«»‹›“”„‚،、。「」・' || E'\t\n\r\f\v';
    within CONSTANT text := '''’‘ʼʻ`´-‐‒–—―−._·־';
    written text := translate(names, between, repeat(' ', 60));
    words text := translate(written, within, repeat(' ', 30));
BEGIN
    IF words <> written THEN
        words := words || ' ' || translate(written, within, '');
    END IF;
    IF length(words) > 100 THEN
        words := regexp_replace(words, '([^ ]{100})[^ ]+', '\1', 'g');
    END IF;
    RETURN array_to_tsvector(string_to_array(
        resource_type_id || ':' ||
        array_to_string(array_remove(string_to_array(words, ' '), ''), ' ' || resource_type_id || ':'),
        ' '
    ));
END
$$;
