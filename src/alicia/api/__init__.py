"""HTTP for everything that is not live, and the web client's files."""
