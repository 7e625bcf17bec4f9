"""PostgreSQL: migrations, the connection pool and the read queries."""
