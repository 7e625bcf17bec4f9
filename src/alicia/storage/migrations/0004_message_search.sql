-- Words of messages. Only completed ones are indexed, so that an answer costs one entry, not one a sentence.

CREATE INDEX alicia_messages_text ON alicia_messages USING gin (to_tsvector('english', contents))
    WHERE completion_status = 'completed' AND deleted_at IS NULL;
