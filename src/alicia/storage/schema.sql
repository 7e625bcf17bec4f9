-- What the migrations add up to, for reading. A test proves it equal to them; `scripts/schema.py` writes it.

CREATE EXTENSION IF NOT EXISTS vector;

CREATE TYPE message_role AS ENUM ('user', 'assistant', 'system');

CREATE OR REPLACE FUNCTION public.alicia_place(owner text, model text)
 RETURNS halfvec
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (SELECT (array_agg((CASE get_bit(sha256(convert_to(((alicia_place.owner || '
'::text) || alicia_place.model), 'UTF8'::name)), (sign.sign)::bigint) WHEN 1 THEN 0.25 ELSE '-0.25'::numeric END)::real ORDER BY sign.sign))::halfvec AS array_agg FROM generate_series(0, 15) sign(sign));

CREATE OR REPLACE FUNCTION public.alicia_position(source_info jsonb)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE jsonb_typeof((source_info -> 'position'::text)) WHEN 'number'::text THEN ((source_info -> 'position'::text))::numeric ELSE NULL::numeric END;

CREATE OR REPLACE FUNCTION public.alicia_source(source_type text, source_info jsonb)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ((COALESCE(source_type, ''::text) || ':'::text) || COALESCE((source_info ->> 'document'::text), (source_info ->> 'conversationId'::text), (source_info ->> 'source'::text), ''::text));

CREATE OR REPLACE FUNCTION public.alicia_touch()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    NEW.updated_at := now() AT TIME ZONE 'utc';
    RETURN NEW;
END
$function$;

CREATE OR REPLACE FUNCTION public.alicia_words(owner text, words tsvector)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (SELECT array_agg(("left"(md5(alicia_words.owner), 12) || word.word)) AS array_agg FROM unnest(tsvector_to_array(alicia_words.words)) word(word));

CREATE OR REPLACE FUNCTION public.generate_random_id(prefix text)
 RETURNS text
 LANGUAGE sql
 PARALLEL SAFE
RETURN ((prefix || '_'::text) || "left"(translate(encode(((SUBSTRING(uuid_send(gen_random_uuid()) FROM 1 FOR 6) || SUBSTRING(uuid_send(gen_random_uuid()) FROM 1 FOR 6)) || SUBSTRING(uuid_send(gen_random_uuid()) FROM 1 FOR 6)), 'base64'::text), '+/'::text, '-_'::text), 21));

CREATE TABLE alicia_audio (
    id text DEFAULT generate_random_id('aa'::text) NOT NULL,
    message_id text,
    audio_type text DEFAULT 'input'::text NOT NULL,
    audio_format text,
    audio_data bytea STORAGE EXTERNAL,
    duration_ms integer,
    transcription text,
    livekit_track_sid text,
    transcription_meta jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    updated_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    deleted_at timestamp without time zone,
    CONSTRAINT alicia_audio_audio_type_check CHECK ((audio_type = ANY (ARRAY['input'::text, 'output'::text]))),
    CONSTRAINT alicia_audio_duration_ms_check CHECK ((duration_ms >= 0)),
    CONSTRAINT alicia_audio_id_check CHECK ((id ^@ 'aa_'::text)),
    CONSTRAINT alicia_audio_pkey PRIMARY KEY (id)
);

CREATE TABLE alicia_conversations (
    id text DEFAULT generate_random_id('ac'::text) NOT NULL,
    user_id text DEFAULT 'local'::text NOT NULL,
    livekit_room_name text,
    title text DEFAULT ''::text NOT NULL,
    status text DEFAULT 'active'::text NOT NULL,
    preferences jsonb DEFAULT '{}'::jsonb NOT NULL,
    last_client_stanza_id integer DEFAULT 0 NOT NULL,
    last_server_stanza_id integer DEFAULT 0 NOT NULL,
    agent_id text,
    agent_seen_at timestamp without time zone,
    created_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    updated_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    deleted_at timestamp without time zone,
    CONSTRAINT alicia_conversations_id_check CHECK ((id ^@ 'ac_'::text)),
    CONSTRAINT alicia_conversations_last_client_stanza_id_check CHECK ((last_client_stanza_id >= 0)),
    CONSTRAINT alicia_conversations_last_server_stanza_id_check CHECK ((last_server_stanza_id <= 0)),
    CONSTRAINT alicia_conversations_pkey PRIMARY KEY (id),
    CONSTRAINT alicia_conversations_status_check CHECK ((status = ANY (ARRAY['active'::text, 'archived'::text, 'deleted'::text])))
) WITH (fillfactor=70);

CREATE TABLE alicia_memory (
    id text DEFAULT generate_random_id('amem'::text) NOT NULL,
    content text NOT NULL,
    embeddings vector(1024),
    embeddings_info jsonb DEFAULT '{}'::jsonb NOT NULL,
    importance double precision DEFAULT 0.5 NOT NULL,
    confidence double precision DEFAULT 1.0 NOT NULL,
    user_rating integer,
    created_by text DEFAULT 'local'::text NOT NULL,
    source_type text,
    source_info jsonb DEFAULT '{}'::jsonb NOT NULL,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    pinned boolean DEFAULT false NOT NULL,
    archived boolean DEFAULT false NOT NULL,
    memory_type text,
    superseded_by text,
    content_search tsvector GENERATED ALWAYS AS (to_tsvector('english'::regconfig, content)) STORED,
    created_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    updated_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    deleted_at timestamp without time zone,
    embeddings_search halfvec STORAGE MAIN GENERATED ALWAYS AS (((l2_normalize(subvector(embeddings, 1, ((embeddings_info ->> 'dimension'::text))::integer)))::halfvec || alicia_place(created_by, (embeddings_info ->> 'model'::text)))) STORED,
    CONSTRAINT alicia_memory_confidence_check CHECK (((confidence >= (0)::double precision) AND (confidence <= (1)::double precision))),
    CONSTRAINT alicia_memory_id_check CHECK ((id ^@ 'amem_'::text)),
    CONSTRAINT alicia_memory_importance_check CHECK (((importance >= (0)::double precision) AND (importance <= (1)::double precision))),
    CONSTRAINT alicia_memory_pkey PRIMARY KEY (id),
    CONSTRAINT alicia_memory_superseded_by_check CHECK ((superseded_by ^@ 'amem_'::text)),
    CONSTRAINT alicia_memory_user_rating_check CHECK (((user_rating >= 1) AND (user_rating <= 5)))
);

CREATE TABLE alicia_memory_used (
    id text DEFAULT generate_random_id('amu'::text) NOT NULL,
    conversation_id text NOT NULL,
    message_id text NOT NULL,
    memory_id text NOT NULL,
    query_prompt text,
    query_prompt_meta jsonb DEFAULT '{}'::jsonb NOT NULL,
    similarity_score double precision,
    meta jsonb DEFAULT '{}'::jsonb NOT NULL,
    position_in_results integer,
    memory_type text,
    action text DEFAULT 'retrieved'::text NOT NULL,
    content text DEFAULT ''::text NOT NULL,
    confidence double precision,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    updated_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    deleted_at timestamp without time zone,
    CONSTRAINT alicia_memory_used_action_check CHECK ((action = ANY (ARRAY['retrieved'::text, 'stored'::text, 'updated'::text]))),
    CONSTRAINT alicia_memory_used_id_check CHECK ((id ^@ 'amu_'::text)),
    CONSTRAINT alicia_memory_used_pkey PRIMARY KEY (id)
);

CREATE TABLE alicia_messages (
    id text DEFAULT generate_random_id('am'::text) NOT NULL,
    conversation_id text NOT NULL,
    sequence_number integer NOT NULL,
    previous_id text,
    message_role message_role NOT NULL,
    contents text DEFAULT ''::text NOT NULL,
    local_id text,
    server_id text,
    sync_status text DEFAULT 'synced'::text NOT NULL,
    synced_at timestamp without time zone,
    completion_status text DEFAULT 'completed'::text NOT NULL,
    audio_id text,
    superseded_by text,
    created_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    updated_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    deleted_at timestamp without time zone,
    CONSTRAINT alicia_messages_completion_status_check CHECK ((completion_status = ANY (ARRAY['pending'::text, 'streaming'::text, 'completed'::text, 'failed'::text]))),
    CONSTRAINT alicia_messages_id_check CHECK ((id ^@ 'am_'::text)),
    CONSTRAINT alicia_messages_pkey PRIMARY KEY (id),
    CONSTRAINT alicia_messages_superseded_by_check CHECK ((superseded_by ^@ 'am_'::text)),
    CONSTRAINT alicia_messages_sync_status_check CHECK ((sync_status = ANY (ARRAY['pending'::text, 'synced'::text, 'conflict'::text])))
) WITH (fillfactor=85);

CREATE TABLE alicia_meta (
    id text DEFAULT generate_random_id('amt'::text) NOT NULL,
    ref text NOT NULL,
    key text NOT NULL,
    value text,
    created_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    updated_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    deleted_at timestamp without time zone,
    CONSTRAINT alicia_meta_id_check CHECK ((id ^@ 'amt_'::text)),
    CONSTRAINT alicia_meta_pkey PRIMARY KEY (id)
);

CREATE TABLE alicia_reasoning_steps (
    id text DEFAULT generate_random_id('ar'::text) NOT NULL,
    message_id text NOT NULL,
    content text DEFAULT ''::text NOT NULL,
    sequence_number integer NOT NULL,
    created_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    updated_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    deleted_at timestamp without time zone,
    CONSTRAINT alicia_reasoning_steps_id_check CHECK ((id ^@ 'ar_'::text)),
    CONSTRAINT alicia_reasoning_steps_pkey PRIMARY KEY (id)
);

CREATE TABLE alicia_sentences (
    id text DEFAULT generate_random_id('ams'::text) NOT NULL,
    message_id text NOT NULL,
    sentence_sequence_number integer NOT NULL,
    text text DEFAULT ''::text NOT NULL,
    audio_type text,
    audio_format text,
    duration_ms integer,
    audio_bytesize integer,
    audio_data bytea STORAGE EXTERNAL,
    meta jsonb DEFAULT '{}'::jsonb NOT NULL,
    completion_status text DEFAULT 'completed'::text NOT NULL,
    created_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    updated_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    deleted_at timestamp without time zone,
    CONSTRAINT alicia_sentences_audio_bytesize_check CHECK ((audio_bytesize >= 0)),
    CONSTRAINT alicia_sentences_audio_type_check CHECK ((audio_type = ANY (ARRAY['input'::text, 'output'::text]))),
    CONSTRAINT alicia_sentences_completion_status_check CHECK ((completion_status = ANY (ARRAY['pending'::text, 'streaming'::text, 'completed'::text, 'failed'::text]))),
    CONSTRAINT alicia_sentences_duration_ms_check CHECK ((duration_ms >= 0)),
    CONSTRAINT alicia_sentences_id_check CHECK ((id ^@ 'ams_'::text)),
    CONSTRAINT alicia_sentences_pkey PRIMARY KEY (id)
) WITH (fillfactor=85);

CREATE TABLE alicia_stanzas (
    conversation_id text NOT NULL,
    stanza_id integer NOT NULL,
    type smallint NOT NULL,
    ref text NOT NULL,
    client_stanza_id integer,
    envelope bytea NOT NULL,
    created_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    CONSTRAINT alicia_stanzas_client_stanza_id_check CHECK ((client_stanza_id > 0)),
    CONSTRAINT alicia_stanzas_pkey PRIMARY KEY (conversation_id, stanza_id),
    CONSTRAINT alicia_stanzas_stanza_id_check CHECK ((stanza_id < 0))
);

CREATE TABLE alicia_tool_uses (
    id text DEFAULT generate_random_id('atu'::text) NOT NULL,
    conversation_id text,
    message_id text NOT NULL,
    tool_name text NOT NULL,
    tool_arguments jsonb DEFAULT '{}'::jsonb NOT NULL,
    tool_result jsonb,
    status text DEFAULT 'pending'::text NOT NULL,
    error_message text,
    sequence_number integer DEFAULT 0 NOT NULL,
    completed_at timestamp without time zone,
    created_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    updated_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    deleted_at timestamp without time zone,
    CONSTRAINT alicia_tool_uses_id_check CHECK ((id ^@ 'atu_'::text)),
    CONSTRAINT alicia_tool_uses_pkey PRIMARY KEY (id),
    CONSTRAINT alicia_tool_uses_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'success'::text, 'error'::text, 'cancelled'::text])))
) WITH (fillfactor=85);

CREATE TABLE alicia_tools (
    id text DEFAULT generate_random_id('at'::text) NOT NULL,
    name text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    schema jsonb DEFAULT '{}'::jsonb NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    created_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    updated_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    deleted_at timestamp without time zone,
    CONSTRAINT alicia_tools_id_check CHECK ((id ^@ 'at_'::text)),
    CONSTRAINT alicia_tools_name_key UNIQUE (name),
    CONSTRAINT alicia_tools_pkey PRIMARY KEY (id)
);

CREATE TABLE alicia_user_conversation_commentaries (
    id text DEFAULT generate_random_id('aucc'::text) NOT NULL,
    content text DEFAULT ''::text NOT NULL,
    conversation_id text NOT NULL,
    message_id text,
    created_by text DEFAULT 'local'::text NOT NULL,
    meta jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    updated_at timestamp without time zone DEFAULT (now() AT TIME ZONE 'utc'::text) NOT NULL,
    deleted_at timestamp without time zone,
    CONSTRAINT alicia_user_conversation_commentaries_id_check CHECK ((id ^@ 'aucc_'::text)),
    CONSTRAINT alicia_user_conversation_commentaries_pkey PRIMARY KEY (id)
);

ALTER TABLE alicia_audio ADD CONSTRAINT alicia_audio_message_id_fkey FOREIGN KEY (message_id) REFERENCES alicia_messages(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE alicia_memory_used ADD CONSTRAINT alicia_memory_used_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES alicia_conversations(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE alicia_memory_used ADD CONSTRAINT alicia_memory_used_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES alicia_memory(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE alicia_memory_used ADD CONSTRAINT alicia_memory_used_message_id_fkey FOREIGN KEY (message_id) REFERENCES alicia_messages(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE alicia_messages ADD CONSTRAINT alicia_messages_audio_id_fkey FOREIGN KEY (audio_id) REFERENCES alicia_audio(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE alicia_messages ADD CONSTRAINT alicia_messages_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES alicia_conversations(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE alicia_messages ADD CONSTRAINT alicia_messages_previous_id_fkey FOREIGN KEY (previous_id) REFERENCES alicia_messages(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE alicia_reasoning_steps ADD CONSTRAINT alicia_reasoning_steps_message_id_fkey FOREIGN KEY (message_id) REFERENCES alicia_messages(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE alicia_sentences ADD CONSTRAINT alicia_sentences_message_id_fkey FOREIGN KEY (message_id) REFERENCES alicia_messages(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE alicia_stanzas ADD CONSTRAINT alicia_stanzas_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES alicia_conversations(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE alicia_tool_uses ADD CONSTRAINT alicia_tool_uses_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES alicia_conversations(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE alicia_tool_uses ADD CONSTRAINT alicia_tool_uses_message_id_fkey FOREIGN KEY (message_id) REFERENCES alicia_messages(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE alicia_user_conversation_commentaries ADD CONSTRAINT alicia_user_conversation_commentaries_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES alicia_conversations(id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE alicia_user_conversation_commentaries ADD CONSTRAINT alicia_user_conversation_commentaries_message_id_fkey FOREIGN KEY (message_id) REFERENCES alicia_messages(id) DEFERRABLE INITIALLY DEFERRED;

CREATE INDEX alicia_audio_message ON public.alicia_audio USING btree (message_id);
CREATE INDEX alicia_audio_track ON public.alicia_audio USING btree (livekit_track_sid) WHERE (livekit_track_sid IS NOT NULL);
CREATE INDEX alicia_conversations_agent ON public.alicia_conversations USING btree (agent_id) WHERE (agent_id IS NOT NULL);
CREATE UNIQUE INDEX alicia_conversations_livekit_room_name ON public.alicia_conversations USING btree (livekit_room_name);
CREATE INDEX alicia_conversations_user ON public.alicia_conversations USING btree (user_id, updated_at);
CREATE INDEX alicia_memory_around ON public.alicia_memory USING btree (created_by, alicia_source(source_type, source_info), alicia_position(source_info)) WHERE (alicia_position(source_info) IS NOT NULL);
CREATE INDEX alicia_memory_live ON public.alicia_memory USING btree (created_by, id) WHERE ((deleted_at IS NULL) AND (NOT archived) AND (superseded_by IS NULL));
CREATE INDEX alicia_memory_nearest_1024 ON public.alicia_memory USING hnsw (((embeddings_search)::halfvec(1040)) halfvec_cosine_ops) WHERE ((embeddings_info ->> 'dimension'::text) = '1024'::text);
CREATE INDEX alicia_memory_nearest_384 ON public.alicia_memory USING hnsw (((embeddings_search)::halfvec(400)) halfvec_cosine_ops) WHERE ((embeddings_info ->> 'dimension'::text) = '384'::text);
CREATE INDEX alicia_memory_nearest_512 ON public.alicia_memory USING hnsw (((embeddings_search)::halfvec(528)) halfvec_cosine_ops) WHERE ((embeddings_info ->> 'dimension'::text) = '512'::text);
CREATE INDEX alicia_memory_nearest_768 ON public.alicia_memory USING hnsw (((embeddings_search)::halfvec(784)) halfvec_cosine_ops) WHERE ((embeddings_info ->> 'dimension'::text) = '768'::text);
CREATE INDEX alicia_memory_owner ON public.alicia_memory USING btree (created_by, created_at);
CREATE INDEX alicia_memory_pinned ON public.alicia_memory USING btree (created_by) WHERE pinned;
CREATE INDEX alicia_memory_source ON public.alicia_memory USING gin (source_info jsonb_path_ops);
CREATE INDEX alicia_memory_tags ON public.alicia_memory USING gin (tags);
CREATE INDEX alicia_memory_unembedded ON public.alicia_memory USING btree (((embeddings_info ->> 'model'::text)), created_by) WHERE (deleted_at IS NULL);
CREATE INDEX alicia_memory_words ON public.alicia_memory USING gin (alicia_words(created_by, content_search)) WITH (fastupdate=off);
CREATE INDEX alicia_memory_used_conversation ON public.alicia_memory_used USING btree (conversation_id);
CREATE INDEX alicia_memory_used_memory ON public.alicia_memory_used USING btree (memory_id);
CREATE INDEX alicia_memory_used_message ON public.alicia_memory_used USING btree (message_id);
CREATE INDEX alicia_memory_used_recent ON public.alicia_memory_used USING btree (created_at);
CREATE UNIQUE INDEX alicia_messages_history ON public.alicia_messages USING btree (conversation_id, sequence_number);
CREATE INDEX alicia_messages_local ON public.alicia_messages USING btree (conversation_id, local_id) WHERE (local_id IS NOT NULL);
CREATE INDEX alicia_messages_previous ON public.alicia_messages USING btree (previous_id);
CREATE INDEX alicia_messages_text ON public.alicia_messages USING gin (to_tsvector('english'::regconfig, contents)) WHERE ((completion_status = 'completed'::text) AND (deleted_at IS NULL));
CREATE INDEX alicia_messages_unfinished ON public.alicia_messages USING btree (conversation_id) WHERE (completion_status = ANY (ARRAY['pending'::text, 'streaming'::text]));
CREATE INDEX alicia_meta_ref ON public.alicia_meta USING btree (ref, key);
CREATE INDEX alicia_reasoning_steps_message ON public.alicia_reasoning_steps USING btree (message_id, sequence_number);
CREATE UNIQUE INDEX alicia_sentences_order ON public.alicia_sentences USING btree (message_id, sentence_sequence_number);
CREATE INDEX alicia_stanzas_ref ON public.alicia_stanzas USING btree (conversation_id, ref);
CREATE INDEX alicia_tool_uses_conversation ON public.alicia_tool_uses USING btree (conversation_id, created_at);
CREATE INDEX alicia_tool_uses_failed ON public.alicia_tool_uses USING btree (created_at) WHERE (status = 'error'::text);
CREATE INDEX alicia_tool_uses_message ON public.alicia_tool_uses USING btree (message_id, sequence_number);
CREATE INDEX alicia_commentaries_conversation ON public.alicia_user_conversation_commentaries USING btree (conversation_id, created_at);
CREATE INDEX alicia_commentaries_message ON public.alicia_user_conversation_commentaries USING btree (message_id);

CREATE TRIGGER touch BEFORE UPDATE ON public.alicia_audio FOR EACH ROW EXECUTE FUNCTION alicia_touch();
CREATE TRIGGER touch BEFORE UPDATE OF user_id, livekit_room_name, title, status, preferences, last_client_stanza_id, last_server_stanza_id, deleted_at ON public.alicia_conversations FOR EACH ROW EXECUTE FUNCTION alicia_touch();
CREATE TRIGGER touch BEFORE UPDATE ON public.alicia_memory FOR EACH ROW EXECUTE FUNCTION alicia_touch();
CREATE TRIGGER touch BEFORE UPDATE ON public.alicia_memory_used FOR EACH ROW EXECUTE FUNCTION alicia_touch();
CREATE TRIGGER touch BEFORE UPDATE ON public.alicia_messages FOR EACH ROW EXECUTE FUNCTION alicia_touch();
CREATE TRIGGER touch BEFORE UPDATE ON public.alicia_meta FOR EACH ROW EXECUTE FUNCTION alicia_touch();
CREATE TRIGGER touch BEFORE UPDATE ON public.alicia_reasoning_steps FOR EACH ROW EXECUTE FUNCTION alicia_touch();
CREATE TRIGGER touch BEFORE UPDATE ON public.alicia_sentences FOR EACH ROW EXECUTE FUNCTION alicia_touch();
CREATE TRIGGER touch BEFORE UPDATE ON public.alicia_tool_uses FOR EACH ROW EXECUTE FUNCTION alicia_touch();
CREATE TRIGGER touch BEFORE UPDATE ON public.alicia_tools FOR EACH ROW EXECUTE FUNCTION alicia_touch();
CREATE TRIGGER touch BEFORE UPDATE ON public.alicia_user_conversation_commentaries FOR EACH ROW EXECUTE FUNCTION alicia_touch();
