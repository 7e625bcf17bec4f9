"""Write src/alicia/storage/schema.sql from a fresh database that the migrations made."""

import asyncio
import secrets
from pathlib import Path
from tempfile import TemporaryDirectory

from psycopg import AsyncConnection

from alicia.local.postgres import Postgres
from alicia.storage.dump import dump
from alicia.storage.migrate import migrate

TARGET = Path(__file__).parent.parent / "src" / "alicia" / "storage" / "schema.sql"


async def main() -> None:
    with TemporaryDirectory() as folder:
        server = Postgres(Path(folder), password=secrets.token_hex(8), settings={"fsync": "off"})
        await server.initialise()
        await server.start()
        try:
            await server.ready()
            async with await AsyncConnection.connect(server.url("postgres"), autocommit=True) as conn:
                await conn.execute("CREATE DATABASE alicia")
            await migrate(server.url())
            TARGET.write_text(await dump(server.url()), "utf-8")
        finally:
            await server.stop()


if __name__ == "__main__":
    asyncio.run(main())
