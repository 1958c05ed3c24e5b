"""The transcript formats that Vitrine reads: one module an agent."""

from pathlib import PurePath

from app.transcripts.formats.base import Format
from app.transcripts.formats.claude_code import ClaudeCode
from app.transcripts.formats.codex import Codex

FORMATS: tuple[Format, ...] = (ClaudeCode(), Codex())


def detect(path: PurePath, head: bytes) -> Format | None:
    """The format of a file that begins with ``head``, or ``None`` for something else."""
    return next((known for known in FORMATS if known.detect(path, head)), None)


def by_agent(agent: str) -> Format:
    """The format that wrote a stored session. Raises ``KeyError`` for an agent unknown here."""
    for known in FORMATS:
        if known.agent == agent:
            return known
    raise KeyError(agent)
