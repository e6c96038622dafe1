"""One Postgres: embedded or given, its engine, its migrations."""
