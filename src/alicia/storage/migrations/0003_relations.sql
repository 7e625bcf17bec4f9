-- Foreign keys, indexes and triggers.

ALTER TABLE alicia_messages
    ADD FOREIGN KEY (conversation_id) REFERENCES alicia_conversations DEFERRABLE INITIALLY DEFERRED,
    ADD FOREIGN KEY (previous_id) REFERENCES alicia_messages DEFERRABLE INITIALLY DEFERRED,
    ADD FOREIGN KEY (audio_id) REFERENCES alicia_audio DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE alicia_sentences
    ADD FOREIGN KEY (message_id) REFERENCES alicia_messages DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE alicia_audio
    ADD FOREIGN KEY (message_id) REFERENCES alicia_messages DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE alicia_memory_used
    ADD FOREIGN KEY (conversation_id) REFERENCES alicia_conversations DEFERRABLE INITIALLY DEFERRED,
    ADD FOREIGN KEY (message_id) REFERENCES alicia_messages DEFERRABLE INITIALLY DEFERRED,
    ADD FOREIGN KEY (memory_id) REFERENCES alicia_memory DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE alicia_tool_uses
    ADD FOREIGN KEY (conversation_id) REFERENCES alicia_conversations DEFERRABLE INITIALLY DEFERRED,
    ADD FOREIGN KEY (message_id) REFERENCES alicia_messages DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE alicia_reasoning_steps
    ADD FOREIGN KEY (message_id) REFERENCES alicia_messages DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE alicia_user_conversation_commentaries
    ADD FOREIGN KEY (conversation_id) REFERENCES alicia_conversations DEFERRABLE INITIALLY DEFERRED,
    ADD FOREIGN KEY (message_id) REFERENCES alicia_messages DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE alicia_stanzas
    ADD FOREIGN KEY (conversation_id) REFERENCES alicia_conversations DEFERRABLE INITIALLY DEFERRED;

CREATE UNIQUE INDEX alicia_conversations_livekit_room_name ON alicia_conversations (livekit_room_name);
CREATE INDEX alicia_conversations_user ON alicia_conversations (user_id, updated_at);
CREATE INDEX alicia_conversations_agent ON alicia_conversations (agent_id) WHERE agent_id IS NOT NULL;

CREATE UNIQUE INDEX alicia_messages_history ON alicia_messages (conversation_id, sequence_number);
CREATE INDEX alicia_messages_previous ON alicia_messages (previous_id);
CREATE INDEX alicia_messages_local ON alicia_messages (conversation_id, local_id) WHERE local_id IS NOT NULL;
CREATE INDEX alicia_messages_unfinished ON alicia_messages (conversation_id)
    WHERE completion_status IN ('pending', 'streaming');

CREATE UNIQUE INDEX alicia_sentences_order ON alicia_sentences (message_id, sentence_sequence_number);

CREATE INDEX alicia_audio_message ON alicia_audio (message_id);
CREATE INDEX alicia_audio_track ON alicia_audio (livekit_track_sid) WHERE livekit_track_sid IS NOT NULL;

-- Only the dimensions that a model fills are indexed, not the zeros behind them: 384 for the embedded model,
-- 1024 for models that fill the column. A query must repeat the predicate.
CREATE INDEX alicia_memory_nearest_384 ON alicia_memory
    USING hnsw ((subvector(embeddings, 1, 384)::halfvec(384)) halfvec_cosine_ops)
    WHERE embeddings_info ->> 'dimension' = '384';
CREATE INDEX alicia_memory_nearest_1024 ON alicia_memory
    USING hnsw ((embeddings::halfvec(1024)) halfvec_cosine_ops)
    WHERE embeddings_info ->> 'dimension' = '1024';
CREATE INDEX alicia_memory_owner ON alicia_memory (created_by, created_at);
CREATE INDEX alicia_memory_tags ON alicia_memory USING gin (tags);
CREATE INDEX alicia_memory_text ON alicia_memory USING gin (content_search);
CREATE INDEX alicia_memory_source ON alicia_memory USING gin (source_info jsonb_path_ops);

CREATE INDEX alicia_memory_used_message ON alicia_memory_used (message_id);
CREATE INDEX alicia_memory_used_memory ON alicia_memory_used (memory_id);
CREATE INDEX alicia_memory_used_conversation ON alicia_memory_used (conversation_id);
CREATE INDEX alicia_memory_used_recent ON alicia_memory_used (created_at);

CREATE INDEX alicia_tool_uses_message ON alicia_tool_uses (message_id, sequence_number);
CREATE INDEX alicia_tool_uses_conversation ON alicia_tool_uses (conversation_id, created_at);
CREATE INDEX alicia_tool_uses_failed ON alicia_tool_uses (created_at) WHERE status = 'error';

CREATE INDEX alicia_reasoning_steps_message ON alicia_reasoning_steps (message_id, sequence_number);

CREATE INDEX alicia_commentaries_conversation
    ON alicia_user_conversation_commentaries (conversation_id, created_at);
CREATE INDEX alicia_commentaries_message ON alicia_user_conversation_commentaries (message_id);

CREATE INDEX alicia_meta_ref ON alicia_meta (ref, key);

CREATE INDEX alicia_stanzas_ref ON alicia_stanzas (conversation_id, ref);

-- A heartbeat of the owning agent is no activity, so its two columns are not in the list.
CREATE TRIGGER touch BEFORE UPDATE OF user_id, livekit_room_name, title, status, preferences,
    last_client_stanza_id, last_server_stanza_id, deleted_at ON alicia_conversations
    FOR EACH ROW EXECUTE FUNCTION alicia_touch();
CREATE TRIGGER touch BEFORE UPDATE ON alicia_messages FOR EACH ROW EXECUTE FUNCTION alicia_touch();
CREATE TRIGGER touch BEFORE UPDATE ON alicia_sentences FOR EACH ROW EXECUTE FUNCTION alicia_touch();
CREATE TRIGGER touch BEFORE UPDATE ON alicia_audio FOR EACH ROW EXECUTE FUNCTION alicia_touch();
CREATE TRIGGER touch BEFORE UPDATE ON alicia_memory FOR EACH ROW EXECUTE FUNCTION alicia_touch();
CREATE TRIGGER touch BEFORE UPDATE ON alicia_memory_used FOR EACH ROW EXECUTE FUNCTION alicia_touch();
CREATE TRIGGER touch BEFORE UPDATE ON alicia_tools FOR EACH ROW EXECUTE FUNCTION alicia_touch();
CREATE TRIGGER touch BEFORE UPDATE ON alicia_tool_uses FOR EACH ROW EXECUTE FUNCTION alicia_touch();
CREATE TRIGGER touch BEFORE UPDATE ON alicia_reasoning_steps FOR EACH ROW EXECUTE FUNCTION alicia_touch();
CREATE TRIGGER touch BEFORE UPDATE ON alicia_user_conversation_commentaries
    FOR EACH ROW EXECUTE FUNCTION alicia_touch();
CREATE TRIGGER touch BEFORE UPDATE ON alicia_meta FOR EACH ROW EXECUTE FUNCTION alicia_touch();
