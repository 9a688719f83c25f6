-- The same words in half of the time. To translate a text costs more than all else, and most folded names have nothing
-- but letters and digits of ASCII, of which nothing is translated. The index stays, since its words do.
CREATE OR REPLACE FUNCTION name_words(resource_type_id smallint, names text) RETURNS tsvector
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    between CONSTANT text := '!"#$%&()*+,/:;<=>?@[]^{|}~\«»‹›“”„‚،、。「」・' || E'\t\n\r\f\v';
    within CONSTANT text := '''’‘ʼʻ`´-‐‒–—―−._·־';
    written text;
    words text := names;
BEGIN
    IF names COLLATE "C" ~ '[^a-z0-9 ]' THEN
        written := translate(names, between, repeat(' ', 60));
        words := translate(written, within, repeat(' ', 30));
        IF words <> written THEN
            words := words || ' ' || translate(written, within, '');
        END IF;
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
