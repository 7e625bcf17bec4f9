"""`alicia chat` in its two forms: a talk in a terminal, and lines through a pipe."""
