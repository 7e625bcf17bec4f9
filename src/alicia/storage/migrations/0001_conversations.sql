-- The eleven tables of the conversation database. Every id is made here when none is given; every foreign
-- key is checked at commit, so that the rows of one transaction may arrive in any order.

CREATE EXTENSION IF NOT EXISTS vector;

-- Three UUIDs give 18 bytes that hold no version or variant bits; base64 with - and _ is NanoID's alphabet.
CREATE FUNCTION generate_random_id(prefix text) RETURNS text
    LANGUAGE sql VOLATILE PARALLEL SAFE
    RETURN prefix || '_' || left(translate(encode(
        substring(uuid_send(gen_random_uuid()) FOR 6)
        || substring(uuid_send(gen_random_uuid()) FOR 6)
        || substring(uuid_send(gen_random_uuid()) FOR 6), 'base64'), '+/', '-_'), 21);

CREATE FUNCTION alicia_touch() RETURNS trigger
    LANGUAGE plpgsql AS $$
BEGIN
    NEW.updated_at := now() AT TIME ZONE 'utc';
    RETURN NEW;
END
$$;

CREATE TYPE message_role AS ENUM ('user', 'assistant', 'system');

CREATE TABLE alicia_conversations (
    id                    text PRIMARY KEY DEFAULT generate_random_id('ac') CHECK (id ^@ 'ac_'),
    user_id               text NOT NULL DEFAULT 'local',
    livekit_room_name     text,
    title                 text NOT NULL DEFAULT '',
    status                text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived', 'deleted')),
    preferences           jsonb NOT NULL DEFAULT '{}',
    last_client_stanza_id integer NOT NULL DEFAULT 0 CHECK (last_client_stanza_id >= 0),
    last_server_stanza_id integer NOT NULL DEFAULT 0 CHECK (last_server_stanza_id <= 0),
    agent_id              text,
    agent_seen_at         timestamp,
    created_at            timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    updated_at            timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    deleted_at            timestamp
) WITH (fillfactor = 70);

CREATE TABLE alicia_messages (
    id                text PRIMARY KEY DEFAULT generate_random_id('am') CHECK (id ^@ 'am_'),
    conversation_id   text NOT NULL,
    sequence_number   integer NOT NULL,
    previous_id       text,
    message_role      message_role NOT NULL,
    contents          text NOT NULL DEFAULT '',
    local_id          text,
    server_id         text,
    sync_status       text NOT NULL DEFAULT 'synced' CHECK (sync_status IN ('pending', 'synced', 'conflict')),
    synced_at         timestamp,
    completion_status text NOT NULL DEFAULT 'completed'
                      CHECK (completion_status IN ('pending', 'streaming', 'completed', 'failed')),
    audio_id          text,
    superseded_by     text CHECK (superseded_by ^@ 'am_'),
    created_at        timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    updated_at        timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    deleted_at        timestamp
) WITH (fillfactor = 85);

CREATE TABLE alicia_sentences (
    id                       text PRIMARY KEY DEFAULT generate_random_id('ams') CHECK (id ^@ 'ams_'),
    message_id               text NOT NULL,
    sentence_sequence_number integer NOT NULL,
    text                     text NOT NULL DEFAULT '',
    audio_type               text CHECK (audio_type IN ('input', 'output')),
    audio_format             text,
    duration_ms              integer CHECK (duration_ms >= 0),
    audio_bytesize           integer CHECK (audio_bytesize >= 0),
    audio_data               bytea STORAGE EXTERNAL,
    meta                     jsonb NOT NULL DEFAULT '{}',
    completion_status        text NOT NULL DEFAULT 'completed'
                             CHECK (completion_status IN ('pending', 'streaming', 'completed', 'failed')),
    created_at               timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    updated_at               timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    deleted_at               timestamp
) WITH (fillfactor = 85);

CREATE TABLE alicia_audio (
    id                 text PRIMARY KEY DEFAULT generate_random_id('aa') CHECK (id ^@ 'aa_'),
    message_id         text,
    audio_type         text NOT NULL DEFAULT 'input' CHECK (audio_type IN ('input', 'output')),
    audio_format       text,
    audio_data         bytea STORAGE EXTERNAL,
    duration_ms        integer CHECK (duration_ms >= 0),
    transcription      text,
    livekit_track_sid  text,
    transcription_meta jsonb NOT NULL DEFAULT '{}',
    created_at         timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    updated_at         timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    deleted_at         timestamp
);

CREATE TABLE alicia_memory (
    id              text PRIMARY KEY DEFAULT generate_random_id('amem') CHECK (id ^@ 'amem_'),
    content         text NOT NULL,
    embeddings      vector(1024),
    embeddings_info jsonb NOT NULL DEFAULT '{}',
    importance      double precision NOT NULL DEFAULT 0.5 CHECK (importance BETWEEN 0 AND 1),
    confidence      double precision NOT NULL DEFAULT 1.0 CHECK (confidence BETWEEN 0 AND 1),
    user_rating     integer CHECK (user_rating BETWEEN 1 AND 5),
    created_by      text NOT NULL DEFAULT 'local',
    source_type     text,
    source_info     jsonb NOT NULL DEFAULT '{}',
    tags            text[] NOT NULL DEFAULT '{}',
    pinned          boolean NOT NULL DEFAULT false,
    archived        boolean NOT NULL DEFAULT false,
    memory_type     text,
    superseded_by   text CHECK (superseded_by ^@ 'amem_'),
    content_search  tsvector GENERATED ALWAYS AS (to_tsvector('english', content)) STORED,
    created_at      timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    updated_at      timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    deleted_at      timestamp
);

CREATE TABLE alicia_memory_used (
    id                  text PRIMARY KEY DEFAULT generate_random_id('amu') CHECK (id ^@ 'amu_'),
    conversation_id     text NOT NULL,
    message_id          text NOT NULL,
    memory_id           text NOT NULL,
    query_prompt        text,
    query_prompt_meta   jsonb NOT NULL DEFAULT '{}',
    similarity_score    double precision,
    meta                jsonb NOT NULL DEFAULT '{}',
    position_in_results integer,
    memory_type         text,
    action              text NOT NULL DEFAULT 'retrieved' CHECK (action IN ('retrieved', 'stored', 'updated')),
    content             text NOT NULL DEFAULT '',
    confidence          double precision,
    metadata            jsonb NOT NULL DEFAULT '{}',
    created_at          timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    updated_at          timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    deleted_at          timestamp
);

CREATE TABLE alicia_tools (
    id          text PRIMARY KEY DEFAULT generate_random_id('at') CHECK (id ^@ 'at_'),
    name        text NOT NULL UNIQUE,
    description text NOT NULL DEFAULT '',
    schema      jsonb NOT NULL DEFAULT '{}',
    enabled     boolean NOT NULL DEFAULT true,
    created_at  timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    updated_at  timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    deleted_at  timestamp
);

CREATE TABLE alicia_tool_uses (
    id              text PRIMARY KEY DEFAULT generate_random_id('atu') CHECK (id ^@ 'atu_'),
    conversation_id text,
    message_id      text NOT NULL,
    tool_name       text NOT NULL,
    tool_arguments  jsonb NOT NULL DEFAULT '{}',
    tool_result     jsonb,
    status          text NOT NULL DEFAULT 'pending'
                    CHECK (status IN ('pending', 'running', 'success', 'error', 'cancelled')),
    error_message   text,
    sequence_number integer NOT NULL DEFAULT 0,
    completed_at    timestamp,
    created_at      timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    updated_at      timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    deleted_at      timestamp
) WITH (fillfactor = 85);

CREATE TABLE alicia_reasoning_steps (
    id              text PRIMARY KEY DEFAULT generate_random_id('ar') CHECK (id ^@ 'ar_'),
    message_id      text NOT NULL,
    content         text NOT NULL DEFAULT '',
    sequence_number integer NOT NULL,
    created_at      timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    updated_at      timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    deleted_at      timestamp
);

CREATE TABLE alicia_user_conversation_commentaries (
    id              text PRIMARY KEY DEFAULT generate_random_id('aucc') CHECK (id ^@ 'aucc_'),
    content         text NOT NULL DEFAULT '',
    conversation_id text NOT NULL,
    message_id      text,
    created_by      text NOT NULL DEFAULT 'local',
    meta            jsonb NOT NULL DEFAULT '{}',
    created_at      timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    updated_at      timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    deleted_at      timestamp
);

-- `ref` names a row of any table, or a user as `user:NAME`; so it can have no foreign key.
CREATE TABLE alicia_meta (
    id         text PRIMARY KEY DEFAULT generate_random_id('amt') CHECK (id ^@ 'amt_'),
    ref        text NOT NULL,
    key        text NOT NULL,
    value      text,
    created_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    updated_at timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    deleted_at timestamp
);
