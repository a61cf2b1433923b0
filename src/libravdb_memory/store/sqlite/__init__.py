"""The embedded store: SQLite, FTS5, exact vectors and derived HNSW files."""
