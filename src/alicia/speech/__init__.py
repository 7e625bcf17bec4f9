"""Speech to text, turn taking, text to speech. Imported only where somebody speaks or listens."""
