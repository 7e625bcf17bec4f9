-- Statements of the kinds that seed 001 gives as examples; `query_embedding` and `'\xAUDIO'` are filled in by the test.
SELECT id, title, livekit_room_name, preferences FROM alicia_conversations
 WHERE status = 'active' AND deleted_at IS NULL AND id = 'ac_12345';
SELECT id, message_role, contents, sequence_number, created_at FROM alicia_messages
 WHERE conversation_id = 'ac_12345' AND deleted_at IS NULL ORDER BY sequence_number ASC;
SELECT sentence_sequence_number, text, duration_ms, audio_format FROM alicia_sentences
 WHERE message_id = 'am_67890' AND deleted_at IS NULL ORDER BY sentence_sequence_number ASC;
SELECT id, message_id, audio_type, duration_ms, livekit_track_sid, transcription FROM alicia_audio
 WHERE message_id = 'am_11111' AND deleted_at IS NULL;
SELECT id, content, importance, confidence, 1 - (embeddings <=> query_embedding) AS similarity FROM alicia_memory
 WHERE deleted_at IS NULL AND importance > 0.5 ORDER BY embeddings <=> query_embedding LIMIT 5;
SELECT m.content, COUNT(*) AS usage_count, AVG(mu.similarity_score) AS avg_similarity
  FROM alicia_memory_used mu JOIN alicia_memory m ON mu.memory_id = m.id
 WHERE mu.deleted_at IS NULL AND mu.created_at > NOW() - INTERVAL '30 days'
 GROUP BY m.id, m.content ORDER BY usage_count DESC LIMIT 10;
SELECT name, description, schema FROM alicia_tools WHERE enabled = true AND deleted_at IS NULL ORDER BY name;
SELECT tu.id, tu.tool_name, tu.error_message, tu.created_at, m.conversation_id
  FROM alicia_tool_uses tu JOIN alicia_messages m ON tu.message_id = m.id
 WHERE tu.status = 'error' AND tu.deleted_at IS NULL AND tu.created_at > NOW() - INTERVAL '7 days'
 ORDER BY tu.created_at DESC;
SELECT sequence_number, content, created_at FROM alicia_reasoning_steps
 WHERE message_id = 'am_54321' AND deleted_at IS NULL ORDER BY sequence_number ASC;
SELECT c.content, c.message_id, c.created_at, m.contents AS message_content
  FROM alicia_user_conversation_commentaries c LEFT JOIN alicia_messages m ON c.message_id = m.id
 WHERE c.conversation_id = 'ac_12345' AND c.deleted_at IS NULL ORDER BY c.created_at DESC;
SELECT key, value, created_at FROM alicia_meta WHERE ref = 'ac_12345' AND deleted_at IS NULL ORDER BY key;
INSERT INTO alicia_conversations (id, title, status, livekit_room_name, preferences)
VALUES ('ac_new123', 'Customer Support Chat', 'active', 'room_abc123', '{"tts_voice": "nova", "language": "en"}');
INSERT INTO alicia_audio (id, message_id, audio_type, audio_format, audio_data, duration_ms, livekit_track_sid,
                          transcription)
VALUES ('aa_audio1', 'am_msg1', 'input', 'opus', '\xAUDIO', 3500, 'TR_track123', 'Hello');
INSERT INTO alicia_messages (id, conversation_id, sequence_number, message_role, contents)
VALUES ('am_msg1', 'ac_new123', 1, 'user', 'Hello');
INSERT INTO alicia_messages (id, conversation_id, sequence_number, previous_id, message_role, contents)
VALUES ('am_msg2', 'ac_new123', 2, 'am_msg1', 'assistant', 'Certainly. What is it?');
INSERT INTO alicia_sentences (id, message_id, sentence_sequence_number, text, audio_type, audio_format, duration_ms,
                              audio_data)
VALUES ('ams_s1', 'am_msg2', 1, 'Certainly.', 'output', 'pcm', 2100, '\xAUDIO'),
       ('ams_s2', 'am_msg2', 2, 'What is it?', 'output', 'pcm', 1800, '\xAUDIO');
SELECT id, title, livekit_room_name, preferences FROM alicia_conversations
 WHERE id = 'ac_new123' AND status = 'active' AND deleted_at IS NULL;
SELECT id, message_role, contents, sequence_number FROM alicia_messages
 WHERE conversation_id = 'ac_new123' AND deleted_at IS NULL ORDER BY sequence_number DESC LIMIT 10;
SELECT tool_name, tool_result FROM alicia_tool_uses WHERE conversation_id = 'ac_new123';
