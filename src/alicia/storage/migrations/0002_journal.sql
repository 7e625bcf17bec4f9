-- The journal: the exact bytes of every durable stanza, in the order in which they were committed. Agent
-- stanzas are negative, so a replay reads the primary key backwards.

CREATE TABLE alicia_stanzas (
    conversation_id  text NOT NULL,
    stanza_id        integer NOT NULL CHECK (stanza_id < 0),
    type             smallint NOT NULL,
    ref              text NOT NULL,
    client_stanza_id integer CHECK (client_stanza_id > 0),
    envelope         bytea NOT NULL,
    created_at       timestamp NOT NULL DEFAULT (now() AT TIME ZONE 'utc'),
    PRIMARY KEY (conversation_id, stanza_id)
);
