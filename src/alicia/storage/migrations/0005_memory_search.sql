-- What recall searches: an owner's memories by meaning, by words, and by what stands around them. Every index
-- is by owner first, so that other people's memories cost nothing, however many there are.

-- A place for each owner and model, in dimensions of its own: sixteen signs, together as long as a vector.
-- Behind a vector, it makes any two of one owner and model nearer than most of others, so that a walk through
-- the HNSW graph stays among the memories that may be seen. Within one place the order is that of the cosine.
CREATE FUNCTION alicia_place(owner text, model text) RETURNS halfvec
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (SELECT array_agg(CASE get_bit(sha256(convert_to(owner || E'\n' || model, 'UTF8')), sign)
                             WHEN 1 THEN 0.25 ELSE -0.25 END::real ORDER BY sign)::halfvec
              FROM generate_series(0, 15) AS sign);

-- The words of a memory, each marked with its owner.
CREATE FUNCTION alicia_words(owner text, words tsvector) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (SELECT array_agg(left(md5(owner), 12) || word) FROM unnest(tsvector_to_array(words)) AS word);

-- Memories with a position belong together by what they come from.
CREATE FUNCTION alicia_source(source_type text, source_info jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN coalesce(source_type, '') || ':' || coalesce(source_info ->> 'document',
                                                        source_info ->> 'conversationId',
                                                        source_info ->> 'source', '');

CREATE FUNCTION alicia_position(source_info jsonb) RETURNS numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE jsonb_typeof(source_info -> 'position')
           WHEN 'number' THEN (source_info -> 'position')::numeric END;

-- In half precision and without the padding a vector fits into the row; `embeddings` itself stands apart, and
-- would cost further look-ups for each of the hundreds of rows that a search compares.
ALTER TABLE alicia_memory
    ADD COLUMN embeddings_search halfvec STORAGE MAIN GENERATED ALWAYS AS (
        l2_normalize(subvector(embeddings, 1, (embeddings_info ->> 'dimension')::integer))::halfvec
        || alicia_place(created_by, embeddings_info ->> 'model')
    ) STORED;

-- Sixteen dimensions more than the model's are the place.
DROP INDEX alicia_memory_nearest_384, alicia_memory_nearest_1024, alicia_memory_text;
CREATE INDEX alicia_memory_nearest_384 ON alicia_memory
    USING hnsw ((embeddings_search::halfvec(400)) halfvec_cosine_ops)
    WHERE embeddings_info ->> 'dimension' = '384';
CREATE INDEX alicia_memory_nearest_512 ON alicia_memory
    USING hnsw ((embeddings_search::halfvec(528)) halfvec_cosine_ops)
    WHERE embeddings_info ->> 'dimension' = '512';
CREATE INDEX alicia_memory_nearest_768 ON alicia_memory
    USING hnsw ((embeddings_search::halfvec(784)) halfvec_cosine_ops)
    WHERE embeddings_info ->> 'dimension' = '768';
CREATE INDEX alicia_memory_nearest_1024 ON alicia_memory
    USING hnsw ((embeddings_search::halfvec(1040)) halfvec_cosine_ops)
    WHERE embeddings_info ->> 'dimension' = '1024';

-- With a pending list, each search would read all that was written since the last vacuum.
CREATE INDEX alicia_memory_words ON alicia_memory
    USING gin (alicia_words(created_by, content_search)) WITH (fastupdate = off);
CREATE INDEX alicia_memory_around ON alicia_memory
    (created_by, alicia_source(source_type, source_info), alicia_position(source_info))
    WHERE alicia_position(source_info) IS NOT NULL;
-- Ids are random, so the first thousands of an owner's are a fair sample.
CREATE INDEX alicia_memory_live ON alicia_memory (created_by, id)
    WHERE deleted_at IS NULL AND NOT archived AND superseded_by IS NULL;
CREATE INDEX alicia_memory_pinned ON alicia_memory (created_by) WHERE pinned;
-- What the next model, or the same one after a failure, has yet to embed.
CREATE INDEX alicia_memory_unembedded ON alicia_memory ((embeddings_info ->> 'model'), created_by)
    WHERE deleted_at IS NULL;
