"""Timestamps: the columns have no zone and hold UTC, Python's values say so."""

from datetime import UTC, datetime

from psycopg.abc import Buffer
from psycopg.types.datetime import TimestampBinaryLoader, TimestampLoader


class UtcLoader(TimestampLoader):
    """Reads the text form of a `timestamp` as a moment in UTC."""

    def load(self, data: Buffer) -> datetime:
        return super().load(data).replace(tzinfo=UTC)


class UtcBinaryLoader(TimestampBinaryLoader):
    """Reads the binary form of a `timestamp` as a moment in UTC."""

    def load(self, data: Buffer) -> datetime:
        return super().load(data).replace(tzinfo=UTC)
