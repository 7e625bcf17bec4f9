"""`alicia migrate`: the database's schema."""


def migrate() -> None:
    """Bring the database to this version's schema. ALICIA_DATABASE_URL names it."""
    import asyncio

    from alicia.config import Config
    from alicia.storage.migrate import migrate as run

    applied = asyncio.run(run(Config.from_environ().need_database_url()))
    for name in applied:
        print(name)
    print(f"{len(applied)} migrations applied." if applied else "The database is up to date.")
