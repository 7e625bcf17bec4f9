"""Hearing and speaking: speech-to-text, turn taking, text-to-speech."""
