"""Every table, in modules by subject; used as `tables.NAME`."""

from app.db.tables.audit import AuditEvent, AuditKind, AuditOutcome
from app.db.tables.base import UtcDateTime, new_id, now
from app.db.tables.grants import Approval, Grant
from app.db.tables.people import (
    ApiToken,
    LoginSession,
    Role,
    Scope,
    Setting,
    SignInLink,
    User,
)
from app.db.tables.servers import Server, ServerCredential, ServerName
from app.db.tables.transcripts import (
    Branch,
    CallState,
    Chunk,
    DeletedTranscript,
    Entry,
    Session,
    SessionServer,
    SideFile,
    ToolCall,
    Transcript,
)
from app.db.tables.views import (
    Fragment,
    FragmentCopy,
    MessageKind,
    MessageState,
    Ticket,
    ToolIndexCopy,
    ViewMessage,
)

__all__ = [
    "ApiToken",
    "Approval",
    "AuditEvent",
    "AuditKind",
    "AuditOutcome",
    "Branch",
    "CallState",
    "Chunk",
    "DeletedTranscript",
    "Entry",
    "Fragment",
    "FragmentCopy",
    "Grant",
    "LoginSession",
    "MessageKind",
    "MessageState",
    "Role",
    "Scope",
    "Server",
    "ServerCredential",
    "ServerName",
    "Session",
    "SessionServer",
    "Setting",
    "SideFile",
    "SignInLink",
    "Ticket",
    "ToolCall",
    "ToolIndexCopy",
    "Transcript",
    "User",
    "UtcDateTime",
    "ViewMessage",
    "new_id",
    "now",
]
