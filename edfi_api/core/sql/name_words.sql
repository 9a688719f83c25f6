-- Words of names for the search of the admin: the same words for `Núñez`, `NÚÑEZ` and `nunez`, wherever the database is.

-- Not `lower`, which follows the locale of the database, nor the extension `unaccent`, which not every server has: letters
-- are decomposed, their marks are removed, and what is left is translated: Latin letters that are not decomposed, then
-- Greek, Cyrillic and Armenian capitals. A change of this function needs an index of another name
-- (edfi_api/core/queries/name_index.py).
CREATE FUNCTION folded(written text[]) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    letters text := left(array_to_string(written, ' '), 2000);
BEGIN
    IF octet_length(letters) > char_length(letters) THEN
        -- Also soft hyphens, joiners and marks of direction, which nobody sees, and the stretched line of Arabic.
        letters := regexp_replace(
            normalize(replace(letters, '´', ''''), NFKD),
            '[\u0300-\u036F\u0483-\u0487\u0591-\u05BD\u05BF\u05C1-\u05C2\u05C4-\u05C5\u05C7\u0610-\u061A\u0640'
            '\u064B-\u065F\u0670\u1AB0-\u1AFF\u1DC0-\u1DFF\u20D0-\u20FF\uFE20-\uFE2F\u00AD\u200B-\u200F\u202A-\u202E'
            '\u2060-\u2069\uFEFF]+',
            '', 'g'
        );
    END IF;
    IF octet_length(letters) > char_length(letters) THEN
        letters := translate(
            letters,
            'ÐðĐđØøĦħŁłŊŋŦŧƏıƗɨƵƶȺⱥɃƀ'
            'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩς'
            'ЂЄЅІЈЉЊЋЏАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯҐҒҖҚҢҮҰҲҶҺӘӨ'
            'ԱԲԳԴԵԶԷԸԹԺԻԼԽԾԿՀՁՂՃՄՅՆՇՈՉՊՋՌՍՎՏՐՑՒՓՔՕՖ',
            'ddddoohhllnnttəiiizzaabb'
            'αβγδεζηθικλμνξοπρστυφχψωσ'
            'ђєѕіјљњћџабвгдежзиклмнопрстуфхцчшщъыьэюяґғҗқңүұҳҷһәө'
            'աբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆ'
        );
        letters := replace(replace(replace(replace(letters, 'ß', 'ss'), 'ẞ', 'ss'), 'æ', 'ae'), 'Æ', 'ae');
        letters := replace(replace(replace(replace(letters, 'œ', 'oe'), 'Œ', 'oe'), 'þ', 'th'), 'Þ', 'th');
    END IF;
    RETURN lower(letters COLLATE "C");
END
$$;
COMMENT ON FUNCTION folded IS 'Texts in one, without case and accents, whatever the locale of the database.';

-- `anna o'brien` → 57:anna, 57:o, 57:brien, 57:obrien: each word below the number of its resource, so that an entry of the
-- index leads to documents of that resource alone. A word that is longer than the index holds is found by its beginning.
CREATE FUNCTION name_words(resource_type_id smallint, names text) RETURNS tsvector
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
COMMENT ON FUNCTION name_words IS 'The words of the folded names of a document, below the number of its resource.';
