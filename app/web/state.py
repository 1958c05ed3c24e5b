"""What the application holds for its whole life, as ``create_app`` put it on ``app.state``."""

from starlette.requests import HTTPConnection

from app.db.engine import Database
from app.mcp.hub import Hub
from app.mcp_apps.fragment import Fragments
from app.settings import Settings
from app.web.audit.log import AuditLog
from app.web.live.long_calls import LongCalls
from app.web.live.news import News
from app.web.live.streams import Streams


def settings_of(connection: HTTPConnection) -> Settings:
    settings: Settings = connection.app.state.settings
    return settings


def database_of(connection: HTTPConnection) -> Database:
    database: Database = connection.app.state.database
    return database


def audit_log_of(connection: HTTPConnection) -> AuditLog:
    log: AuditLog = connection.app.state.audit_log
    return log


def hub_of(connection: HTTPConnection) -> Hub:
    hub: Hub = connection.app.state.hub
    return hub


def fragments_of(connection: HTTPConnection) -> Fragments:
    fragments: Fragments = connection.app.state.fragments
    return fragments


def streams_of(connection: HTTPConnection) -> Streams:
    streams: Streams = connection.app.state.streams
    return streams


def long_calls_of(connection: HTTPConnection) -> LongCalls:
    calls: LongCalls = connection.app.state.long_calls
    return calls


def news_of(connection: HTTPConnection) -> News:
    news: News = connection.app.state.news
    return news
