"""What tables are made of. Times are UTC and timezone-aware."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import Column, DateTime, Dialect, ForeignKey, TypeDecorator


def now() -> datetime:
    return datetime.now(UTC)


def new_id() -> str:
    """A public, unguessable id: 32 hexadecimal digits."""
    return uuid4().hex


class UtcDateTime(TypeDecorator[datetime]):
    """SQLite forgets the zone of a time; this gives it back, so that both databases agree."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is not None and value.tzinfo is None:
            raise ValueError("a time without a zone cannot be stored")
        return value.astimezone(UTC) if value else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is not None and value.tzinfo is None:
            return value.replace(tzinfo=UTC)
        return value


def utc_time(*, nullable: bool = False, index: bool = False) -> Any:
    """A column of a time."""
    return Column(UtcDateTime(), nullable=nullable, index=index)


def owned_by(target: str, *, index: bool = True) -> Any:
    """A foreign key whose rows go when their owner goes."""
    return Column(ForeignKey(target, ondelete="CASCADE"), nullable=False, index=index)
