"""The schema of a database as SQL that would make it again, read from the catalog in a fixed order."""

from typing import Final, LiteralString

from psycopg import AsyncConnection
from psycopg.rows import TupleRow

HEADER: Final = """\
-- What the migrations add up to, for reading. A test proves it equal to them; `scripts/schema.py` writes it.

CREATE EXTENSION IF NOT EXISTS vector;
"""

_TYPES: Final = """
    SELECT format(E'CREATE TYPE %I AS ENUM (%s);', t.typname,
                  string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder))
      FROM pg_type t
      JOIN pg_enum e ON e.enumtypid = t.oid
     WHERE t.typnamespace = 'public'::regnamespace
     GROUP BY t.typname
     ORDER BY t.typname
"""

_FUNCTIONS: Final = """
    SELECT rtrim(pg_get_functiondef(p.oid), E'\n') || ';'
      FROM pg_proc p
     WHERE p.pronamespace = 'public'::regnamespace
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
     ORDER BY p.proname
"""

_TABLES: Final = """
    SELECT format(E'CREATE TABLE %I (\n%s\n)%s;', c.relname,
                  (SELECT string_agg('    ' || line, E',\n' ORDER BY place, line) FROM (
                      SELECT a.attnum AS place,
                             format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod))
                             || CASE WHEN a.attstorage = y.typstorage THEN ''
                                     WHEN a.attstorage = 'e' THEN ' STORAGE EXTERNAL'
                                     WHEN a.attstorage = 'm' THEN ' STORAGE MAIN' ELSE '' END
                             || CASE WHEN a.attgenerated = 's'
                                     THEN format(' GENERATED ALWAYS AS (%s) STORED',
                                                 pg_get_expr(d.adbin, d.adrelid))
                                     WHEN d.adbin IS NOT NULL
                                     THEN ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) ELSE '' END
                             || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END AS line
                        FROM pg_attribute a
                        JOIN pg_type y ON y.oid = a.atttypid
                        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
                       WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                       UNION ALL
                      SELECT 1000, format('CONSTRAINT %I %s', k.conname, pg_get_constraintdef(k.oid))
                        FROM pg_constraint k
                       WHERE k.conrelid = c.oid AND k.contype IN ('c', 'p', 'u')) lines),
                  CASE WHEN c.reloptions IS NULL THEN ''
                       ELSE format(' WITH (%s)', array_to_string(c.reloptions, ', ')) END)
      FROM pg_class c
     WHERE c.relnamespace = 'public'::regnamespace
       AND c.relkind = 'r'
       AND c.relname LIKE 'alicia%'
       AND c.relname <> 'alicia_migrations'
     ORDER BY c.relname
"""

_FOREIGN_KEYS: Final = """
    SELECT format('ALTER TABLE %I ADD CONSTRAINT %I %s;', c.relname, k.conname, pg_get_constraintdef(k.oid))
      FROM pg_constraint k
      JOIN pg_class c ON c.oid = k.conrelid
     WHERE k.connamespace = 'public'::regnamespace
       AND k.contype = 'f'
     ORDER BY c.relname, k.conname
"""

_INDEXES: Final = """
    SELECT pg_get_indexdef(i.indexrelid) || ';'
      FROM pg_index i
      JOIN pg_class c ON c.oid = i.indrelid
      JOIN pg_class x ON x.oid = i.indexrelid
     WHERE c.relnamespace = 'public'::regnamespace
       AND c.relname LIKE 'alicia%'
       AND NOT EXISTS (SELECT
                         FROM pg_constraint k
                        WHERE k.conindid = i.indexrelid
                          AND k.contype IN ('p', 'u'))
     ORDER BY c.relname, x.relname
"""

_TRIGGERS: Final = """
    SELECT pg_get_triggerdef(t.oid) || ';'
      FROM pg_trigger t
      JOIN pg_class c ON c.oid = t.tgrelid
     WHERE c.relnamespace = 'public'::regnamespace
       AND NOT t.tgisinternal
     ORDER BY c.relname, t.tgname
"""

_PARTS: Final[tuple[LiteralString, ...]] = (_TYPES, _FUNCTIONS, _TABLES, _FOREIGN_KEYS, _INDEXES, _TRIGGERS)


async def dump(url: str) -> str:
    """The schema in the database's `public`, without the runner's own table."""
    async with await AsyncConnection.connect(url) as conn:
        return "\n".join([HEADER, *[await _part(conn, sql) for sql in _PARTS]])


async def _part(conn: AsyncConnection[TupleRow], sql: LiteralString) -> str:
    rows = await (await conn.execute(sql)).fetchall()
    statements = [str(row[0]) for row in rows]
    between = "\n\n" if any("\n" in statement for statement in statements) else "\n"
    return f"{between.join(statements)}\n"
